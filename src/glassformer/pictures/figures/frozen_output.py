"""Frozen output: what every message would do to one token, with everything else as it is.

`+` at p7 of `4 1 + 4 6 9 5 +` says 6; had attention looked at a 2 at p3 alone, it would say 2.
"""

from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.core.theme import Theme, mix_colours, pick_text_colour, pick_token_colour
from glassformer.pictures.measure.demand import format_demand
from glassformer.pictures.measure.landings import capitalise_text, format_part
from glassformer.pictures.measure.landscape import compute_state_probabilities
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import SMALL, make_sheet, measure_text_width
from glassformer.pictures.parts.matrices import draw_heatmap, draw_scale_bar, name_ticks
from glassformer.pictures.parts.message_sums import Carry, compute_carry
from glassformer.pictures.parts.queries_keys_values import format_head_title
from glassformer.pictures.parts.sequence_matrices import HEADINGS, format_token_position, frame_matrix_cell
from glassformer.pictures.parts.single_messages import (
    compute_single_states,
    draw_attention_strip,
    measure_strip_height,
)
from glassformer.pictures.picture import Data, find_task_words

_LEFT, _GAP = 0.8, 0.9  # cm: names of the tokens, between two matrices
_TALLEST, _ROW = 15.0, 0.42  # cm: all rows together at most, and a row at most
_BESIDE = 20  # positions up to which the two matrices of a head stand side by side


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    carry = compute_carry(subject, 0)
    messages = subject.messages[:, :, : len(carry.labels)].astype(np.float64)  # head tok pos dim
    states = compute_single_states(carry, messages)
    probability = compute_state_probabilities(
        subject.model, states.reshape(-1, states.shape[-1]), from_mid=True
    )
    probability = probability.reshape(*states.shape[:-1], -1)  # head tok pos tok
    now = compute_state_probabilities(subject.model, carry.mid[None], from_mid=True)[0]
    asked = subject.demanded(0)
    target = np.arange(len(now)) == now.argmax() if asked is None else asked
    return {
        "tokens": subject.tokens,
        "carry": carry,
        "sequence": np.asarray(subject.sequences[0]),
        "source": subject.source(0),
        "is_demanded": asked is not None,
        "target": target,  # tok: those whose probability is shown
        "probability": probability[..., target].sum(-1),  # head tok pos
        "winner": probability.argmax(-1),  # head tok pos
        "predicted": int(now.argmax()),
    }


def draw(data: Data, theme: Theme) -> Figure:
    heads, tokens, places = data["winner"].shape
    lines = heads * (1 if places <= _BESIDE else 2)
    high = min(_ROW, _TALLEST / (lines * tokens)) * tokens
    top = measure_strip_height(data["carry"]) + 0.2
    below = top + lines * (HEADINGS + high + 0.25)
    paper = make_sheet(theme, below + 0.65, title(data))
    draw_attention_strip(paper, data["carry"], data["source"])
    across = paper.width - _LEFT if places > _BESIDE else (paper.width - _LEFT - _GAP) / 2
    for head in range(heads):
        boxes = []
        for which in range(2):
            line, column = (2 * head + which, 0) if places > _BESIDE else (head, which)
            x, y = _LEFT + column * (across + _GAP), top + line * (HEADINGS + high + 0.25) + HEADINGS
            boxes.append(paper.axes(x, y, across, high))
        image = _draw_demand_shares(boxes[0], data, head, theme)
        _draw_message_winners(boxes[1], data, head, theme)
    draw_scale_bar(paper.axes(_LEFT, below + 0.1, 2.6, 0.2), image, theme, ticks=[0, 50, 100])
    words = "probability in %; frames: the messages of this sequence"
    paper.write(_LEFT + 2.9, below + 0.05, words, SMALL, color=theme.muted)
    return paper.figure


def _draw_demand_shares(axes: Axes, data: Data, head: int, theme: Theme) -> AxesImage:
    """How probable each message alone would make what is demanded, in percent."""
    places = [f"p{place}" for place in range(len(data["sequence"]))]
    shares = 100 * data["probability"][head]
    image = draw_heatmap(axes, shares, theme, data["tokens"], places, signed=False, largest=100.0)
    name = f"probability of {_describe_target(data)} (%)"
    _frame_real_messages(axes, data, theme, format_head_title(head, len(data["winner"]), name))
    return image


def _draw_message_winners(axes: Axes, data: Data, head: int, theme: Theme) -> None:
    """What each message alone would make the position say; a run of equal cells is named once."""
    winner, tokens = data["winner"][head], data["tokens"]
    fills = [mix_colours(pick_token_colour(token), theme.paper, 0.55) for token in tokens]
    axes.imshow(np.array([to_rgb(fill) for fill in fills])[winner], aspect="auto", interpolation="nearest")
    axes.spines[:].set_visible(False)
    name_ticks(axes, tokens, [f"p{place}" for place in range(winner.shape[1])])
    cell = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54 / winner.shape[1]
    there = np.zeros(winner.shape, bool)
    there[data["sequence"], np.arange(winner.shape[1])] = True
    for row, start, stop in find_equal_runs(winner, there):
        token = tokens[winner[row, start]]
        if measure_text_width(token, SMALL, "bold") <= (stop - start) * cell - 0.04:
            look = {"fontsize": SMALL, "weight": "bold", "color": pick_text_colour(fills[winner[row, start]])}
            axes.text((start + stop - 1) / 2, row, token, ha="center", va="center_baseline", **look)
    _frame_real_messages(axes, data, theme, format_head_title(head, len(data["winner"]), "what it would say"))


def find_equal_runs(
    winner: Int[np.ndarray, "tok pos"], single: Bool[np.ndarray, "tok pos"]
) -> list[tuple[int, int, int]]:
    """Row, start and stop of every stretch of equal cells in a row; `single` cells stand for themselves.

    >>> find_equal_runs(np.array([[4, 4, 2, 2]]), np.array([[False, False, False, True]]))
    [(0, 0, 2), (0, 2, 3), (0, 3, 4)]
    """
    found = []
    for row, (cells, alone_here) in enumerate(zip(winner, single, strict=True)):
        parts = (np.diff(cells) != 0) | alone_here[1:] | alone_here[:-1]
        edges = [0, *(np.flatnonzero(parts) + 1).tolist(), len(cells)]
        found += [(row, start, stop) for start, stop in pairwise(edges)]
    return found


def _frame_real_messages(axes: Axes, data: Data, theme: Theme, name: str) -> None:
    """The title, and frames around the messages that are really there."""
    axes.set_title(name, pad=14)
    for place, token in enumerate(data["sequence"]):
        frame_matrix_cell(axes, int(token), place, theme.ink)


def _describe_target(data: Data) -> str:
    return format_demand(data["tokens"], data["target"])


def title(data: Data) -> str:
    carry: Carry = data["carry"]
    here, target, winner = (
        format_token_position(carry.labels, len(carry.labels) - 1),
        data["target"],
        data["winner"],
    )
    hits = target[winner]  # head tok pos
    law = find_task_words(data)["law"]
    if target.sum() > 1:
        count = format_part(int(hits.sum()), hits.size)
        return capitalise_text(f"{count} messages, each alone, would make {here} say what the {law} allows")
    own, answer = hits[:, target], data["tokens"][int(target.argmax())]
    others, rest = int(hits.sum() - own.sum()), hits.size - own.size
    count = format_part(int(own.sum()), own.size)
    return capitalise_text(
        f"{count} messages of {answer}, each alone, would make {here} say {answer}, "
        f"and {others or 'none'} of the {rest} others"
    )


def caption(data: Data) -> str:
    carry: Carry = data["carry"]
    heads, tokens, places = data["winner"].shape
    same = int((data["winner"] == np.arange(tokens)[None, :, None]).sum())
    law = find_task_words(data)["law"]
    whose = f"demanded by the {law}" if data["is_demanded"] else f"predicted; the {law} leaves it open"
    start = "e plus the message" if carry.is_residual else "the message (there are no residual connections)"
    several = carry.bias_words + (" and what the other heads write" if heads > 1 else "")
    return f"""The last position of {" ".join(carry.labels)}, all else frozen: the state after attention is
        replaced by {start} of one token at one position{several}, {heads * tokens * places} cases, and the
        feed-forward layer and the head say what follows. First the probability of {_describe_target(data)}
        ({whose}), then the most probable token, named once for equal neighbours; numbers
        are rounded to what fits. Frames: the messages that
        the sequence really holds; as it is, the model says {data["tokens"][data["predicted"]]}. {same} of all
        messages, each alone, would make it say the message's own token."""
