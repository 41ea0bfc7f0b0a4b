"""The saved steps that a video shows, each a subject of its own, and what all videos say of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.core.words import format_percent
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.needs import require_saved_steps
from glassformer.pictures.picture import Data, unpack_part

_PLACES_SHARE = 0.7  # of a token's row in which its positions are spread


@dataclass(frozen=True, eq=False)
class VideoScores:
    """The shown steps, and the held-out scores of the chosen seed at all that were evaluated."""

    steps: Int[np.ndarray, " frame"]
    score_steps: Float[np.ndarray, " score"]
    loss: Float[np.ndarray, " score"]  # nats
    error: Float[np.ndarray, " score"]  # a share
    error_name: str


def choose_checkpoints(subject: Subject, every: int = 1) -> list[int]:
    """Every how many-th saved step, always with the first and the last.

    >>> from types import SimpleNamespace as made
    >>> choose_checkpoints(made(past=made(history=made(steps=range(6)))), every=3)
    [0, 3, 5]
    """
    last = len(require_saved_steps(subject).steps) - 1
    return sorted({*range(0, last + 1, int(every)), last})


def iterate_checkpoints(subject: Subject, shown: Sequence[int]) -> Iterator[Subject]:
    """The subject with the weights of each shown step; nothing is kept of those that went by."""
    for index in shown:
        yield make_checkpoint_subject(subject, index)


def make_checkpoint_subject(subject: Subject, index: int) -> Subject:
    history = require_saved_steps(subject)
    model = replace(subject.model, params=history.at(index))
    return replace(subject, model=model, step=int(history.steps[index]))


def collect_video_data(subject: Subject, shown: Sequence[int]) -> Data:
    """What every video needs: the steps, the held-out scores of the chosen seed, the tokens."""
    rows = [row for row in subject.past.rows if row["seed"] == subject.past.best_seed]
    accuracy = subject.task.best_by[0]
    scores = VideoScores(
        steps=np.asarray(require_saved_steps(subject).steps)[list(shown)],
        score_steps=np.array([row["step"] for row in rows], np.float64),
        loss=np.array([row["loss"] for row in rows], np.float64),
        error=np.array([1 - row[accuracy] for row in rows], np.float64),
        error_name=subject.task.words.error,
    )
    return {"name": subject.name, "tokens": subject.tokens, **unpack_part(scores)}


def choose_video_sequence(subject: Subject) -> np.ndarray:
    """The sequence that a video follows."""
    if not subject.sequences:
        raise UserError(f"{subject.name} has no sequence to follow; --sequence gives one")
    return subject.sequences[0]


def spread_token_rows(tokens: int, places: int) -> Float[np.ndarray, "tok pos"]:
    """Along y for a single dimension: one row per token, with its positions spread inside it."""
    inside = _PLACES_SHARE * ((np.arange(places) + 0.5) / places - 0.5)
    return np.arange(tokens, dtype=np.float64)[:, None] + inside


def describe_video_planes(planes: dict[str, Plane]) -> list[str]:
    """What a reader must know of the planes that a video shows, by the name of what is in them."""
    told = {name: plane for name, plane in planes.items() if plane.note}
    if not told:
        return []
    first = next(iter(told.values()))
    if first.is_line or len(told) == 1:
        return [
            _punctuate_note(first.note),
            *([] if first.is_line else ["It is the plane of the last step."]),
        ]
    shares = ", ".join(f"{name} {format_percent(plane.share, 0)}" for name, plane in told.items())
    return [f"Projected on the main two directions of the last step, which hold of the square sum: {shares}."]


def _punctuate_note(note: str) -> str:
    """A note that begins with a capital and ends with a full stop, or nothing.

    >>> _punctuate_note("one dimension, along x"), _punctuate_note("")
    ('One dimension, along x.', '')
    """
    return f"{note[0].upper()}{note[1:].rstrip('.')}." if note else ""
