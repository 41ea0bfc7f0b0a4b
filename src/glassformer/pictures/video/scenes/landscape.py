"""What the head says at every final state, at every saved step, and where real contexts end.

A dot in the region of its own colour is a context whose next token the model has got right.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgba_array

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.pictures.measure.landscape import compute_state_logits, make_slice
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.matrices import draw_scale_bar, make_share_colours
from glassformer.pictures.picture import Data
from glassformer.pictures.video.checkpoints import (
    collect_video_data,
    describe_video_planes,
    iterate_checkpoints,
)
from glassformer.pictures.video.legend import LEGEND, draw_token_legend
from glassformer.pictures.video.maps import (
    list_shades,
    make_map_mover,
    make_region_painter,
    make_resizer,
    shade_values,
)
from glassformer.pictures.video.moving import make_dot_mover, make_trail_mover
from glassformer.pictures.video.outlook import Logits, compute_chances, find_winners, make_outlook
from glassformer.pictures.video.stage import ABOVE, BELOW, LEFT, WIDE, Mover, Stage, add_map_panel, set_stage

_SHOWN = 120  # trials whose final states are shown
_SMALL_MAPS = 4  # of single tokens
_BETWEEN, _INSIDE = 0.4, 0.5  # cm between the maps, and between the small ones
_SIDE = (WIDE - LEFT - LEGEND - 3 * _BETWEEN) / 3
_SMALL_SIDE = (_SIDE - _INSIDE) / 2

_Seen = Callable[[int], tuple[Logits, Float[np.ndarray, "y x"]]]  # probabilities and entropy of a frame


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    trials = subject.trials
    if not len(trials):
        raise UserError(
            f"{subject.name}: its {subject.law} leaves every token open, so that there is nothing to get "
            "right"
        )
    contexts, following, allowed = (
        trials.contexts[:_SHOWN],
        trials.following[:_SHOWN],
        trials.allowed[:_SHOWN],
    )
    states, answers, models = [], [], []
    for now in iterate_checkpoints(subject, shown):
        trace = now.model.trace(contexts)
        states.append(trace[f"{subject.layer}stream"][:, -1])
        answers.append(trace["logits"][:, -1].argmax(-1))
        models.append(now.model)
    plane = make_slice(states[-1], "final state", "the mean of the dots", subject.dims)
    plane = plane.spread_over("token that comes next")
    data = collect_video_data(subject, shown) | {
        "plane": plane,
        "models": models,
        "points": np.stack([plane(one, following.astype(float)) for one in states]),  # frame trial 2
        "through": np.stack([one.mean(0, dtype=np.float64) for one in states]),  # frame dim
        "following": following,
        "answers": np.stack(answers),  # frame trial
        "right": allowed[np.arange(len(contexts)), np.stack(answers)],  # frame trial
        "maps": _rank_common_tokens(answers[-1], following),
    }
    return data | {"title": title(data), "about": _describe_landscape_dots(data)}


def _rank_common_tokens(
    answers: Int[np.ndarray, " trial"], following: Int[np.ndarray, " trial"]
) -> list[int]:
    """The tokens that the last step's model answers most often, then those that most often come."""
    ranked = [
        int(token)
        for found in (answers, following)
        for token in np.argsort(-np.bincount(found), kind="stable")
        if (found == token).any()
    ]
    return sorted(list(dict.fromkeys(ranked))[:_SMALL_MAPS])


def title(data: Data) -> str:
    first, last = (int(data["right"][frame].sum()) for frame in (0, -1))
    return f"{data['name']}: from {first} to {last} right answers in {data['right'].shape[1]} contexts"


def _describe_landscape_dots(data: Data) -> str:
    """How to read the dots, and what the plane leaves out."""
    marks = (
        "Maps: the head at every final state. Dots: where contexts end, in the colour of the token that "
        f"comes next; {name_colour('bad')} rim: the answer is not allowed."
    )
    return " ".join([marks, *describe_video_planes({"": data["plane"]}), *_describe_dot_agreement(data)])


def _describe_dot_agreement(data: Data) -> list[str]:
    """For a slice: how many dots have their answer under them at the last step."""
    plane, through, points = data["plane"], data["through"][-1], data["points"][-1]
    if len(through) <= 2:
        return []
    logits = compute_state_logits(
        data["models"][-1], replace(plane, through=through).lift(points), from_mid=False
    )
    same = int((logits.argmax(1) == data["answers"][-1]).sum())
    return [f"There {same} of the {len(points)} dots lie on their answer."]


def perform(data: Data, theme: Theme, width: int) -> Stage:
    stage = set_stage(data, theme, width, ABOVE + _SIDE + BELOW)
    body, plane = stage.body, data["plane"]
    limits = plane.limits(data["points"])
    axes = add_map_panel(body, LEFT, ABOVE, _SIDE, plane, limits, "most probable token")
    draw_token_legend(body.part(LEFT + _SIDE + _BETWEEN / 2, ABOVE, LEGEND, _SIDE), data["tokens"])
    logits = make_outlook(axes, plane, data["models"], through=data["through"])
    paint, fit = make_region_painter(data["tokens"], theme), make_resizer(axes)
    stage.movers.append(make_map_mover(axes, lambda index: fit(paint(find_winners(logits(index))))))
    stage.movers.extend(_make_state_movers(axes, data, theme))
    seen: _Seen = lru_cache(maxsize=1)(lambda index: compute_chances(logits(index)))
    second = LEFT + _SIDE + LEGEND + _BETWEEN
    stage.movers.extend(
        _make_entropy_movers(body.part(second, ABOVE, _SIDE, _SIDE + BELOW), limits, seen, data)
    )
    third = body.part(second + _SIDE + _BETWEEN, ABOVE, _SIDE, _SIDE + BELOW)
    for place, token in enumerate(data["maps"]):
        stage.movers.extend(_make_chance_movers(third, place, token, limits, seen, data))
    _add_colour_scale(third, 1.0, (0, 0.5, 1), theme)
    return stage


def _make_state_movers(axes: Axes, data: Data, theme: Theme) -> list[Mover]:
    """Where the contexts end, and which of them the model has wrong."""
    colours = [pick_token_colour(data["tokens"][token]) for token in data["following"]]
    rims = to_rgba_array([theme.bad, theme.paper])[data["right"].astype(int)]  # frame trial 4
    return [
        make_trail_mover(axes, data["points"], colours, 0.8),
        make_dot_mover(axes, data["points"], colours, theme, 17.0, rims=rims),
    ]


def _make_entropy_movers(frame: Frame, limits: np.ndarray, seen: _Seen, data: Data) -> list[Mover]:
    """How open the answer is, from one certain token to all alike."""
    theme, highest = frame.theme, float(np.log(len(data["tokens"])))
    axes = _add_bare_map(frame, 0, 0, _SIDE, limits, "entropy of the answer (nats)")
    _add_colour_scale(frame, highest, (0, 1, 2), theme)
    colours, fit = list_shades(make_share_colours(theme)), make_resizer(axes)
    inks = [pick_token_colour(data["tokens"][token]) for token in data["following"]]
    return [
        make_map_mover(axes, lambda index: fit(shade_values(seen(index)[1], 0.0, highest, colours))),
        make_dot_mover(axes, data["points"], inks, theme, 8.0),
    ]


def _make_chance_movers(
    frame: Frame, place: int, token: int, limits: np.ndarray, seen: _Seen, data: Data
) -> list[Mover]:
    """One token's probability, and the contexts after which it comes."""
    theme, name = frame.theme, data["tokens"][token]
    row, column = divmod(place, 2)
    corner = column * (_SMALL_SIDE + _INSIDE), row * (_SMALL_SIDE + _INSIDE)
    axes = _add_bare_map(frame, *corner, _SMALL_SIDE, limits, f"P({name})")
    colours, own = list_shades(make_share_colours(theme)), data["points"][:, data["following"] == token]
    pick = make_resizer(axes)
    return [
        make_map_mover(axes, lambda index: pick(shade_values(seen(index)[0][token], 0.0, 1.0, colours))),
        make_dot_mover(axes, own, [pick_token_colour(name)] * own.shape[1], theme, 8.0),
    ]


def _add_bare_map(frame: Frame, x: float, y: float, side: float, limits: np.ndarray, title: str) -> Axes:
    """A map with the limits of the first one, which has the names of the axes."""
    axes = frame.axes(x, y, side, side, xlim=limits[0], ylim=limits[1], xticks=[], yticks=[])
    axes.set_title(title)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def _add_colour_scale(frame: Frame, highest: float, ticks: Sequence[float], theme: Theme) -> None:
    """The colour scale under a map."""
    bar = frame.axes(0.2 * _SIDE, _SIDE + 0.15, 0.6 * _SIDE, 0.12)
    draw_scale_bar(bar, ScalarMappable(Normalize(0, highest), make_share_colours(theme)), theme, ticks=ticks)
