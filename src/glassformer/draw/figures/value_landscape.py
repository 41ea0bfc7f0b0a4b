"""Landscape with values: what the rest of the model says at every sum z, and every message that may be added.

A context's state after attention is z = embedding + weighted sum of messages; without residual connections
it is that sum alone. From z on no place sees another, so the map holds for all of them.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.measure.landings import (
    counted,
    landings,
    mapped,
    mapped_words,
    real_states,
    remark,
    require_true_slice,
)
from glassformer.draw.measure.landscape import landscape, slice_through
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.labels import Taken
from glassformer.draw.parts.map_sheet import draw_atlas, landed, landed_on
from glassformer.draw.parts.marks import cloud
from glassformer.draw.parts.regions import regions
from glassformer.draw.picture import Data, words_of
from glassformer.draw.theme import Theme, token_colour


def compute(subject: Subject) -> Data:
    messages = subject.messages  # head tok pos dim
    sums = real_states(subject, "mid")  # trial pos dim
    places = np.arange(subject.context, dtype=float)
    plane = slice_through(sums[:, -1], "z", "the mean sum z of real contexts", subject.dims)
    found = landings(subject, plane(sums, places[: sums.shape[1]]))
    drawn = plane(messages, places)  # head tok pos 2
    limits = plane.limits(found["points"], found["others"], drawn)
    found |= mapped(landscape(subject.model, plane, limits, from_mid=True), found)
    require_true_slice(plane, found)
    found |= {
        "plane": plane,
        "messages": drawn,
        "residual": subject.model.architecture.layers[-1].residual,
        "has_bias": bool(subject.attention_bias.any()),
    }
    return found | {"remark": remark(plane, found) + others_than_sums(plane.through)}


def others_than_sums(through: np.ndarray) -> str:
    return " Values are vectors from the origin; they need not lie in the slice." if len(through) > 2 else ""


def draw(data: Data, theme: Theme) -> Figure:
    heads = len(data["messages"])

    def on_large(axes: Axes, head: int) -> None:
        messages = data["messages"][head]  # tok pos 2
        taken: Taken = []
        avoid = np.concatenate([data["points"], messages.reshape(-1, 2)])
        regions(axes, data["winner"], data["limits"], data["tokens"], theme, taken, avoid=avoid)
        landed(axes, data["others"], data["others_predicted"], data, theme, 4.0)
        landed(axes, data["points"], data["predicted"], data, theme, 14.0, level=4)
        cloud(axes, messages, data["tokens"], theme, marker="s", size=5.0, taken=taken)

    def on_small(axes: Axes, token: int) -> None:
        landed_on(axes, token, data, theme)
        for messages in data["messages"]:
            look = {"color": token_colour(data["tokens"][token]), "markeredgecolor": theme.ink}
            axes.plot(*messages[token].T, "s-", markersize=2.2, markeredgewidth=0.3, linewidth=0.5, **look)

    whose = [f"head {head}" for head in range(heads)] if heads > 1 else ["values"]
    names = [f"z (dots), {name} (squares)" for name in whose]
    return draw_atlas(data, theme, title(data), names, on_large, on_small)


def title(data: Data) -> str:
    words, right = words_of(data), counted(data["right"], data["contexts"])
    return (
        f"After attention {right} real {words['input']}s are already where the rest of the model makes them "
        f"a token that the {words['law']} allows"
    )


def others_words(data: Data) -> str:
    """Of the sums before the last, where the task asks for something there too."""
    return f"; small dots: {len(data['others'])} sums at earlier places" if len(data["others"]) else ""


def caption(data: Data) -> str:
    grid, count, words = len(data["winner"]), len(data["points"]), words_of(data)
    heads, tokens, places, _ = data["messages"].shape
    relation = "is the embedding plus" if data["residual"] else "is (there are no residual connections)"
    several = "head" if heads == 1 else "heads"
    bias = " and the output bias" if data["has_bias"] else ""
    return f"""The feed-forward layer and the head evaluated on {grid} x {grid} states z: the most probable
        token, the entropy, and the probability of each of the {len(data["maps"])} tokens that real
        {words["input"]}s are {mapped_words(data)}. Dots: the sums z at the last place of {count} of
        {data["contexts"]:,} {words["input"]}s drawn from the {words["law"]}, in the colour of the token that
        the model predicts; {data["agreeing"]} of the {count} have the colour of the map under
        them{others_words(data)}. Squares: all {heads * tokens * places}
        values ({tokens} tokens at {places} places, {heads} {several}), as they are added to the stream,
        joined from p0 (large) to the last place; on a token's own map, its own values. A sum {relation} the
        sum of values weighted by attention{bias}.
        {data["remark"]}"""
