"""Thousands of random sums through the model, with their right answers as context: what panels measure on.

Only the positions that write a digit are kept: axes are `sum step ...`, steps in the order of writing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.models.forward import format_layer_prefix
from glassformer.models.margins import measure_token_margins

if TYPE_CHECKING:
    from glassformer.pictures.poster.sums import Sums

_SUMS = 3_000
_BLOCK = 500  # sums at a time
ROLES = ("x k", "y k", "x k-1", "y k-1", "own position", "other digits", "signs", "nothing")


@dataclass(frozen=True)
class _NormSite:
    """A point of the pass where vectors are normed, or would be."""

    name: str  # in words
    parameter: str  # before `.gain`
    before: str  # names of the trace
    after: str
    layer: int  # the number of layers for the final norm
    kind: str  # attention, feedforward, final


@dataclass(frozen=True, eq=False)
class SumSample:
    """Uniform pairs; `kept` are intermediates at the positions that write."""

    x: Int[np.ndarray, "sum column"]  # a 0 in the last column
    y: Int[np.ndarray, "sum column"]
    z: Int[np.ndarray, "sum column"]  # the right answer
    columns: tuple[int, ...]  # of the steps
    context: Int[np.ndarray, "sum step"]  # the token that stands at the position that writes
    kept: dict[str, np.ndarray]
    scores: dict[str, Float[np.ndarray, "step pos"]]  # mean over the sums; nan where masked
    base: int

    @cached_property
    def asked(self) -> Int[np.ndarray, "sum step"]:
        """The digit that is right."""
        return self.z[:, list(self.columns)]

    @cached_property
    def written(self) -> Int[np.ndarray, "sum step"]:
        """The digit with the largest logit."""
        return np.asarray(self.kept["logits"].argmax(-1))

    @cached_property
    def margins(self) -> Float[np.ndarray, "sum step"]:
        """The right digit's logit minus the best other one; below 0 where the model is wrong."""
        return compute_signed_margins(self.kept["logits"], self.asked)

    @cached_property
    def carry(self) -> Int[np.ndarray, "sum column"]:
        """Into every column."""
        return compute_carries(self.x, self.y, self.z, self.base)

    @property
    def is_right(self) -> Bool[np.ndarray, " sum"]:
        return np.asarray((self.margins > 0).all(1))


def compute_signed_margins(
    logits: Float[np.ndarray, "*position tok"], right: Int[np.ndarray, "*position"]
) -> Float[np.ndarray, "*position"]:
    """The right digit's logit minus the best other one; below 0 where the model is wrong.

    >>> compute_signed_margins(np.array([[3.0, 5.0, 1.0], [3.0, 5.0, 1.0]]), np.array([1, 0])).tolist()
    [2.0, -2.0]
    """
    return measure_token_margins(np.moveaxis(logits, -1, 0), right)


def compute_carries(
    x: Int[np.ndarray, "*sum column"],
    y: Int[np.ndarray, "*sum column"],
    z: Int[np.ndarray, "*sum column"],
    base: int,
) -> Int[np.ndarray, "*sum column"]:
    """The carry into every column, units first: what the right digit has beyond its own two.

    >>> x, y, z = np.array([[7, 5, 0], [8, 6, 0], [5, 2, 1]])  # 57 + 68 = 125
    >>> compute_carries(x, y, z, base=10).tolist()
    [0, 1, 1]
    """
    return np.asarray((z - x - y) % base)


def list_norm_sites(sums: "Sums") -> tuple[_NormSite, ...]:
    """Before attention and feed-forward of every layer, and at the end; with or without a norm there."""
    shape, found, stream = sums.architecture, list[_NormSite](), "embedded"
    for index, layer in enumerate(shape.layers):
        name = format_layer_prefix(shape, index)
        which = f" {index}" if len(shape.layers) > 1 else ""
        if layer.attention:
            found.append(
                _NormSite(
                    f"attention{which}", f"{name}attn_norm", stream, f"{name}attn.input", index, "attention"
                )
            )
            stream = f"{name}mid"
        if layer.feedforward:
            found.append(
                _NormSite(
                    f"feed-forward{which}", f"{name}ff_norm", stream, f"{name}ff.input", index, "feedforward"
                )
            )
        stream = f"{name}stream"
    last = _NormSite("head", "final_norm", stream, "final", len(shape.layers), "final")
    return (*found, last)


def draw_sample(sums: "Sums") -> SumSample:
    """The sums, a block at a time, so that memory stays small."""
    random, base = np.random.default_rng(0), sums.task.base
    x, y = random.integers(0, base, (2, sums.task.digits, _SUMS), np.int32)
    z, layout = sums.task.solve_digits(x, y), sums.layout
    tokens = layout.encode(x, y, z)[:-1].T  # sum pos
    parts = list(_trace_blocks(sums, tokens))
    kept = {key: np.concatenate([part[key] for part, _ in parts]) for key in parts[0][0]}
    scores = {key: np.mean([mean[key] for _, mean in parts], axis=0) for key in parts[0][1]}
    none = np.zeros((_SUMS, 1), np.int64)
    return SumSample(
        np.hstack([x.T, none]),
        np.hstack([y.T, none]),
        z.T.astype(np.int64),
        sums.columns,
        tokens[:, layout.predicting],
        kept,
        scores,
        base,
    )


def _trace_blocks(
    sums: "Sums", tokens: Int[np.ndarray, "sum pos"]
) -> Iterator[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """What is kept of every block, and the mean scores of every head."""
    asking, names = sums.layout.predicting, _list_kept_names(sums)
    masked = np.tri(tokens.shape[1], dtype=bool)[asking]
    for start in range(0, len(tokens), _BLOCK):
        trace = sums.model.trace(tokens[start : start + _BLOCK])
        kept = {name: trace[name][:, asking].copy() for name in names}
        means = {}
        for head in sums.heads:
            mean = trace[f"{head.prefix}attn.scores.{head.head}"][:, asking].mean(0, dtype=np.float64)
            means[f"{head.layer}.{head.head}"] = np.where(masked, mean, np.nan)
        yield kept, means


def _list_kept_names(sums: "Sums") -> list[str]:
    """The intermediates that some panel reads."""
    names = {"logits"}
    for site in list_norm_sites(sums):
        names |= {site.before, site.after}
    for head in sums.heads:
        names |= {f"{head.prefix}attn.weights.{head.head}", f"{head.prefix}attn.output"}
    return sorted(names)


def _group_by_role(sums: "Sums", step: int) -> dict[str, list[int]]:
    """Which positions have which role for the digit that is written at a step; every position has one."""
    layout, column = sums.layout, sums.columns[step]
    places: dict[str, list[int]] = {role: [] for role in ROLES}
    own = layout.predicting.start + step
    labels = layout.position_labels()
    for place in range(own + 1):
        places[_find_role(labels[place], column, place == own)].append(place)
    return places


def _find_role(label: str, column: int, is_own: bool) -> str:
    """What a position is to the digit of a column: one of ROLES but the last.

    >>> _find_role("x3", 3, False), _find_role("y2", 3, False)
    ('x k', 'y k-1')
    >>> _find_role("+", 3, False), _find_role("z2", 3, True)
    ('signs', 'own position')
    """
    if is_own:
        return "own position"
    letter, number = label[0], label[1:]
    if letter not in "xyz" or not number.isdigit():
        return "signs"
    back = column - int(number)
    names = {0: f"{letter} k", 1: f"{letter} k-1"}
    return names.get(back, "other digits") if letter in "xy" else "other digits"


def measure_role_shares(sums: "Sums") -> Float[np.ndarray, "head step role"]:
    """The mean attention of every head at every step to positions of each role; the rest went to nothing."""
    found = np.zeros((len(sums.heads), sums.steps, len(ROLES)))
    for row, head in enumerate(sums.heads):
        mean = sums.sample.kept[f"{head.prefix}attn.weights.{head.head}"].mean(
            0, dtype=np.float64
        )  # step pos
        for step in range(sums.steps):
            places = _group_by_role(sums, step)
            found[row, step] = [mean[step, places[role]].sum() for role in ROLES]
            found[row, step, -1] = max(0.0, 1.0 - mean[step].sum())
    return found
