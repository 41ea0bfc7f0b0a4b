"""One sequence at every saved step: from embedding e to sum z to final state h, and what is answered there.

The map is the head's: h in the region of 6 says 6. The same answers, with their probabilities, are beside it.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize, to_rgba_array
from matplotlib.patches import Rectangle

from glassformer.core.theme import Theme, mix_colours, pick_token_colour
from glassformer.models.forward import format_layer_prefix
from glassformer.pictures.measure.landscape import softmax
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import BODY, Frame
from glassformer.pictures.parts.matrices import draw_scale_bar, make_share_colours, name_ticks
from glassformer.pictures.parts.sequence_matrices import choose_column_names
from glassformer.pictures.picture import Data
from glassformer.pictures.video.checkpoints import (
    choose_video_sequence,
    collect_video_data,
    describe_video_planes,
    iterate_checkpoints,
    make_checkpoint_subject,
)
from glassformer.pictures.video.legend import LEGEND, draw_token_legend
from glassformer.pictures.video.maps import (
    list_shades,
    make_map_mover,
    make_matrix_mover,
    make_region_painter,
    make_resizer,
)
from glassformer.pictures.video.moving import (
    make_arrow_mover,
    make_dot_mover,
    make_label_mover,
    make_trail_mover,
)
from glassformer.pictures.video.outlook import find_winners, make_outlook
from glassformer.pictures.video.stage import (
    ABOVE,
    BELOW,
    LEFT,
    WIDE,
    Mover,
    Stage,
    add_map_panel,
    compute_column_left,
    set_stage,
)

_HEADINGS = 0.4  # cm for the names above the matrix
_SIDE = (WIDE - 2 * LEFT - LEGEND - 0.5) / 3
_MOST_NAMED = 16  # positions whose tokens have labels: the last ones of a longer sequence
_MOST_ANSWERS = 5  # positions before the last one whose answers have labels


def compute(subject: Subject, shown: Sequence[int]) -> Data:
    sequence, layer = choose_video_sequence(subject), subject.layer
    plane = make_checkpoint_subject(subject, shown[-1]).stream_plane.spread_over("position")
    places = np.arange(len(sequence), dtype=float)
    tracks, last, logits, models = [], [], [], []
    for now in iterate_checkpoints(subject, shown):
        trace = now.model.trace(sequence)
        stops = [trace[name] for name in (_name_entering_stream(subject), f"{layer}mid", f"{layer}stream")]
        tracks.append([plane(stop, places) for stop in stops])
        last.append([stop[-1] for stop in stops[1:]])
        logits.append(trace["logits"])
        models.append(now.model)
    chances = softmax(np.array(logits, np.float64))  # frame pos tok
    data = collect_video_data(subject, shown) | {
        "plane": plane,
        "models": models,
        "labels": subject.labels(0),
        "stops": np.array(tracks),  # frame stop pos 2
        "last": np.array(last, np.float64),  # frame (z, h) dim
        "chances": chances,
        "answers": chances.argmax(-1),
        "demands": _make_demand_table(subject),
        "law": subject.law,
        "residual": subject.model.architecture.layers[-1].residual,
    }
    return data | {"title": title(data), "about": _describe_residual_arrows(data)}


def _name_entering_stream(subject: Subject) -> str:
    """The name of the stream before the last layer."""
    shape = subject.model.architecture
    return (
        "embedded" if len(shape.layers) == 1 else f"{format_layer_prefix(shape, len(shape.layers) - 2)}stream"
    )


def _make_demand_table(subject: Subject) -> np.ndarray:
    """True for the tokens that the task allows after each position where it has a say: `pos tok`."""
    nothing = np.zeros(len(subject.tokens), bool)
    return np.array([nothing if one is None else one for one in subject.demands(0)])


def title(data: Data) -> str:
    last, tokens = len(data["labels"]) - 1, data["tokens"]
    first, final = (tokens[data["answers"][frame, last]] for frame in (0, -1))
    says = (
        f"{first} at first and at the end" if first == final else f"{first} at first and {final} at the end"
    )
    return f"{data['name']}: after {data['labels'][-1]} at p{last} it predicts {says}"


def _describe_residual_arrows(data: Data) -> str:
    """How to read the arrows, and what the plane leaves out."""
    moves = ("e + attention", "z + feed-forward") if data["residual"] else ("attention", "feed-forward of z")
    frames = [f"Frames: what the {data['law']} allows."] if data["demands"].any() else []
    is_wide = data["last"].shape[-1] > 2
    slices = ["The maps are slices through z and h of the last position."] if is_wide else []
    marks = (
        f"Arrows of every position: from e (disc: its token) to z = {moves[0]}, to h = {moves[1]} (tile: the "
        "answer); strong: the last position."
    )
    return " ".join([marks, *frames, *describe_video_planes({"": data["plane"]}), *slices])


def perform(data: Data, theme: Theme, width: int) -> Stage:
    stage = set_stage(data, theme, width, ABOVE + _HEADINGS + _SIDE + BELOW)
    body, plane = stage.body.part(0, ABOVE + _HEADINGS, WIDE, _SIDE + BELOW), data["plane"]
    boxes = plane.limits(data["stops"][:, :2], room=0.12), plane.limits(data["stops"], room=0.1)
    for column, title in enumerate(
        ("e to z, and the answer at every z", "z to h, and the answer at every h")
    ):
        axes = add_map_panel(body, compute_column_left(column, _SIDE), 0, _SIDE, plane, boxes[column], title)
        axes.set_title(title, pad=14)  # in a line with that of the matrix
        axes.set_ylabel(plane.labels[1] if column == 0 else "")  # it is the same plane
        stage.movers.append(_make_answer_map_mover(axes, data, theme, from_mid=column == 0))
        stage.movers.extend((_make_sum_movers, _make_final_movers)[column](axes, data, theme))
    left = 2 * (LEFT + _SIDE) + 0.4
    draw_token_legend(body.part(left, 0, LEGEND, _SIDE), data["tokens"])
    rest = body.part(left + LEGEND + 0.08, 0, WIDE - left - LEGEND - 0.08, _SIDE + BELOW)
    stage.movers.extend(_make_answer_movers(rest, data))
    return stage


def _make_answer_map_mover(axes: Axes, data: Data, theme: Theme, from_mid: bool) -> Mover:
    """The answer at every state; of a wide model, on the slice through the last position's own state."""
    through = data["last"][:, 0 if from_mid else 1]
    logits = make_outlook(axes, data["plane"], data["models"], from_mid, through)
    paint, fit = make_region_painter(data["tokens"], theme), make_resizer(axes)
    return make_map_mover(axes, lambda index: fit(paint(find_winners(logits(index)))))


def _make_sum_movers(axes: Axes, data: Data, theme: Theme) -> list[Mover]:
    """From e, with its token beside it, to z."""
    start, middle = data["stops"][:, 0], data["stops"][:, 1]
    colours = [pick_token_colour(label) for label in data["labels"]]
    named = slice(max(0, len(colours) - _MOST_NAMED), None)
    return [
        make_trail_mover(axes, middle, colours),
        make_arrow_mover(axes, start, middle, *_choose_arrow_looks(data, theme)),
        make_dot_mover(axes, start, colours, theme, 14.0),
        make_label_mover(
            axes, start[:, named], (start - middle)[:, named], data["labels"][named], colours[named], theme
        ),
    ]


def _make_final_movers(axes: Axes, data: Data, theme: Theme) -> list[Mover]:
    """From e to z to h, with the answer beside it."""
    start, middle, end = (data["stops"][:, stop] for stop in range(3))
    colours = [pick_token_colour(label) for label in data["labels"]]
    fills, answers = [pick_token_colour(token) for token in data["tokens"]], data["answers"]
    named = _list_answered_positions(data["demands"])
    looks = _choose_arrow_looks(data, theme)
    return [
        make_trail_mover(axes, end, colours),
        make_arrow_mover(axes, start, middle, *looks),
        make_arrow_mover(axes, middle, end, *looks),
        make_dot_mover(axes, end, colours, theme, 14.0, "s", faces=to_rgba_array(fills)[answers]),
        make_label_mover(
            axes, end[:, named], (end - middle)[:, named], data["tokens"], fills, theme, answers[:, named]
        ),
    ]  # fmt: skip


def _list_answered_positions(demands: Bool[np.ndarray, "pos tok"]) -> list[int]:
    """The positions whose answers are named: the last one, and those before it where the rule has a say."""
    *before, _ = range(len(demands))
    return [*[place for place in before if demands[place].any()][-_MOST_ANSWERS:], len(demands) - 1]


def _choose_arrow_looks(data: Data, theme: Theme) -> tuple[list[str], list[float]]:
    """Colours and widths: all positions thin, in their tokens' colours, the last one strong."""
    thin = [mix_colours(theme.ink, pick_token_colour(label), 0.35) for label in data["labels"][:-1]]
    return [*thin, theme.ink], [0.9] * len(thin) + [2.0]


def _make_answer_movers(frame: Frame, data: Data) -> list[Mover]:
    """The probability of every next token after every position; what the rule allows is framed."""
    theme, names = frame.theme, data["labels"]
    axes = frame.axes(
        0, 0, frame.width, _SIDE, xlim=(-0.5, len(names) - 0.5), ylim=(len(data["tokens"]) - 0.5, -0.5)
    )
    name_ticks(axes, (), choose_column_names(axes, names))
    axes.set_title("P(next token), after each position", fontsize=BODY, pad=14)
    for spine in axes.spines.values():
        spine.set_visible(False)
    colours = make_share_colours(theme)
    bar = frame.axes(0.25 * frame.width, _SIDE + 0.15, 0.5 * frame.width, 0.12)
    draw_scale_bar(bar, ScalarMappable(Normalize(0, 1), colours), theme, ticks=(0, 0.5, 1))
    matrix = data["chances"].transpose(0, 2, 1)  # frame tok pos
    return [
        make_matrix_mover(axes, matrix, 0.0, 1.0, list_shades(colours), theme),
        _make_demand_frames(axes, data, theme),
    ]


def _make_demand_frames(axes: Axes, data: Data, theme: Theme) -> Mover:
    """Frames around what the rule allows, where it has a say."""
    boxes = [Rectangle((place - 0.5, token - 0.5), 1, 1) for place, token in np.argwhere(data["demands"])]
    drawn = PatchCollection(boxes, facecolors="none", edgecolors=theme.accent, linewidths=1.0, animated=True)
    drawn.set_clip_on(False)
    axes.add_collection(drawn, autolim=False)
    return lambda _: axes.draw_artist(drawn)
