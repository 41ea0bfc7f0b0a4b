"""Places inside attention: rotations of queries and keys, slopes on the scores."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.draw.parts.frame import Frame
from glassformer.draw.parts.labels import place_labels
from glassformer.draw.parts.marks import arrow
from glassformer.draw.picture import Data
from glassformer.draw.poster.style import LARGER, SIZE, open_axes, short_ticks
from glassformer.draw.poster.sums import Sums
from glassformer.draw.poster.words import listed, short
from glassformer.draw.theme import Theme
from glassformer.model.position import Alibi, Rope

DIALS = 4  # of rotations, at most


def relations(sums: Sums) -> list[Data]:
    """Rotations and slopes inside attention, one entry a kind and layer."""
    found: list[Data] = []
    for layer in sums.attention_layers:
        attention = sums.attention(layer)
        if isinstance(attention.relation, Rope):
            rates = np.array(attention.relation.rates(attention.head_size))
            found.append({"kind": "rope", "layer": layer, "rates": rates})
        elif isinstance(attention.relation, Alibi):
            slopes = [attention.relation.slope(head, attention.heads) for head in range(attention.heads)]
            found.append({"kind": "alibi", "layer": layer, "slopes": np.array(slopes)})
    return found


def distances(sums: Sums) -> dict[str, int]:
    """From the place that writes z_k back to the digits it needs, where that is the same for every k."""
    layout, digits = sums.layout, sums.task.digits
    found: dict[str, int] = {}
    for name, places, back in (
        ("xₖ", layout.x_places, 0), ("yₖ", layout.y_places, 0),
        ("xₖ₋₁", layout.x_places, 1), ("yₖ₋₁", layout.y_places, 1),
    ):  # fmt: skip
        every = {layout.z_places[k] - 1 - places[k - back] for k in range(back, digits)}
        if len(every) == 1:
            found[name] = every.pop()
    return found


def draw_relations(frame: Frame, data: Data, room: float) -> None:
    """A dial a rotation, or a line a slope, in a square of `room` cm."""
    relation = data["relations"][0]
    if relation["kind"] == "rope":
        rates = relation["rates"][:DIALS]
        side = (room - 0.4) / (1 if len(rates) == 1 else 2)
        lower = 0.5 if len(rates) != 2 else 0.5 + side / 2
        for index, rate in enumerate(rates):
            row, column = divmod(index, 2)
            axes = frame.axes(column * (side + 0.4), lower + row * (side + 0.4), side, side)
            draw_dial(axes, float(rate), data["distances"], len(data["labels"]), frame.theme)
    else:
        draw_slopes(frame.axes(1.0, 0.6, room - 0.8, room - 1.1), relation["slopes"], data, frame.theme)


def relation_words(data: Data) -> list[str]:
    if data["relations"][0]["kind"] != "rope":
        return []
    far = listed([f"{name} {distance}" for name, distance in data["distances"].items()])
    return [f"Dots: how far a key so many places back is turned against the query. Places back: {far}."]


def draw_dial(axes: Axes, rate: float, found: dict[str, int], places: int, theme: Theme) -> None:
    """How far a key is turned against the query, for every distance; arrows to those that matter."""
    axes.set_xlim(-1.45, 1.45)
    axes.set_ylim(-1.45, 1.45)
    axes.set_axis_off()
    axes.set_title(f"{np.degrees(rate):.2f}° a place")
    around = np.linspace(0, 2 * np.pi, 181)
    axes.plot(np.cos(around), np.sin(around), color=theme.faint, linewidth=1.2, zorder=1)
    turned = rate * np.arange(places)
    axes.scatter(np.cos(turned), np.sin(turned), s=8, color=theme.muted, linewidths=0, zorder=2)
    if found:
        draw_hands(axes, rate, found, np.stack([np.cos(turned), np.sin(turned)], 1), theme)


def draw_hands(axes: Axes, rate: float, found: dict[str, int], dots: np.ndarray, theme: Theme) -> None:
    """An arrow to every distance that matters, with the places that are so far back."""
    by_angle: dict[int, list[str]] = {}
    for name, distance in found.items():
        by_angle.setdefault(round(np.degrees(rate * distance)) % 360, []).append(name)
    angles = np.radians(list(by_angle))
    ends = np.stack([np.cos(angles), np.sin(angles)], 1)
    colours = [
        theme.negative if all("₋" in name for name in names) else theme.accent for names in by_angle.values()
    ]
    for end, colour in zip(ends, colours, strict=True):
        arrow(axes, np.zeros(2), end * 0.96, colour, 1.6)
    obstacles = np.concatenate([dots, *(ends * share for share in (0.3, 0.5, 0.7, 0.85))])
    place_labels(
        axes, ends, [" ".join(names) for names in by_angle.values()], theme, colours, obstacles, LARGER
    )


def draw_slopes(axes: Axes, slopes: np.ndarray, data: Data, theme: Theme) -> None:
    """What is taken off a score at each distance, a line a slope."""
    reach = np.arange(len(data["labels"]))
    for slope in np.unique(slopes):
        heads = [str(head) for head in np.flatnonzero(slopes == slope)]
        axes.plot(reach, -slope * reach, linewidth=1.6, color=theme.accent if slope else theme.muted)
        words = f"{'head' if len(heads) == 1 else 'heads'} {listed(heads)}: slope {short(slope, 4)}"
        at = int(len(reach) * 0.45)
        axes.annotate(
            words, (at, -slope * at), (6, 8), textcoords="offset points", fontsize=SIZE, color=theme.ink
        )
    axes.set_xlabel("places back")
    axes.set_title(f"added to a score in layer {data['relations'][0]['layer']}")
    axes.margins(0.03, 0.12)
    short_ticks(axes.yaxis)
    open_axes(axes)
