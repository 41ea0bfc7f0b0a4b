"""Output landscape: what the head predicts at every final state, and where real contexts end.

A final state in the region of 4 is a prediction of 4; the probability maps tell how sure it is.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.pictures.measure.landings import (
    Landings,
    TokenMaps,
    capitalise_text,
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
from glassformer.pictures.parts.map_sheet import MapSheet, draw_atlas, draw_landings, draw_token_landings
from glassformer.pictures.parts.regions import draw_winner_regions
from glassformer.pictures.picture import Data, find_task_words, read_part, unpack_part


def compute(subject: Subject) -> Data:
    states = collect_trial_states(subject, "stream")  # trial pos dim
    plane = make_slice(states[:, -1], "final state", "the mean final state of real contexts", subject.dims)
    land = collect_landings(subject, plane(states, np.arange(states.shape[1], dtype=float)))
    limits = plane.limits(land.points, land.others)
    maps = make_token_maps(make_landscape(subject.model, plane, limits, from_mid=False), land)
    require_true_slice(plane, maps.agreeing, len(land.points))
    return {
        **unpack_part(land),
        **unpack_part(maps),
        "plane": plane,
        "remark": describe_projection(plane, maps.agreeing, len(land.points)),
        "is_slice": len(plane.through) > 2,
    }


def draw(data: Data, theme: Theme) -> Figure:
    land, maps = read_part(data, Landings), read_part(data, TokenMaps)
    sheet = MapSheet(land, maps, data["plane"], data["remark"])

    def on_large(axes: Axes, _: int) -> None:
        everything = np.concatenate([land.points, land.others])
        draw_winner_regions(axes, maps.winner, maps.limits, land.tokens, theme, avoid=everything)
        draw_landings(axes, land.others, land.others_predicted, land.tokens, theme, 6.0)
        draw_landings(axes, land.points, land.predicted, land.tokens, theme, 16.0)

    def on_small(axes: Axes, token: int) -> None:
        draw_token_landings(axes, token, land, theme)

    return draw_atlas(sheet, theme, title(data), ["most probable token"], on_large, on_small)


def title(data: Data) -> str:
    words = find_task_words(data)
    ends = format_part(data["right"], data["contexts"])
    answers = format_part(len(data["answers"]), len(data["tokens"]))
    return capitalise_text(
        f"{ends} real {words['input']}s end in the region of a token that the {words['law']} allows; "
        f"the answers are {answers} tokens"
    )


def _describe_agreement(data: Data) -> str:
    count = len(data["points"])
    return f"{data['agreeing']} of the {count} large points have the colour of the map under them."


def _describe_earlier_states(data: Data) -> str:
    """Of the states before the last, where the task asks for something there too."""
    count = len(data["others"])
    return f"; small ones on the first map: {count} states at earlier positions" if count else ""


def caption(data: Data) -> str:
    grid, count, words = len(data["winner"]), len(data["points"]), find_task_words(data)
    return f"""The head alone, evaluated on {grid} x {grid} final states: the most probable token,
        the entropy, and the probability of each of the {len(data["maps"])} tokens that real
        {words["input"]}s are {describe_mapped_tokens(len(data["maps"]))}. Large points: final states at the
        last position of {count} of {data["contexts"]:,} {words["input"]}s sampled from the
        {words["law"]}, where it constrains the next token, in the colour of the token that the model
        predicts{_describe_earlier_states(data)}.
        {"" if data["is_slice"] else _describe_agreement(data)}
        {data["remark"]}"""
