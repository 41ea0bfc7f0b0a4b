"""Output landscape: what the head says at every final state, and where real contexts end.

A final state in the region of 4 is a prediction of 4; the probability maps tell how sure it is.
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
    sentence,
)
from glassformer.draw.measure.landscape import landscape, slice_through
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.map_sheet import draw_atlas, landed, landed_on
from glassformer.draw.parts.regions import regions
from glassformer.draw.picture import Data, words_of
from glassformer.draw.theme import Theme


def compute(subject: Subject) -> Data:
    states = real_states(subject, "stream")  # trial pos dim
    plane = slice_through(states[:, -1], "final state", "the mean final state of real contexts", subject.dims)
    found = landings(subject, plane(states, np.arange(states.shape[1], dtype=float)))
    limits = plane.limits(found["points"], found["others"])
    found |= mapped(landscape(subject.model, plane, limits, from_mid=False), found)
    require_true_slice(plane, found)
    return found | {"plane": plane, "remark": remark(plane, found), "is_slice": len(plane.through) > 2}


def draw(data: Data, theme: Theme) -> Figure:
    def on_large(axes: Axes, _: int) -> None:
        everything = np.concatenate([data["points"], data["others"]])
        regions(axes, data["winner"], data["limits"], data["tokens"], theme, avoid=everything)
        landed(axes, data["others"], data["others_predicted"], data, theme, 6.0)
        landed(axes, data["points"], data["predicted"], data, theme, 16.0)

    def on_small(axes: Axes, token: int) -> None:
        landed_on(axes, token, data, theme)

    return draw_atlas(data, theme, title(data), ["most probable token"], on_large, on_small)


def title(data: Data) -> str:
    words = words_of(data)
    ends = counted(data["right"], data["contexts"])
    answers = counted(len(data["answers"]), len(data["tokens"]))
    return sentence(
        f"{ends} real {words['input']}s end in the region of a token that the {words['law']} allows; "
        f"the answers are {answers} tokens"
    )


def agreeing(data: Data) -> str:
    count = len(data["points"])
    return f"{data['agreeing']} of the {count} large points have the colour of the map under them."


def others_words(data: Data) -> str:
    """Of the states before the last, where the task asks for something there too."""
    count = len(data["others"])
    return f"; small ones on the first map: {count} states at earlier places" if count else ""


def caption(data: Data) -> str:
    grid, count, words = len(data["winner"]), len(data["points"]), words_of(data)
    return f"""The head, and nothing else, evaluated on {grid} x {grid} final states: the most probable token,
        the entropy, and the probability of each of the {len(data["maps"])} tokens that real
        {words["input"]}s are {mapped_words(data)}. Large points: final states at the last place of
        {count} of {data["contexts"]:,} {words["input"]}s drawn from the {words["law"]}, where it has a say,
        in the colour of the token that the model predicts{others_words(data)}.
        {"" if data["is_slice"] else agreeing(data)}
        {data["remark"]}"""
