"""Positions inside attention: rotations of queries and keys, slopes and other biases on the scores."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from glassformer.core.theme import Theme
from glassformer.core.words import choose_plural, format_significant, join_words
from glassformer.models.attention import Attention
from glassformer.models.forward import format_layer_prefix, untie_parameters
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.labels import place_labels
from glassformer.pictures.parts.marks import draw_data_arrow
from glassformer.pictures.poster.column_kernel import (
    ColumnKernel,
    describe_column_kernel,
    draw_column_kernel,
    measure_column_kernel,
)
from glassformer.pictures.poster.style import LARGER, SIZE, open_axes, set_few_ticks
from glassformer.pictures.poster.sums import Sums

DIALS = 4  # of rotations, at most


@dataclass(frozen=True, eq=False)
class Rotations:
    """How far a layer turns its queries and keys from one position to the next."""

    kind: str  # rope
    layer: int
    rates: Float[np.ndarray, " pair"]  # radians per position


@dataclass(frozen=True, eq=False)
class Slopes:
    """How much the heads of a layer subtract from a score per position of distance."""

    kind: str  # alibi
    layer: int
    slopes: Float[np.ndarray, " head"]


@dataclass(frozen=True, eq=False)
class Biases:
    """What the heads of a layer add to a score at each distance."""

    kind: str
    layer: int
    effect: str  # a sentence, without its full stop
    axis: str  # what a distance is
    distances: Float[np.ndarray, " distance"]
    added: Float[np.ndarray, "head distance"]


Relation = Rotations | Slopes | Biases | ColumnKernel


def collect_position_relations(sums: Sums) -> list[Relation]:
    """Rotations, slopes and other biases inside attention, one entry per kind and layer."""
    found: list[Relation] = []
    for layer in sums.attention_layers:
        attention = sums.attention(layer)
        relation = attention.relation
        if relation.is_rotation:
            found.append(Rotations(relation.kind, layer, np.array(relation.rates(attention.head_size))))
        slopes = relation.list_slopes(attention.heads)
        if slopes:
            found.append(Slopes(relation.kind, layer, np.array(slopes, np.float64)))
        elif relation.is_bias:
            kernel = measure_column_kernel(sums.model, layer) if relation.is_any_length else None
            found.append(kernel or _measure_biases(sums, layer, attention))
    return found


def _measure_biases(sums: Sums, layer: int, attention: Attention) -> Biases:
    """Every distance that a query and an earlier key can have, and what each head adds there."""
    shape, relation, places = sums.architecture, attention.relation, range(sums.layout.length - 1)
    params = untie_parameters(shape, sums.model.params)
    name = f"{format_layer_prefix(shape, layer)}attn.relation"
    distances = sorted({float(relation.distance(i, j)) for i in places for j in range(i + 1)})
    added = [
        relation.measure_bias(params, name, head, attention.heads, distances)
        for head in range(attention.heads)
    ]
    return Biases(
        relation.kind,
        layer,
        relation.score_term,
        relation.distance_words,
        np.array(distances),
        np.array(added),
    )


def find_digit_distances(sums: Sums) -> dict[str, int]:
    """From the position that writes z_k back to the digits it needs, where that is the same for every k."""
    layout, digits = sums.layout, sums.task.digits
    found: dict[str, int] = {}
    for name, places, back in (
        ("xₖ", layout.x_positions, 0), ("yₖ", layout.y_positions, 0),
        ("xₖ₋₁", layout.x_positions, 1), ("yₖ₋₁", layout.y_positions, 1),
    ):  # fmt: skip
        every = {layout.z_positions[k] - 1 - places[k - back] for k in range(back, digits)}
        if len(every) == 1:
            found[name] = every.pop()
    return found


def draw_relation(
    frame: Frame, relation: Relation, distances: Mapping[str, int], places: int, room: float
) -> None:
    """One dial per rotation, or one line per slope or bias, in a square of `room` cm."""
    if isinstance(relation, Rotations):
        rates = relation.rates[:DIALS]
        side = (room - 0.4) / (1 if len(rates) == 1 else 2)
        lower = 0.5 if len(rates) != 2 else 0.5 + side / 2
        for index, rate in enumerate(rates):
            row, column = divmod(index, 2)
            axes = frame.axes(column * (side + 0.4), lower + row * (side + 0.4), side, side)
            _draw_dial(axes, float(rate), distances, places, frame.theme)
        return
    axes = frame.axes(1.0, 0.6, room - 0.8, room - 1.1)
    if isinstance(relation, ColumnKernel):
        draw_column_kernel(axes, relation, frame.theme)
    elif isinstance(relation, Slopes):
        _draw_slopes(axes, relation, places, frame.theme)
    else:
        _draw_biases(axes, relation, frame.theme)


def describe_position_relation(relation: Relation, distances: Mapping[str, int]) -> list[str]:
    if isinstance(relation, ColumnKernel):
        return [describe_column_kernel(relation)]
    if not isinstance(relation, Rotations):
        return []
    far = join_words([f"{name} {distance}" for name, distance in distances.items()], empty="nothing")
    return [f"Dots: the angle between query and key at each distance. Distances in positions: {far}."]


def _draw_dial(axes: Axes, rate: float, found: Mapping[str, int], places: int, theme: Theme) -> None:
    """How far a key is turned against the query, for every distance; arrows to those that matter."""
    axes.set_xlim(-1.45, 1.45)
    axes.set_ylim(-1.45, 1.45)
    axes.set_axis_off()
    axes.set_title(f"{np.degrees(rate):.2f}° per position")
    around = np.linspace(0, 2 * np.pi, 181)
    axes.plot(np.cos(around), np.sin(around), color=theme.faint, linewidth=1.2, zorder=1)
    turned = rate * np.arange(places)
    axes.scatter(np.cos(turned), np.sin(turned), s=8, color=theme.muted, linewidths=0, zorder=2)
    if found:
        _draw_hands(axes, rate, found, np.stack([np.cos(turned), np.sin(turned)], 1), theme)


def _draw_hands(axes: Axes, rate: float, found: Mapping[str, int], dots: np.ndarray, theme: Theme) -> None:
    """An arrow to every distance that matters, with the positions that are so far back."""
    by_angle: dict[int, list[str]] = {}
    for name, distance in found.items():
        by_angle.setdefault(round(np.degrees(rate * distance)) % 360, []).append(name)
    angles = np.radians(list(by_angle))
    ends = np.stack([np.cos(angles), np.sin(angles)], 1)
    colours = [
        theme.negative if all("₋" in name for name in names) else theme.accent for names in by_angle.values()
    ]
    for end, colour in zip(ends, colours, strict=True):
        draw_data_arrow(axes, np.zeros(2), end * 0.96, colour, 1.6)
    obstacles = np.concatenate([dots, *(ends * share for share in (0.3, 0.5, 0.7, 0.85))])
    place_labels(
        axes, ends, [" ".join(names) for names in by_angle.values()], theme, colours, obstacles, LARGER
    )


def _draw_slopes(axes: Axes, relation: Slopes, places: int, theme: Theme) -> None:
    """What is subtracted from a score at each distance, one line per slope."""
    reach, slopes = np.arange(places), relation.slopes
    for slope in np.unique(slopes):
        heads = [str(head) for head in np.flatnonzero(slopes == slope)]
        axes.plot(reach, -slope * reach, linewidth=1.6, color=theme.accent if slope else theme.muted)
        words = (
            f"{choose_plural(len(heads), 'head')} {join_words(heads)}: slope {format_significant(slope, 4)}"
        )
        at = int(len(reach) * 0.45)
        axes.annotate(
            words, (at, -slope * at), (6, 8), textcoords="offset points", fontsize=SIZE, color=theme.ink
        )
    axes.set_xlabel("positions back")
    axes.set_title(f"added to a score in layer {relation.layer}")
    axes.margins(0.03, 0.12)
    set_few_ticks(axes.yaxis)
    open_axes(axes)


def _draw_biases(axes: Axes, relation: Biases, theme: Theme) -> None:
    """What is added to a score at each distance, one line per different bias."""
    reach, added = relation.distances, relation.added
    for line in np.unique(added, axis=0):
        heads = [str(head) for head in np.flatnonzero((added == line).all(1))]
        axes.plot(reach, line, linewidth=1.6, color=theme.accent if line.any() else theme.muted)
        at = int(len(reach) * 0.45)
        words = f"{choose_plural(len(heads), 'head')} {join_words(heads)}"
        axes.annotate(
            words, (reach[at], line[at]), (6, 8), textcoords="offset points", fontsize=SIZE, color=theme.ink
        )
    axes.set_xlabel(relation.axis)
    axes.set_title(f"added to a score in layer {relation.layer}")
    axes.margins(0.03, 0.12)
    set_few_ticks(axes.yaxis)
    open_axes(axes)
