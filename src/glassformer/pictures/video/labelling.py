"""Labels that go with their points through a video: beside them, clear of each other, without a jump.

A label keeps its offset from frame to frame and gives way a little at a time: to other labels, to points and
to the edge of the panel; what holds it is a spring to a place beside its point. All in pixels.
"""

import numpy as np
from jaxtyping import Float

_SPRING = 0.08  # of the way back to its own place, in a step
_STEPS, _FIRST_STEPS = 12, 200  # of giving way: in a frame, and before the first
_GAP = 1.06  # diameters from one label to the next
_SMOOTH = 2.5  # frames over which the own place of a label turns

_Points = Float[np.ndarray, "frame label 2"]


def compute_label_tracks(
    points: _Points, away: _Points, radius: float, low: Float[np.ndarray, "2"], high: Float[np.ndarray, "2"]
) -> _Points:
    """Centres of round labels, each beside its point in the direction `away`, between two corners."""
    own = points + 1.9 * radius * _smooth_directions(away)
    labels = np.empty_like(points)
    labels[0] = _separate_labels(own[0], points[0], own[0], radius, low, high, _FIRST_STEPS)
    for frame in range(1, len(points)):
        carried = labels[frame - 1] + points[frame] - points[frame - 1]
        labels[frame] = _separate_labels(carried, points[frame], own[frame], radius, low, high, _STEPS)
    return labels


def _smooth_directions(away: _Points) -> _Points:
    """Directions of length 1 that turn slowly."""
    kept = np.exp(-1 / _SMOOTH)
    found, turned = np.empty_like(away), away[0]
    for frame, wanted in enumerate(away):
        turned = kept * turned + (1 - kept) * wanted
        found[frame] = turned
    length = np.linalg.norm(found, axis=-1, keepdims=True)
    return np.where(length > 1e-9, found / np.maximum(length, 1e-9), [0.0, 1.0])


def _separate_labels(
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
            labels = labels + _SPRING * (own - labels)
            labels = labels + _measure_push(labels, points, 1.35 * radius)
        labels = labels + 0.5 * _measure_push(labels, labels, _GAP * 2 * radius)
        labels = np.clip(labels, low + radius, high - radius)
    return labels


def _measure_push(
    labels: Float[np.ndarray, "label 2"], others: Float[np.ndarray, "other 2"], distance: float
) -> Float[np.ndarray, "label 2"]:
    """How far each label must go to be `distance` from the others."""
    apart = labels[:, None] - others[None]
    length = np.hypot(apart[..., 0], apart[..., 1])
    short = np.maximum(distance - length, 0.0) * (length > 0)
    return np.asarray(np.einsum("ij,ijd->id", short / np.maximum(length, 1e-9), apart))
