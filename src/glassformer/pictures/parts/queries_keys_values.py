"""One head's queries, keys and values for every token at every position, and the planes that show them.

Queries and keys of a head share one plane, so that q . k is what is seen; values have a plane of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.pictures.measure.plane import Plane, fit_plane
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.labels import Taken, place_labels
from glassformer.pictures.parts.marks import draw_token_cloud, make_readable_colour

NAMES = {"q": "queries", "k": "keys", "v": "values"}


@dataclass(frozen=True, eq=False)
class HeadSide:
    """Queries, keys or values of one head: the vectors, and where they are drawn."""

    kind: str  # q, k or v
    vectors: Float[np.ndarray, "tok pos dim"]
    plane: Plane
    points: Float[np.ndarray, "tok pos 2"]


def make_head_sides(subject: Subject, head: int) -> dict[str, HeadSide]:
    """The three sides of a head, by kind."""
    shared = subject.qk_plane(head)
    values = _compute_head_values(subject, head)
    return {
        "q": make_head_side("q", subject.queries(head), shared),
        "k": make_head_side("k", subject.keys(head), shared),
        "v": make_head_side("v", values, fit_plane(values, "v")),
    }


def make_head_side(kind: str, vectors: Float[np.ndarray, "tok pos dim"], plane: Plane) -> HeadSide:
    places = np.arange(vectors.shape[1], dtype=np.float64)
    return HeadSide(kind, np.asarray(vectors, np.float64), plane, plane(vectors, places))


def _compute_head_values(subject: Subject, head: int) -> Float[np.ndarray, "tok pos dim"]:
    """What a head mixes, before any output projection."""
    size, group = subject.attention.values, subject.attention.group(head)
    return subject.pairs[f"{subject.layer}attn.v"][..., group * size : (group + 1) * size]


def make_seen_mask(places: int) -> Bool[np.ndarray, "query key"]:
    """Which positions each position may look at: itself and those before it."""
    return np.tri(places, dtype=bool)


def measure_kept_share(subject: Subject, head: int, directions: Float[np.ndarray, "some dim"]) -> float:
    """Share of the variance of the scores (R squared) that products along some directions account for."""
    queries, keys = (
        np.asarray(part, np.float64) @ directions.T for part in (subject.queries(head), subject.keys(head))
    )
    drawn = np.einsum("tpd,uqd->tpuq", queries, keys) * subject.attention.score_scale
    seen = np.broadcast_to(make_seen_mask(subject.context)[None, :, None], drawn.shape)
    return compute_r_squared(subject.scores(head)[seen], drawn[seen])


def compute_r_squared(true: Float[np.ndarray, "*point"], guess: Float[np.ndarray, "*point"]) -> float:
    """1 where the guess is right everywhere, 0 where it is no better than the mean."""
    whole = float(((true - true.mean()) ** 2).sum())
    return 1 - float(((true - guess) ** 2).sum()) / max(whole, 1e-300)


def measure_variance_shares(vectors: Float[np.ndarray, "tok pos dim"]) -> tuple[float, float]:
    """How much of the variance is the token's alone, and how much the position's; the rest is of both."""
    centred = vectors - vectors.mean((0, 1))
    whole = max(float((centred**2).mean((0, 1)).sum()), 1e-300)
    token, place = centred.mean(1), centred.mean(0)
    return float((token**2).mean(0).sum()) / whole, float((place**2).mean(0).sum()) / whole


def describe_side_planes(
    subject: Subject, found: list[dict[str, HeadSide]], stream: bool = False, kinds: str = "qkv"
) -> str:
    """What a reader must know of the planes; empty where vectors are drawn as they are."""
    named = {"stream": subject.stream_plane} if stream else {}
    for head, three in enumerate(found):
        after = f" of head {head}" if len(found) > 1 else ""
        shown = {name: three[name[0]].plane for name in ("q and k", "v") if name[0] in kinds}
        named |= {f"{name}{after}": plane for name, plane in shown.items()}
    notes = {plane.note for plane in named.values() if plane.note}
    grouped = [(", ".join(n for n, plane in named.items() if plane.note == note), note) for note in notes]
    written = [f"{names}: {note}" for names, note in sorted(grouped)]
    return "; ".join(written + describe_folding(subject) + describe_score_terms(subject))


def describe_score_terms(subject: Subject) -> list[str]:
    """Where a score is more than a product, and where attention does not add up to 1."""
    attention, found = subject.attention, []
    if attention.relation.score_term:
        found.append(f"{attention.relation.score_term}, which is not in q · k")
    if attention.softmax == "softmax1":
        found.append("softmax1: the weights of a position add up to less than 100%")
    return found


def describe_folding(subject: Subject) -> list[str]:
    """Why queries and keys have the stream's dimensions, where a head has more of its own."""
    size, width = subject.attention.head_size, subject.model.architecture.width
    if not subject.attention.folds_scores(width):
        return []
    return [
        f"a head has {size} dimensions, what it reads {width}: "
        "queries are drawn as WkᵀWq e and keys as e, which have the same products"
    ]


def format_head_title(head: int, heads: int, text: str) -> str:
    """The head is named where there are several."""
    return f"head {head}: {text}" if heads > 1 else text


def make_marker_entry(marker: str, text: str, theme: Theme) -> Line2D:
    """An entry of a legend that tells markers apart."""
    return Line2D([], [], linestyle="none", marker=marker, markersize=4, color=theme.muted, label=text)


def choose_round_step(length: float, parts: int) -> float:
    """A step of 1, 2 or 5 times a power of ten, that goes about `parts` times into a length."""
    rough = max(length, 1e-9) / parts
    power = 10.0 ** np.floor(np.log10(rough))
    return float(power * min((1, 2, 5, 10), key=lambda factor: abs(np.log(factor * power / rough))))


def choose_label_spots(points: Float[np.ndarray, "tok pos 2"]) -> Float[np.ndarray, "tok 2"]:
    """A point of each token's path to write its name at: far from other tokens and from other names."""
    scale = np.maximum(np.ptp(points.reshape(-1, 2), axis=0), 1e-9)
    paths = points / scale
    chosen: list[int] = []
    for token, path in enumerate(paths):
        others = np.delete(paths, token, 0).reshape(-1, 2)
        room = np.linalg.norm(path[:, None] - others, axis=-1).min(1)
        if chosen:
            names = np.linalg.norm(path[:, None] - paths[range(token), chosen], axis=-1).min(1)
            room = room + np.minimum(names, 0.25)
        chosen.append(int(room.argmax()))
    return np.asarray(points[range(len(points)), chosen])


def draw_named_cloud(
    axes: Axes, points: Float[np.ndarray, "tok pos 2"], tokens: Sequence[str], theme: Theme,
    marker: str = "o", size: float = 4.0, before: str = "", taken: Taken | None = None,
    others: Float[np.ndarray, "*point 2"] | None = None,
) -> None:  # fmt: skip
    """All pairs, joined along the positions, each token named where its path has room."""
    draw_token_cloud(axes, points, tokens, theme, label=False, marker=marker, size=size)
    inks = [make_readable_colour(pick_token_colour(token), theme) for token in tokens]
    texts = [before + token for token in tokens]
    around = points if others is None else np.concatenate([points, others])
    place_labels(axes, choose_label_spots(points), texts, theme, inks, around.reshape(-1, 2), taken=taken)
