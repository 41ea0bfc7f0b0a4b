"""One sequence from attention to probabilities: what the head reads at each position, and what it says."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.pictures.measure.demand import describe_answer
from glassformer.pictures.measure.landscape import softmax
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import SMALL, Frame, make_sheet
from glassformer.pictures.parts.marks import make_readable_colour
from glassformer.pictures.parts.matrices import MOST_NUMBERS
from glassformer.pictures.parts.message_sums import list_head_names
from glassformer.pictures.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    SHARE_CELL,
    STRIP,
    draw_attention_matrix,
    draw_position_matrix,
    draw_token_strip,
    format_scale_end,
    frame_matrix_cell,
    mask_above_diagonal,
    measure_attention_width,
    measure_matrix_height,
    measure_vector_width,
)
from glassformer.pictures.picture import Data, find_task_words

_GAP = 0.35  # cm between matrices


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    sequence, trace, name = subject.sequences[0], subject.trace(0), f"{subject.layer}attn"
    logits = trace["logits"].astype(np.float64)  # pos tok
    return {
        "labels": subject.labels(0),
        "tokens": subject.tokens,
        "source": subject.source(0),
        "weights": [mask_above_diagonal(trace[f"{name}.weights.{head}"]) for head in range(subject.heads)],
        "final": trace["final"],  # pos dim
        "logits": logits,
        "probabilities": softmax(logits),
        "following": sequence[1:],  # after every position but the last
        "demands": subject.demands(0),
    }


def draw(data: Data, theme: Theme) -> Figure:
    labels, high = data["labels"], measure_matrix_height(len(data["labels"]))
    top = STRIP + 0.1 + HEADINGS
    paper = make_sheet(theme, 2 * (HEADINGS + high) + STRIP + 0.5, title(data))
    draw_token_strip(paper, 0, 0, labels, data["source"])
    _draw_head_inputs(paper.part(0, top, paper.width, high), data)
    logits, shares = _choose_output_widths(len(labels), len(data["tokens"]), paper.width - ROW_NAMES - _GAP)
    below = top + high + 0.25 + HEADINGS
    _draw_output_matrix(paper.axes(ROW_NAMES, below, logits, high), data, "logits", theme)
    _draw_output_matrix(
        paper.axes(ROW_NAMES + logits + _GAP, below, shares, high), data, "probabilities", theme
    )
    return paper.figure


def _choose_output_widths(places: int, tokens: int, across: float) -> tuple[float, float]:
    """Of logits and probabilities: logits need more room for their numbers, where there are any."""
    has_numbers = max(places, tokens) <= MOST_NUMBERS
    shares = SHARE_CELL * tokens if has_numbers else across / 2
    return across - shares, shares


def title(data: Data) -> str:
    said = describe_answer(
        data["tokens"], data["probabilities"][-1], data["demands"][-1], find_task_words(data)
    )
    return f"After {data['labels'][-1]} (p{len(data['labels']) - 1}) {said}"


def _draw_head_inputs(frame: Frame, data: Data) -> None:
    """Attention, what the head reads, and what the marks of the matrices below mean."""
    labels, names = data["labels"], list_head_names(len(data["weights"]))
    left, wide = ROW_NAMES, measure_attention_width(len(labels), frame.height)
    legend = 3.2
    room = (frame.width - ROW_NAMES - legend - measure_vector_width(data["final"].shape[1])) / len(
        names
    ) - _GAP
    wide = min(wide, room - _GAP / len(names))
    for head, name in enumerate(names):
        axes = frame.axes(left, 0, wide, frame.height)
        text = f"attention, {name} (%)" if name else "attention (%)"
        draw_attention_matrix(
            axes, data["weights"][head], labels, frame.theme, text, head == 0, data["source"]
        )
        left += wide + _GAP
    largest = float(np.abs(data["final"]).max())
    dims = measure_vector_width(data["final"].shape[1])
    axes = frame.axes(left, 0, dims, frame.height)
    text = f"the head's input ({format_scale_end(largest)})"
    draw_position_matrix(axes, data["final"], labels, frame.theme, text, names=False, largest=largest)
    _write_mark_legend(
        frame.part(left + dims + _GAP, 0, frame.width - left - dims - _GAP, frame.height), data
    )


def _write_mark_legend(frame: Frame, data: Data) -> None:
    """How to read the marks."""
    theme, law = frame.theme, find_task_words(data)["law"]
    texts = [
        ("In the two matrices below:", theme.muted),
        ("underlined: the token that follows in the sequence", theme.ink),
        (f"framed: what the {law} demands; the model's first choice satisfies it", theme.good),
        (f"framed: what the {law} demands; the model's first choice does not", theme.bad),
    ]
    y = 0.0
    for text, colour in texts:
        y += frame.write(0, y, text, SMALL, frame.width - 0.2, color=colour) + 0.12


def _draw_output_matrix(axes: Axes, data: Data, kind: str, theme: Theme) -> None:
    """Logits, or probabilities in percent, of every token after every position."""
    labels, tokens, is_share = data["labels"], data["tokens"], kind == "probabilities"
    values = 100 * data[kind] if is_share else data[kind]
    largest = float(np.abs(values).max())
    title = f"probabilities (%, 0 to {largest:.0f})" if is_share else f"logits ({format_scale_end(largest)})"
    draw_position_matrix(
        axes, values, labels, theme, title, tokens, not is_share, signed=not is_share, largest=largest
    )
    for text in axes.get_xticklabels():
        text.set_color(make_readable_colour(pick_token_colour(text.get_text()), theme))
    _mark_output_cells(axes, data, theme)


def _mark_output_cells(axes: Axes, data: Data, theme: Theme) -> None:
    """A line under the token that follows, frames around those that the rule demands."""
    for place, token in enumerate(data["following"]):
        axes.plot([token - 0.4, token + 0.4], [place + 0.4, place + 0.4], color=theme.ink, linewidth=1.1)
    for place, allowed in enumerate(data["demands"]):
        if allowed is None:
            continue
        is_right = allowed[data["logits"][place].argmax()]
        for token in np.flatnonzero(allowed):
            frame_matrix_cell(axes, place, int(token), theme.good if is_right else theme.bad)


def caption(data: Data) -> str:
    labels, demands = data["labels"], data["demands"]
    asked = [place for place, allowed in enumerate(demands) if allowed is not None]
    right = sum(bool(demands[place][data["logits"][place].argmax()]) for place in asked)
    return (
        f"The sequence {' '.join(labels)}: attention, the head's input at every position (in "
        f"{data['final'].shape[1]} dimensions), logits, and their softmax, rounded to fit. Frames show "
        f"what the {find_task_words(data)['law']} demands, given the tokens up to a position alone "
        f"(a sequence shorter than the context begins at p0): {len(asked)} of {len(labels)} positions have a "
        f"demand, and at {right} of them the model's most probable token satisfies it. Underlined: "
        "the token that follows in the sequence."
    )
