"""Landscape with values: what the rest of the model says at every sum z, and every message that may be added.

A context's state after attention is z = embedding + weighted sum of messages; without residual connections
it is that sum alone. From z on no position sees another, so the map holds for all of them.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.core.words import choose_plural
from glassformer.pictures.measure.landings import (
    Landings,
    TokenMaps,
    collect_landings,
    collect_trial_states,
    describe_mapped_tokens,
    describe_projection,
    format_part,
    make_token_maps,
    require_true_slice,
)
from glassformer.pictures.measure.landscape import make_landscape, make_slice
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.labels import Taken
from glassformer.pictures.parts.map_sheet import MapSheet, draw_atlas, draw_landings, draw_token_landings
from glassformer.pictures.parts.marks import draw_token_cloud
from glassformer.pictures.parts.regions import draw_winner_regions
from glassformer.pictures.picture import Data, find_task_words, read_part, unpack_part


def compute(subject: Subject) -> Data:
    messages = subject.messages  # head tok pos dim
    sums = collect_trial_states(subject, "mid")  # trial pos dim
    places = np.arange(subject.context, dtype=float)
    plane = make_slice(sums[:, -1], "z", "the mean sum z of real contexts", subject.dims)
    land = collect_landings(subject, plane(sums, places[: sums.shape[1]]))
    drawn = plane(messages, places)  # head tok pos 2
    limits = plane.limits(land.points, land.others, drawn)
    maps = make_token_maps(make_landscape(subject.model, plane, limits, from_mid=True), land)
    require_true_slice(plane, maps.agreeing, len(land.points))
    remark = describe_projection(plane, maps.agreeing, len(land.points))
    return {
        **unpack_part(land),
        **unpack_part(maps),
        "plane": plane,
        "messages": drawn,
        "residual": subject.model.architecture.layers[-1].residual,
        "has_bias": bool(subject.attention_bias.any()),
        "remark": remark + _describe_value_vectors(plane.through),
    }


def _describe_value_vectors(through: np.ndarray) -> str:
    return " Values are vectors from the origin; they need not lie in the slice." if len(through) > 2 else ""


def draw(data: Data, theme: Theme) -> Figure:
    heads = len(data["messages"])
    land, maps = read_part(data, Landings), read_part(data, TokenMaps)
    sheet = MapSheet(land, maps, data["plane"], data["remark"])

    def on_large(axes: Axes, head: int) -> None:
        messages = data["messages"][head]  # tok pos 2
        taken: Taken = []
        avoid = np.concatenate([land.points, messages.reshape(-1, 2)])
        draw_winner_regions(axes, maps.winner, maps.limits, land.tokens, theme, taken, avoid=avoid)
        draw_landings(axes, land.others, land.others_predicted, land.tokens, theme, 4.0)
        draw_landings(axes, land.points, land.predicted, land.tokens, theme, 14.0, level=4)
        draw_token_cloud(axes, messages, data["tokens"], theme, marker="s", size=5.0, taken=taken)

    def on_small(axes: Axes, token: int) -> None:
        draw_token_landings(axes, token, land, theme)
        for messages in data["messages"]:
            look = {"color": pick_token_colour(data["tokens"][token]), "markeredgecolor": theme.ink}
            axes.plot(*messages[token].T, "s-", markersize=2.2, markeredgewidth=0.3, linewidth=0.5, **look)

    whose = [f"head {head}" for head in range(heads)] if heads > 1 else ["values"]
    names = [f"z (dots), {name} (squares)" for name in whose]
    return draw_atlas(sheet, theme, title(data), names, on_large, on_small)


def title(data: Data) -> str:
    words, right = find_task_words(data), format_part(data["right"], data["contexts"])
    return (
        f"After attention {right} real {words['input']}s are in the region of a token that the "
        f"{words['law']} allows"
    )


def _describe_earlier_sums(data: Data) -> str:
    """Of the sums before the last, where the task asks for something there too."""
    return f"; small dots: {len(data['others'])} sums at earlier positions" if len(data["others"]) else ""


def caption(data: Data) -> str:
    grid, count, words = len(data["winner"]), len(data["points"]), find_task_words(data)
    heads, tokens, places, _ = data["messages"].shape
    relation = "is the embedding plus" if data["residual"] else "is (there are no residual connections)"
    several = choose_plural(heads, "head")
    bias = " and the output bias" if data["has_bias"] else ""
    return f"""The feed-forward layer and the head evaluated on {grid} x {grid} states z: the most probable
        token, the entropy, and the probability of each of the {len(data["maps"])} tokens that real
        {words["input"]}s are {describe_mapped_tokens(len(data["maps"]))}. Dots: the sums z at the last
        position of {count} of {data["contexts"]:,} {words["input"]}s sampled from the {words["law"]}, in the
        colour of the token that the model predicts; {data["agreeing"]} of the {count} have the colour of the
        map under them{_describe_earlier_sums(data)}. Squares: all {heads * tokens * places}
        values ({tokens} tokens at {places} positions, {heads} {several}), as they are added to the stream,
        joined from p0 (large) to the last position; on a token's own map, its own values. A sum
        {relation} the sum of values weighted by attention{bias}.
        {data["remark"]}"""
