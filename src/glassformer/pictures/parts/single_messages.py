"""A last position whose attention is replaced, all else frozen: where one message alone would lead.

With one head z' = e + message; with several only the head in question looks elsewhere. The state z itself is
the mean of these, weighted by attention.
"""

import numpy as np
from jaxtyping import Float

from glassformer.pictures.parts.frame import Frame
from glassformer.pictures.parts.matrices import draw_heatmap
from glassformer.pictures.parts.message_sums import Carry
from glassformer.pictures.parts.sequence_matrices import STRIP, draw_token_strip

_NAMES = 1.5  # cm left of the sequence, for the heads' names
_ROW = 0.42  # cm a row of weights


def measure_strip_height(carry: Carry) -> float:
    return STRIP + 0.05 + _ROW * len(carry.weights)


def draw_attention_strip(paper: Frame, carry: Carry, source: int | None) -> None:
    """The tokens as cells, and under each the share of attention that its position gets from the last one."""
    heads = len(carry.weights)
    axes = draw_token_strip(paper.part(_NAMES, 0, paper.width - _NAMES, STRIP), 0, 0, carry.labels, source)
    wide = axes.get_position().width * paper.figure.get_size_inches()[0] * 2.54
    below = paper.axes(_NAMES, STRIP + 0.05, wide, _ROW * heads)
    names = [f"head {head} (%)" for head in range(heads)] if heads > 1 else ["attention (%)"]
    draw_heatmap(below, 100 * carry.weights, paper.theme, names, (), signed=False, largest=100.0)
    below.set_xticks([])


def compute_single_states(
    carry: Carry, messages: Float[np.ndarray, "head *which dim"]
) -> Float[np.ndarray, "head *which dim"]:
    """The state after attention if one head looked at one message alone, the other heads as they are."""
    rest = carry.mid - carry.parts.sum(1)  # head dim: all but what the head itself has written
    between = (1,) * (messages.ndim - 2)
    return np.asarray(rest.reshape(len(rest), *between, -1) + messages)
