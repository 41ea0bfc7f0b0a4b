"""Labels that go with their points through a video: beside them, clear of each other, without a jump.

A label keeps its offset from frame to frame and gives way a little at a time: to other labels, to points and
to the edge of the panel; what holds it is a spring to a place beside its point. All in pixels.
"""

import numpy as np
from jaxtyping import Float

SPRING = 0.08  # of the way back to its own place, in a step
STEPS, FIRST_STEPS = 12, 200  # of giving way: in a frame, and before the first
GAP = 1.06  # diameters from one label to the next
SMOOTH = 2.5  # frames over which the own place of a label turns

Points = Float[np.ndarray, "frame label 2"]


def label_tracks(
    points: Points, away: Points, radius: float, low: Float[np.ndarray, "2"], high: Float[np.ndarray, "2"]
) -> Points:
    """Centres of round labels, each beside its point in the direction `away`, between two corners."""
    own = points + 1.9 * radius * smoothed(away)
    labels = np.empty_like(points)
    labels[0] = give_way(own[0], points[0], own[0], radius, low, high, FIRST_STEPS)
    for frame in range(1, len(points)):
        carried = labels[frame - 1] + points[frame] - points[frame - 1]
        labels[frame] = give_way(carried, points[frame], own[frame], radius, low, high, STEPS)
    return labels


def smoothed(away: Points) -> Points:
    """Directions of length 1 that turn slowly."""
    kept = np.exp(-1 / SMOOTH)
    found, turned = np.empty_like(away), away[0]
    for frame, wanted in enumerate(away):
        turned = kept * turned + (1 - kept) * wanted
        found[frame] = turned
    length = np.linalg.norm(found, axis=-1, keepdims=True)
    return np.where(length > 1e-9, found / np.maximum(length, 1e-9), [0.0, 1.0])


def give_way(
    labels: Float[np.ndarray, "label 2"],
    points: Float[np.ndarray, "label 2"],
    own: Float[np.ndarray, "label 2"],
    radius: float,
    low: Float[np.ndarray, "2"],
    high: Float[np.ndarray, "2"],
    steps: int,
) -> Float[np.ndarray, "label 2"]:
    """Some steps of giving way, the second half of them to each other alone; on one spot, each its way."""
    angles = np.arange(len(labels)) * 2.399963  # the golden angle: no two alike
    nudge = 1e-3 * np.stack([np.cos(angles), np.sin(angles)], 1)
    labels = labels + nudge
    for step in range(steps):
        if step < steps // 2:
            labels = labels + SPRING * (own - labels)
            labels = labels + push(labels, points, 1.35 * radius)
        labels = labels + 0.5 * push(labels, labels, GAP * 2 * radius)
        labels = np.clip(labels, low + radius, high - radius)
    return labels


def push(
    labels: Float[np.ndarray, "label 2"], others: Float[np.ndarray, "other 2"], distance: float
) -> Float[np.ndarray, "label 2"]:
    """How far each label must go to be `distance` from the others."""
    apart = labels[:, None] - others[None]
    length = np.hypot(apart[..., 0], apart[..., 1])
    short = np.maximum(distance - length, 0.0) * (length > 0)
    return np.asarray(np.einsum("ij,ijd->id", short / np.maximum(length, 1e-9), apart))
