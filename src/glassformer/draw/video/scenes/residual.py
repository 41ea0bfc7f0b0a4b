"""One sequence at every saved step: from embedding e to sum z to final state h, and what is answered there.

The map is the head's: h in the region of 6 says 6. The same answers, with their probabilities, are beside it.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize, to_rgba_array
from matplotlib.patches import Rectangle

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import BODY, Frame
from glassformer.draw.parts.matrices import name_ticks, scale_bar, share_map
from glassformer.draw.parts.sequence_matrices import column_names
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme, mixed, token_colour
from glassformer.draw.video.checkpoints import checkpoint, checkpoints, first_sequence, plane_words, story
from glassformer.draw.video.legend import LEGEND, token_legend
from glassformer.draw.video.maps import matrix_mover, pasted, region_painter, resized, shades
from glassformer.draw.video.moving import arrows, dots, labels, trails
from glassformer.draw.video.outlook import outlook, winners
from glassformer.draw.video.stage import (
    ABOVE,
    BELOW,
    LEFT,
    WIDE,
    Mover,
    Stage,
    column_left,
    map_panel,
    set_stage,
)
from glassformer.model.forward import prefix

HEADINGS = 0.4  # cm for the names above the matrix
SIDE = (WIDE - 2 * LEFT - LEGEND - 0.5) / 3
MOST_NAMED = 16  # places whose tokens have labels: the last ones of a longer sequence
MOST_ANSWERS = 5  # places before the last one whose answers have labels


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    sequence, layer = first_sequence(subject), subject.layer
    plane = checkpoint(subject, shown[-1]).stream_plane.spread_over("position")
    places = np.arange(len(sequence), dtype=float)
    tracks, last, logits, models = [], [], [], []
    for now in checkpoints(subject, shown):
        trace = now.model.trace(sequence)
        stops = [trace[name] for name in (entering(subject), f"{layer}mid", f"{layer}stream")]
        tracks.append([plane(stop, places) for stop in stops])
        last.append([stop[-1] for stop in stops[1:]])
        logits.append(trace["logits"])
        models.append(now.model)
    chances = softmax(np.array(logits, np.float64))  # frame pos tok
    data = story(subject, shown) | {
        "plane": plane,
        "models": models,
        "labels": subject.labels(0),
        "stops": np.array(tracks),  # frame stop pos 2
        "last": np.array(last, np.float64),  # frame (z, h) dim
        "chances": chances,
        "answers": chances.argmax(-1),
        "demands": demand_table(subject),
        "law": subject.law,
        "residual": subject.model.architecture.layers[-1].residual,
    }
    return data | {"title": title(data), "about": about(data)}


def entering(subject: Subject) -> str:
    """The name of the stream before the last layer."""
    shape = subject.model.architecture
    return "embedded" if len(shape.layers) == 1 else f"{prefix(shape, len(shape.layers) - 2)}stream"


def softmax(logits: Float[np.ndarray, "*any tok"]) -> Float[np.ndarray, "*any tok"]:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def demand_table(subject: Subject) -> np.ndarray:
    """True for the tokens that the task allows after each place where it has a say: `pos tok`."""
    nothing = np.zeros(len(subject.tokens), bool)
    return np.array([nothing if one is None else one for one in subject.demands(0)])


def title(data: Data) -> str:
    last, tokens = len(data["labels"]) - 1, data["tokens"]
    first, final = (tokens[data["answers"][frame, last]] for frame in (0, -1))
    says = f"{first} at first and at last" if first == final else f"{first} at first and {final} at last"
    return f"{data['name']}: after {data['labels'][-1]} at p{last} it says {says}"


def about(data: Data) -> str:
    """How to read the arrows, and what the plane leaves out."""
    moves = ("e + attention", "z + feed-forward") if data["residual"] else ("attention", "feed-forward of z")
    frames = [f"Frames: what the {data['law']} allows."] if data["demands"].any() else []
    is_wide = data["last"].shape[-1] > 2
    slices = ["The maps are slices through z and h of the last place."] if is_wide else []
    marks = (
        f"Arrows of every place: from e (disc: its token) to z = {moves[0]}, to h = {moves[1]} (tile: the "
        "answer); strong: the last place."
    )
    return " ".join([marks, *frames, *plane_words({"": data["plane"]}), *slices])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    stage = set_stage(data, theme, width, ABOVE + HEADINGS + SIDE + BELOW)
    body, plane = stage.body.part(0, ABOVE + HEADINGS, WIDE, SIDE + BELOW), data["plane"]
    boxes = plane.limits(data["stops"][:, :2], room=0.12), plane.limits(data["stops"], room=0.1)
    for column, title in enumerate(
        ("e to z, and the answer at every z", "z to h, and the answer at every h")
    ):
        axes = map_panel(body, column_left(column, SIDE), 0, SIDE, plane, boxes[column], title)
        axes.set_title(title, pad=14)  # in a line with that of the matrix
        axes.set_ylabel(plane.labels[1] if column == 0 else "")  # it is the same plane
        stage.movers.append(map_mover(axes, data, theme, from_mid=column == 0))
        stage.movers.extend((sum_movers, final_movers)[column](axes, data, theme))
    left = 2 * (LEFT + SIDE) + 0.4
    token_legend(body.part(left, 0, LEGEND, SIDE), data["tokens"])
    rest = body.part(left + LEGEND + 0.08, 0, WIDE - left - LEGEND - 0.08, SIDE + BELOW)
    stage.movers.extend(answer_movers(rest, data))
    return stage


def map_mover(axes: Axes, data: Data, theme: Theme, from_mid: bool) -> Mover:
    """The answer at every state; of a wide model, on the slice through the last place's own state."""
    through = data["last"][:, 0 if from_mid else 1]
    logits = outlook(axes, data["plane"], data["models"], from_mid, through)
    paint, fit = region_painter(data["tokens"], theme), resized(axes)
    return pasted(axes, lambda index: fit(paint(winners(logits(index)))))


def sum_movers(axes: Axes, data: Data, theme: Theme) -> list[Mover]:
    """From e, with its token beside it, to z."""
    start, middle = data["stops"][:, 0], data["stops"][:, 1]
    colours = [token_colour(label) for label in data["labels"]]
    named = slice(max(0, len(colours) - MOST_NAMED), None)
    return [
        trails(axes, middle, colours),
        arrows(axes, start, middle, *arrow_looks(data, theme)),
        dots(axes, start, colours, theme, 14.0),
        labels(
            axes, start[:, named], (start - middle)[:, named], data["labels"][named], colours[named], theme
        ),
    ]


def final_movers(axes: Axes, data: Data, theme: Theme) -> list[Mover]:
    """From e to z to h, with the answer beside it."""
    start, middle, end = (data["stops"][:, stop] for stop in range(3))
    colours = [token_colour(label) for label in data["labels"]]
    fills, answers = [token_colour(token) for token in data["tokens"]], data["answers"]
    named = answered(data["demands"])
    looks = arrow_looks(data, theme)
    return [
        trails(axes, end, colours),
        arrows(axes, start, middle, *looks),
        arrows(axes, middle, end, *looks),
        dots(axes, end, colours, theme, 14.0, "s", faces=to_rgba_array(fills)[answers]),
        labels(
            axes, end[:, named], (end - middle)[:, named], data["tokens"], fills, theme, answers[:, named]
        ),
    ]  # fmt: skip


def answered(demands: Bool[np.ndarray, "pos tok"]) -> list[int]:
    """The places whose answers are named: the last one, and those before it where the rule has a say."""
    *before, _ = range(len(demands))
    return [*[place for place in before if demands[place].any()][-MOST_ANSWERS:], len(demands) - 1]


def arrow_looks(data: Data, theme: Theme) -> tuple[list[str], list[float]]:
    """Colours and widths: all places thin, in their tokens' colours, the last one strong."""
    thin = [mixed(theme.ink, token_colour(label), 0.35) for label in data["labels"][:-1]]
    return [*thin, theme.ink], [0.9] * len(thin) + [2.0]


def answer_movers(frame: Frame, data: Data) -> list[Mover]:
    """The probability of every next token after every place; what the rule allows is framed."""
    theme, names = frame.theme, data["labels"]
    axes = frame.axes(
        0, 0, frame.width, SIDE, xlim=(-0.5, len(names) - 0.5), ylim=(len(data["tokens"]) - 0.5, -0.5)
    )
    name_ticks(axes, (), column_names(axes, names))
    axes.set_title("P(next token), after each place", fontsize=BODY, pad=14)
    for spine in axes.spines.values():
        spine.set_visible(False)
    colours = share_map(theme)
    bar = frame.axes(0.25 * frame.width, SIDE + 0.15, 0.5 * frame.width, 0.12)
    scale_bar(bar, ScalarMappable(Normalize(0, 1), colours), theme, ticks=(0, 0.5, 1))
    matrix = data["chances"].transpose(0, 2, 1)  # frame tok pos
    return [matrix_mover(axes, matrix, 0.0, 1.0, shades(colours), theme), demand_frames(axes, data, theme)]


def demand_frames(axes: Axes, data: Data, theme: Theme) -> Mover:
    """Frames around what the rule allows, where it has a say."""
    boxes = [Rectangle((place - 0.5, token - 0.5), 1, 1) for place, token in np.argwhere(data["demands"])]
    drawn = PatchCollection(boxes, facecolors="none", edgecolors=theme.accent, linewidths=1.0, animated=True)
    drawn.set_clip_on(False)
    axes.add_collection(drawn, autolim=False)
    return lambda _: axes.draw_artist(drawn)
