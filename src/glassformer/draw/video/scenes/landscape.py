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

from glassformer.draw.measure.landscape import logits_of, slice_through
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import Frame
from glassformer.draw.parts.matrices import scale_bar, share_map
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme, token_colour
from glassformer.draw.video.checkpoints import checkpoints, plane_words, story
from glassformer.draw.video.legend import LEGEND, token_legend
from glassformer.draw.video.maps import pasted, region_painter, resized, shaded, shades
from glassformer.draw.video.moving import dots, trails
from glassformer.draw.video.outlook import Logits, chances, outlook, winners
from glassformer.draw.video.stage import ABOVE, BELOW, LEFT, WIDE, Mover, Stage, map_panel, set_stage
from glassformer.errors import UserError

SHOWN = 120  # trials whose final states are shown
SMALL_MAPS = 4  # of single tokens
BETWEEN, INSIDE = 0.4, 0.5  # cm between the maps, and between the small ones
SIDE = (WIDE - LEFT - LEGEND - 3 * BETWEEN) / 3
SMALL_SIDE = (SIDE - INSIDE) / 2

Seen = Callable[[int], tuple[Logits, Float[np.ndarray, "y x"]]]  # probabilities and entropy of a frame


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    trials = subject.trials
    if not len(trials):
        raise UserError(
            f"{subject.name}: its {subject.law} leaves every token open, so that there is nothing to get "
            "right"
        )
    contexts, following, allowed = trials.contexts[:SHOWN], trials.following[:SHOWN], trials.allowed[:SHOWN]
    states, answers, models = [], [], []
    for now in checkpoints(subject, shown):
        trace = now.model.trace(contexts)
        states.append(trace[f"{subject.layer}stream"][:, -1])
        answers.append(trace["logits"][:, -1].argmax(-1))
        models.append(now.model)
    plane = slice_through(states[-1], "final state", "the mean of the dots", subject.dims)
    plane = plane.spread_over("token that comes next")
    data = story(subject, shown) | {
        "plane": plane,
        "models": models,
        "points": np.stack([plane(one, following.astype(float)) for one in states]),  # frame trial 2
        "through": np.stack([one.mean(0, dtype=np.float64) for one in states]),  # frame dim
        "following": following,
        "answers": np.stack(answers),  # frame trial
        "right": allowed[np.arange(len(contexts)), np.stack(answers)],  # frame trial
        "maps": common(answers[-1], following),
    }
    return data | {"title": title(data), "about": about(data)}


def common(answers: Int[np.ndarray, " trial"], following: Int[np.ndarray, " trial"]) -> list[int]:
    """The tokens that the last step's model answers most often, then those that most often come."""
    ranked = [
        int(token)
        for found in (answers, following)
        for token in np.argsort(-np.bincount(found), kind="stable")
        if (found == token).any()
    ]
    return sorted(list(dict.fromkeys(ranked))[:SMALL_MAPS])


def title(data: Data) -> str:
    first, last = (int(data["right"][frame].sum()) for frame in (0, -1))
    return f"{data['name']}: from {first} to {last} right answers in {data['right'].shape[1]} contexts"


def about(data: Data) -> str:
    """How to read the dots, and what the plane leaves out."""
    marks = (
        "Maps: the head at every final state. Dots: where contexts end, in the colour of the token that "
        "comes next; red rim: the answer is not allowed."
    )
    return " ".join([marks, *plane_words({"": data["plane"]}), *agreement(data)])


def agreement(data: Data) -> list[str]:
    """For a slice: how many dots have their answer under them at the last step."""
    plane, through, points = data["plane"], data["through"][-1], data["points"][-1]
    if len(through) <= 2:
        return []
    logits = logits_of(data["models"][-1], replace(plane, through=through).lift(points), from_mid=False)
    same = int((logits.argmax(1) == data["answers"][-1]).sum())
    return [f"There {same} of the {len(points)} dots lie on their answer."]


def perform(data: Data, theme: Theme, width: int) -> Stage:
    stage = set_stage(data, theme, width, ABOVE + SIDE + BELOW)
    body, plane = stage.body, data["plane"]
    limits = plane.limits(data["points"])
    axes = map_panel(body, LEFT, ABOVE, SIDE, plane, limits, "most probable token")
    token_legend(body.part(LEFT + SIDE + BETWEEN / 2, ABOVE, LEGEND, SIDE), data["tokens"])
    logits = outlook(axes, plane, data["models"], through=data["through"])
    paint, fit = region_painter(data["tokens"], theme), resized(axes)
    stage.movers.append(pasted(axes, lambda index: fit(paint(winners(logits(index))))))
    stage.movers.extend(state_movers(axes, data, theme))
    seen: Seen = lru_cache(maxsize=1)(lambda index: chances(logits(index)))
    second = LEFT + SIDE + LEGEND + BETWEEN
    stage.movers.extend(entropy_movers(body.part(second, ABOVE, SIDE, SIDE + BELOW), limits, seen, data))
    third = body.part(second + SIDE + BETWEEN, ABOVE, SIDE, SIDE + BELOW)
    for place, token in enumerate(data["maps"]):
        stage.movers.extend(chance_movers(third, place, token, limits, seen, data))
    add_scale(third, 1.0, (0, 0.5, 1), theme)
    return stage


def state_movers(axes: Axes, data: Data, theme: Theme) -> list[Mover]:
    """Where the contexts end, and which of them the model has wrong."""
    colours = [token_colour(data["tokens"][token]) for token in data["following"]]
    rims = to_rgba_array([theme.bad, theme.paper])[data["right"].astype(int)]  # frame trial 4
    return [
        trails(axes, data["points"], colours, 0.8),
        dots(axes, data["points"], colours, theme, 17.0, rims=rims),
    ]


def entropy_movers(frame: Frame, limits: np.ndarray, seen: Seen, data: Data) -> list[Mover]:
    """How open the answer is, from one certain token to all alike."""
    theme, highest = frame.theme, float(np.log(len(data["tokens"])))
    axes = bare_map(frame, 0, 0, SIDE, limits, "entropy of the answer (nats)")
    add_scale(frame, highest, (0, 1, 2), theme)
    colours, fit = shades(share_map(theme)), resized(axes)
    inks = [token_colour(data["tokens"][token]) for token in data["following"]]
    return [
        pasted(axes, lambda index: fit(shaded(seen(index)[1], 0.0, highest, colours))),
        dots(axes, data["points"], inks, theme, 8.0),
    ]


def chance_movers(
    frame: Frame, place: int, token: int, limits: np.ndarray, seen: Seen, data: Data
) -> list[Mover]:
    """One token's probability, and the contexts after which it comes."""
    theme, name = frame.theme, data["tokens"][token]
    row, column = divmod(place, 2)
    corner = column * (SMALL_SIDE + INSIDE), row * (SMALL_SIDE + INSIDE)
    axes = bare_map(frame, *corner, SMALL_SIDE, limits, f"P({name})")
    colours, own = shades(share_map(theme)), data["points"][:, data["following"] == token]
    pick = resized(axes)
    return [
        pasted(axes, lambda index: pick(shaded(seen(index)[0][token], 0.0, 1.0, colours))),
        dots(axes, own, [token_colour(name)] * own.shape[1], theme, 8.0),
    ]


def bare_map(frame: Frame, x: float, y: float, side: float, limits: np.ndarray, title: str) -> Axes:
    """A map with the limits of the first one, which has the names of the axes."""
    axes = frame.axes(x, y, side, side, xlim=limits[0], ylim=limits[1], xticks=[], yticks=[])
    axes.set_title(title)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def add_scale(frame: Frame, highest: float, ticks: Sequence[float], theme: Theme) -> None:
    """The colour scale under a map."""
    bar = frame.axes(0.2 * SIDE, SIDE + 0.15, 0.6 * SIDE, 0.12)
    scale_bar(bar, ScalarMappable(Normalize(0, highest), share_map(theme)), theme, ticks=ticks)
