"""Value demo: the last position of one sequence, on the probability maps of the tokens that matter to it.

Every message is drawn where it alone would lead the state; the sum z is their mean, weighted by attention.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.core.words import format_percent
from glassformer.pictures.measure.demand import describe_answer
from glassformer.pictures.measure.landscape import (
    Landscape,
    compute_final_states,
    compute_state_logits,
    compute_state_probabilities,
    make_landscape,
    make_slice,
)
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import (
    SMALL,
    make_sheet,
    measure_foot_height,
    measure_text_height,
    write_foot,
)
from glassformer.pictures.parts.labels import Taken, place_labels
from glassformer.pictures.parts.map_sheet import choose_probability_limit
from glassformer.pictures.parts.marks import (
    describe_slices,
    draw_data_arrow,
    make_readable_colour,
    show_plane,
)
from glassformer.pictures.parts.matrices import draw_scale_bar
from glassformer.pictures.parts.message_sums import Carry, compute_carry
from glassformer.pictures.parts.regions import draw_scalar_map, draw_winner_regions
from glassformer.pictures.parts.sequence_matrices import format_token_position
from glassformer.pictures.parts.single_messages import (
    compute_single_states,
    draw_attention_strip,
    measure_strip_height,
)
from glassformer.pictures.picture import Data
from glassformer.proofs.contexts import Demand

_LEAST = 0.002  # a map's half, in sizes of h, where all messages end in one point
_MAPS = 3  # tokens that get a probability map
_SIDE, _LEFT, _ACROSS, _DOWN = 6.4, 0.95, 8.0, 7.75  # cm: a map, what is left of it, from map to map
_KEY = 15.4  # cm: a line of the legend
_MOST_NAMED = 5  # messages of a head that get a name
_MARKERS = "osD^vP"  # one a head
_SHAPES = ("round", "square", "diamond", "triangle", "triangle down", "plus")


def compute(subject: Subject, index: int = 0) -> Data:
    index = min(index, len(subject.sequences) - 1)
    carry, model = compute_carry(subject, index), subject.model
    probability = compute_state_probabilities(model, carry.mid[None], from_mid=True)[0]
    asked = subject.demanded(index)
    states = compute_single_states(carry, carry.messages)  # head pos dim
    ends = compute_final_states(model, states.reshape(-1, states.shape[-1])).reshape(states.shape)
    relevant = _choose_relevant_tokens(subject, carry, index, probability, asked)
    return {
        "tokens": subject.tokens,
        "labels": carry.labels,
        "carry": carry,
        "states": states,
        "probability": probability,
        "verdict": describe_answer(subject.tokens, probability, asked, subject.words),
        "source": subject.source(index),
        "relevant": relevant,
        "sums": _make_sum_map(subject, carry, states, list(relevant)),
        "ends": _make_end_map(subject, carry, ends),
    }


def _choose_relevant_tokens(
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
        if len(reasons) < _MAPS and int(token) not in reasons:
            reasons[int(token)] = [f"number {rank} in probability"]
    chosen = list(reasons.items())[:_MAPS]
    return {token: f"{format_percent(probability[token], 0)}: {', '.join(why)}" for token, why in chosen}


def _make_sum_map(
    subject: Subject, carry: Carry, states: Float[np.ndarray, "head pos dim"], tokens: list[int]
) -> Data:
    """Over states after attention: e, every message's state, z, and the probabilities there."""
    plane = make_slice(states, "stream", "z", subject.dims, centre=carry.mid)
    last = len(carry.labels) - 1.0
    found: Data = {
        "plane": plane,
        "points": plane(states, np.arange(len(carry.labels), dtype=float)),  # head pos 2
        "e": plane(carry.embedded, last),
        "z": plane(carry.mid, last + 0.5),
    }
    limits = plane.limits(found["points"], found["e"], found["z"], room=0.14)
    land = make_landscape(subject.model, plane, limits, from_mid=True)
    found["probability"] = np.moveaxis(land.probability[..., tokens], -1, 0).astype(np.float16)  # map y x
    return found | _measure_map_agreement(subject, land, found["points"], states, from_mid=True)


def _make_end_map(subject: Subject, carry: Carry, ends: Float[np.ndarray, "head pos dim"]) -> Data:
    """Over final states: h, where every message alone would end, and who wins there."""
    final = compute_final_states(subject.model, carry.mid[None])[0]
    plane = make_slice(ends, "final state", "h", subject.dims, centre=final)
    points, last = plane(ends, np.arange(len(carry.labels), dtype=float)), len(carry.labels) - 0.5
    found: Data = {"plane": plane, "points": points, "h": plane(final, last)}
    least = _LEAST * float(np.abs(found["h"]).max()) * np.array([[-1.0], [1.0]])
    limits = plane.limits(points, found["h"], found["h"] + least, room=0.14)
    land = make_landscape(subject.model, plane, limits, from_mid=False)
    return (
        found | {"winner": land.winner} | _measure_map_agreement(subject, land, points, ends, from_mid=False)
    )


def _measure_map_agreement(
    subject: Subject, land: Landscape, points: Float[np.ndarray, "head pos 2"],
    states: Float[np.ndarray, "head pos dim"], from_mid: bool,
) -> Data:  # fmt: skip
    """The map's limits, and how many of the messages' states have the colour of the map under them."""
    own = compute_state_logits(subject.model, states.reshape(-1, states.shape[-1]), from_mid).argmax(-1)
    return {"limits": land.limits, "agreeing": int((land.winner_at(points).ravel() == own).sum())}


def draw(data: Data, theme: Theme) -> Figure:
    carry = data["carry"]
    key = measure_strip_height(carry) + 0.2
    top = key + measure_text_height(_describe_demo_marks(carry), SMALL, _KEY) + 0.75
    paper = make_sheet(theme, top + 2 * _DOWN - 0.5 + measure_foot_height(_foot(data)), title(data))
    draw_attention_strip(paper, carry, data["source"])
    paper.write(0, key, _describe_demo_marks(carry), SMALL, _KEY, color=theme.muted)
    for place, (token, why) in enumerate(data["relevant"].items()):
        axes = paper.axes(_LEFT + place % 2 * _ACROSS, top + place // 2 * _DOWN, _SIDE, _SIDE)
        image = _draw_probability_map(axes, data, place, f"P({data['tokens'][token]}) {why}", theme)
    axes = paper.axes(_LEFT + 2 * _SIDE + _ACROSS - _SIDE + 0.25, top, 0.2, _SIDE)
    draw_scale_bar(axes, image, theme, ticks=[0, image.get_clim()[1]])
    place = len(data["relevant"])
    _draw_end_map(
        paper.axes(_LEFT + place % 2 * _ACROSS, top + place // 2 * _DOWN, _SIDE, _SIDE), data, theme
    )
    write_foot(paper, _foot(data))
    return paper.figure


def _draw_probability_map(axes: Axes, data: Data, place: int, name: str, theme: Theme) -> AxesImage:
    """One token's probability over the states after attention, with e, the messages' states and z."""
    found = data["sums"]
    show_plane(axes, found["plane"], found["limits"], name)
    image = draw_scalar_map(
        axes,
        found["probability"][place],
        found["limits"],
        theme,
        choose_probability_limit(found["probability"]),
    )
    draw_data_arrow(axes, found["e"], found["z"], theme.accent, 1.4)
    axes.scatter(
        *found["e"], s=34, marker="X", color=theme.ink, edgecolors=theme.paper, linewidths=0.6, zorder=5
    )
    _mark_message_states(axes, data, found, {"e": found["e"], "z": found["z"]}, [], theme)
    return image


def _draw_end_map(axes: Axes, data: Data, theme: Theme) -> None:
    """Which token wins over the final states, with h and where every message alone would end."""
    found = data["ends"]
    taken: Taken = []
    show_plane(axes, found["plane"], found["limits"], "final states, over the most probable token")
    everything = found["points"].reshape(-1, 2)
    draw_winner_regions(
        axes, found["winner"], found["limits"], data["tokens"], theme, taken, avoid=everything
    )
    _mark_message_states(axes, data, found, {"h": found["h"]}, taken, theme)


def _mark_message_states(
    axes: Axes, data: Data, found: Data, states: dict[str, Float[np.ndarray, "2"]],
    taken: Taken, theme: Theme,
) -> None:  # fmt: skip
    """The messages' states, as large as their weights, the last of `states` as a star, and all names."""
    labels, weights = data["labels"], data["carry"].weights
    colours = [pick_token_colour(label) for label in labels]
    for head, (points, sizes) in enumerate(zip(found["points"], weights, strict=True)):
        axes.scatter(
            *points.T, s=9 + 130 * sizes, c=colours, marker=_MARKERS[head % len(_MARKERS)], linewidths=0.6,
            edgecolors=theme.paper, zorder=4,
        )  # fmt: skip
    star = list(states.values())[-1]
    axes.scatter(*star, s=90, marker="*", color=theme.ink, edgecolors=theme.paper, linewidths=0.7, zorder=5.5)
    chosen = _pick_named_messages(weights)
    spots = [*states.values(), *(found["points"][head, place] for head, place in chosen)]
    texts = [*states, *(f"{labels[place]}@p{place}" for _, place in chosen)]
    inks = [theme.ink] * len(states) + [make_readable_colour(colours[place], theme) for _, place in chosen]
    obstacles = found["points"].reshape(-1, 2)
    place_labels(axes, np.array(spots), texts, theme, inks, obstacles, taken=taken)


def _pick_named_messages(weights: Float[np.ndarray, "head pos"]) -> list[tuple[int, int]]:
    """Head and position of the messages that get a name: each head's largest weights."""
    return [
        (head, int(place))
        for head, row in enumerate(weights)
        for place in np.argsort(-row, kind="stable")[:_MOST_NAMED]
    ]


def _describe_demo_marks(carry: Carry) -> str:
    """What the marks are, in a line."""
    heads = len(carry.weights)
    named_shapes = [f"head {head} {_SHAPES[head % len(_SHAPES)]}" for head in range(heads)]
    shapes = f" ({', '.join(named_shapes)})" if heads > 1 else ""
    return (
        f"Dots{shapes}: where the state would be with all attention on that position, their area its weight; "
        "cross: e; star: z, in the last map h."
    )


def title(data: Data) -> str:
    labels, weights = data["labels"], data["carry"].weights
    here = format_token_position(labels, len(labels) - 1)
    looks = [
        f"{format_percent(row.max(), 0)} from {format_token_position(labels, int(row.argmax()))}"
        for row in weights
    ]
    heads = [f"head {head} takes {look}" for head, look in enumerate(looks)]
    takes = f"At {here} {', '.join(heads)}" if len(looks) > 1 else f"{here} takes {looks[0]}"
    return f"{takes}: {data['verdict']}"


def _foot(data: Data) -> str:
    hits = f"{{}} of the {data['carry'].weights.size} messages lie in their own answer's region."
    found = describe_slices({"Probability maps": data["sums"], "Final states": data["ends"]}, hits)
    return found or str(data["sums"]["plane"].note)


def caption(data: Data) -> str:
    carry: Carry = data["carry"]
    start = "e plus that message" if carry.is_residual else "that message (no residual connection keeps e)"
    several = carry.bias_words + (" and what the other heads write" if len(carry.weights) > 1 else "")
    is_mean = np.allclose(carry.weights.sum(1), 1, atol=1e-4)
    mean = ", so that the star, z, is the weighted mean of a head's dots" if is_mean else ""
    return f"""The last position of {" ".join(data["labels"])}. Probability maps: the feed-forward layer and
        the head evaluated on states after attention, for the tokens named with the reason for choosing
        them. A dot is where the state would be if the head attended to that position alone:
        {start}{several}; its area grows with its attention weight{mean}. The
        cross is e. Last map: the head alone, with the final state h and those that each message alone would
        lead to; z and h themselves lie in the maps' planes. Named are the
        {min(_MOST_NAMED, len(carry.labels))} largest weights of a head. {_foot(data)}"""
