"""Value demo: the last place of one sequence, on the probability maps of the tokens that matter to it.

Every message is drawn where it alone would lead the state; the sum z is their mean, weighted by attention.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.draw.measure.demand import Demand, verdict
from glassformer.draw.measure.landscape import (
    Landscape,
    final_states,
    landscape,
    logits_of,
    probabilities,
    slice_through,
)
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import SMALL, foot_height, sheet, text_height, write_foot
from glassformer.draw.parts.labels import Taken, place_labels
from glassformer.draw.parts.map_sheet import top_of
from glassformer.draw.parts.marks import arrow, readable, show_plane
from glassformer.draw.parts.matrices import scale_bar
from glassformer.draw.parts.message_sums import Carry, carry_of
from glassformer.draw.parts.regions import heat, regions
from glassformer.draw.parts.sequence_matrices import named
from glassformer.draw.parts.single_messages import alone, draw_strip, strip_height
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme, token_colour

LEAST = 0.002  # a map's half, in sizes of h, where all messages end in one point
MAPS = 3  # tokens that get a probability map
SIDE, LEFT, ACROSS, DOWN = 6.4, 0.95, 8.0, 7.75  # cm: a map, what is left of it, from map to map
KEY = 15.4  # cm: a line of the legend
MOST_NAMED = 5  # messages of a head that get a name
MARKERS = "osD^vP"  # one a head
SHAPES = ("round", "square", "diamond", "triangle", "triangle down", "plus")


def compute(subject: Subject, index: int = 0) -> Data:
    index = min(index, len(subject.sequences) - 1)
    carry, model = carry_of(subject, index), subject.model
    probability = probabilities(model, carry.mid[None], from_mid=True)[0]
    asked = subject.demanded(index)
    states = alone(carry, carry.messages)  # head pos dim
    ends = final_states(model, states.reshape(-1, states.shape[-1])).reshape(states.shape)
    relevant = relevant_tokens(subject, carry, index, probability, asked)
    return {
        "tokens": subject.tokens,
        "labels": carry.labels,
        "carry": carry,
        "states": states,
        "probability": probability,
        "verdict": verdict(subject.tokens, probability, asked, subject.words),
        "source": subject.source(index),
        "relevant": relevant,
        "sums": sums_map(subject, carry, states, list(relevant)),
        "ends": ends_map(subject, carry, ends),
    }


def relevant_tokens(
    subject: Subject, carry: Carry, index: int, probability: Float[np.ndarray, " tok"], asked: Demand
) -> dict[int, str]:
    """The tokens whose maps are drawn, and why: predicted, demanded, most attended, next in probability."""
    order = np.argsort(-probability, kind="stable")
    reasons: dict[int, list[str]] = {int(order[0]): ["predicted"]}
    if asked is not None:
        best = int(np.flatnonzero(asked)[probability[asked].argmax()])
        reasons.setdefault(best, []).append("demanded" if asked.sum() == 1 else "allowed")
    share = np.bincount(subject.sequences[index], carry.weights.mean(0), len(probability))
    reasons.setdefault(int(share.argmax()), []).append("most attended")
    for rank, token in enumerate(order[1:], 2):
        if len(reasons) < MAPS and int(token) not in reasons:
            reasons[int(token)] = [f"number {rank} in probability"]
    chosen = list(reasons.items())[:MAPS]
    return {token: f"{percent(probability[token], 0)}: {', '.join(why)}" for token, why in chosen}


def sums_map(
    subject: Subject, carry: Carry, states: Float[np.ndarray, "head pos dim"], tokens: list[int]
) -> Data:
    """Over states after attention: e, every message's state, z, and the probabilities there."""
    plane = slice_through(states, "stream", "z", subject.dims, centre=carry.mid)
    last = len(carry.labels) - 1.0
    found: Data = {
        "plane": plane,
        "points": plane(states, np.arange(len(carry.labels), dtype=float)),  # head pos 2
        "e": plane(carry.embedded, last),
        "z": plane(carry.mid, last + 0.5),
    }
    limits = plane.limits(found["points"], found["e"], found["z"], room=0.14)
    land = landscape(subject.model, plane, limits, from_mid=True)
    found["probability"] = np.moveaxis(land.probability[..., tokens], -1, 0).astype(np.float16)  # map y x
    return found | agreement(subject, land, found["points"], states, from_mid=True)


def ends_map(subject: Subject, carry: Carry, ends: Float[np.ndarray, "head pos dim"]) -> Data:
    """Over final states: h, where every message alone would end, and who wins there."""
    final = final_states(subject.model, carry.mid[None])[0]
    plane = slice_through(ends, "final state", "h", subject.dims, centre=final)
    points, last = plane(ends, np.arange(len(carry.labels), dtype=float)), len(carry.labels) - 0.5
    found: Data = {"plane": plane, "points": points, "h": plane(final, last)}
    least = LEAST * float(np.abs(found["h"]).max()) * np.array([[-1.0], [1.0]])
    limits = plane.limits(points, found["h"], found["h"] + least, room=0.14)
    land = landscape(subject.model, plane, limits, from_mid=False)
    return found | {"winner": land.winner} | agreement(subject, land, points, ends, from_mid=False)


def agreement(
    subject: Subject, land: Landscape, points: Float[np.ndarray, "head pos 2"],
    states: Float[np.ndarray, "head pos dim"], from_mid: bool,
) -> Data:  # fmt: skip
    """The map's limits, and how many of the messages' states have the colour of the map under them."""
    own = logits_of(subject.model, states.reshape(-1, states.shape[-1]), from_mid).argmax(-1)
    return {"limits": land.limits, "agreeing": int((land.winner_at(points).ravel() == own).sum())}


def draw(data: Data, theme: Theme) -> Figure:
    carry = data["carry"]
    key = strip_height(carry) + 0.2
    top = key + text_height(legend(carry), SMALL, KEY) + 0.75
    paper = sheet(theme, top + 2 * DOWN - 0.5 + foot_height(foot(data)), title(data))
    draw_strip(paper, carry, data["source"])
    paper.write(0, key, legend(carry), SMALL, KEY, color=theme.muted)
    for place, (token, why) in enumerate(data["relevant"].items()):
        axes = paper.axes(LEFT + place % 2 * ACROSS, top + place // 2 * DOWN, SIDE, SIDE)
        image = draw_sums(axes, data, place, f"P({data['tokens'][token]}) {why}", theme)
    axes = paper.axes(LEFT + 2 * SIDE + ACROSS - SIDE + 0.25, top, 0.2, SIDE)
    scale_bar(axes, image, theme, ticks=[0, image.get_clim()[1]])
    place = len(data["relevant"])
    draw_ends(paper.axes(LEFT + place % 2 * ACROSS, top + place // 2 * DOWN, SIDE, SIDE), data, theme)
    write_foot(paper, foot(data))
    return paper.figure


def draw_sums(axes: Axes, data: Data, place: int, name: str, theme: Theme) -> AxesImage:
    """One token's probability over the states after attention, with e, the messages' states and z."""
    found = data["sums"]
    show_plane(axes, found["plane"], found["limits"], name)
    image = heat(axes, found["probability"][place], found["limits"], theme, top_of(found["probability"]))
    arrow(axes, found["e"], found["z"], theme.accent, 1.4)
    axes.scatter(
        *found["e"], s=34, marker="X", color=theme.ink, edgecolors=theme.paper, linewidths=0.6, zorder=5
    )
    mark(axes, data, found, {"e": found["e"], "z": found["z"]}, [], theme)
    return image


def draw_ends(axes: Axes, data: Data, theme: Theme) -> None:
    """Which token wins over the final states, with h and where every message alone would end."""
    found = data["ends"]
    taken: Taken = []
    show_plane(axes, found["plane"], found["limits"], "final states, over the most probable token")
    everything = found["points"].reshape(-1, 2)
    regions(axes, found["winner"], found["limits"], data["tokens"], theme, taken, avoid=everything)
    mark(axes, data, found, {"h": found["h"]}, taken, theme)


def mark(
    axes: Axes, data: Data, found: Data, states: dict[str, Float[np.ndarray, "2"]],
    taken: Taken, theme: Theme,
) -> None:  # fmt: skip
    """The messages' states, as large as their weights, the last of `states` as a star, and all names."""
    labels, weights = data["labels"], data["carry"].weights
    colours = [token_colour(label) for label in labels]
    for head, (points, sizes) in enumerate(zip(found["points"], weights, strict=True)):
        axes.scatter(
            *points.T, s=9 + 130 * sizes, c=colours, marker=MARKERS[head % len(MARKERS)], linewidths=0.6,
            edgecolors=theme.paper, zorder=4,
        )  # fmt: skip
    star = list(states.values())[-1]
    axes.scatter(*star, s=90, marker="*", color=theme.ink, edgecolors=theme.paper, linewidths=0.7, zorder=5.5)
    chosen = named_messages(weights)
    spots = [*states.values(), *(found["points"][head, place] for head, place in chosen)]
    texts = [*states, *(f"{labels[place]}@p{place}" for _, place in chosen)]
    inks = [theme.ink] * len(states) + [readable(colours[place], theme) for _, place in chosen]
    obstacles = found["points"].reshape(-1, 2)
    place_labels(axes, np.array(spots), texts, theme, inks, obstacles, taken=taken)


def named_messages(weights: Float[np.ndarray, "head pos"]) -> list[tuple[int, int]]:
    """Head and place of the messages that get a name: each head's largest weights."""
    return [
        (head, int(place))
        for head, row in enumerate(weights)
        for place in np.argsort(-row, kind="stable")[:MOST_NAMED]
    ]


def legend(carry: Carry) -> str:
    """What the marks are, in a line."""
    heads = len(carry.weights)
    named_shapes = [f"head {head} {SHAPES[head % len(SHAPES)]}" for head in range(heads)]
    shapes = f" ({', '.join(named_shapes)})" if heads > 1 else ""
    return (
        f"Dots{shapes}: where the state would be if all attention went to that place, their area its weight; "
        "cross: e; star: z, in the last map h."
    )


def title(data: Data) -> str:
    labels, weights = data["labels"], data["carry"].weights
    here = named(labels, len(labels) - 1)
    looks = [f"{percent(row.max(), 0)} from {named(labels, int(row.argmax()))}" for row in weights]
    heads = [f"head {head} takes {look}" for head, look in enumerate(looks)]
    takes = f"At {here} {', '.join(heads)}" if len(looks) > 1 else f"{here} takes {looks[0]}"
    return f"{takes}: {data['verdict']}"


def foot(data: Data) -> str:
    """What a reader must know of the slices, and what each of them is worth."""
    notes: list[str] = []
    count = data["carry"].weights.size
    for kind, name in (("sums", "Probability maps"), ("ends", "Final states")):
        plane = data[kind]["plane"]
        if len(plane.through) > 2:
            note = f"{plane.note[0].lower()}{plane.note[1:]}"
            hits = f"{data[kind]['agreeing']} of the {count} messages lie in their own answer's region."
            notes.append(f"{name}: {note} {hits}")
    return " ".join(notes) or str(data["sums"]["plane"].note)


def caption(data: Data) -> str:
    carry: Carry = data["carry"]
    start = "e plus that message" if carry.is_residual else "that message (no residual connection keeps e)"
    several = carry.bias_words + (" and what the other heads write" if len(carry.weights) > 1 else "")
    is_mean = np.allclose(carry.weights.sum(1), 1, atol=1e-4)
    mean = ", so that the star, z, is the weighted mean of a head's dots" if is_mean else ""
    return f"""The last place of {" ".join(data["labels"])}. Probability maps: the feed-forward layer and the
        head evaluated on states after attention, for the tokens named with the reason for choosing them. A
        dot is where the state would be if the head looked at that place alone: {start}{several}; its area
        grows with the weight that attention really gives it{mean}. The
        cross is e. Last map: the head alone, with the final state h and those that each message alone would
        lead to; z and h themselves lie in the maps' planes. Named are the
        {min(MOST_NAMED, len(carry.labels))} largest weights of a head. {foot(data)}"""
