"""One sequence from attention to probabilities: what the head reads at each place, and what it says."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.draw.measure.demand import verdict
from glassformer.draw.measure.landscape import softmax
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import SMALL, Frame, sheet
from glassformer.draw.parts.marks import readable
from glassformer.draw.parts.matrices import MOST_NUMBERS
from glassformer.draw.parts.message_sums import head_names
from glassformer.draw.parts.sequence_matrices import (
    HEADINGS,
    ROW_NAMES,
    SHARE_CELL,
    STRIP,
    attention_matrix,
    below_diagonal,
    frame_cell,
    matrix_height,
    place_matrix,
    scale_words,
    share_width,
    strip,
    vector_width,
)
from glassformer.draw.picture import Data, words_of
from glassformer.draw.theme import Theme, token_colour

GAP = 0.35  # cm between matrices


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    sequence, trace, name = subject.sequences[0], subject.trace(0), f"{subject.layer}attn"
    logits = trace["logits"].astype(np.float64)  # pos tok
    return {
        "labels": subject.labels(0),
        "tokens": subject.tokens,
        "source": subject.source(0),
        "weights": [below_diagonal(trace[f"{name}.weights.{head}"]) for head in range(subject.heads)],
        "final": trace["final"],  # pos dim
        "logits": logits,
        "probabilities": softmax(logits),
        "following": sequence[1:],  # after every place but the last
        "demands": subject.demands(0),
    }


def draw(data: Data, theme: Theme) -> Figure:
    labels, high = data["labels"], matrix_height(len(data["labels"]))
    top = STRIP + 0.1 + HEADINGS
    paper = sheet(theme, 2 * (HEADINGS + high) + STRIP + 0.5, title(data))
    strip(paper, 0, 0, labels, data["source"])
    draw_inputs(paper.part(0, top, paper.width, high), data)
    logits, shares = output_widths(len(labels), len(data["tokens"]), paper.width - ROW_NAMES - GAP)
    below = top + high + 0.25 + HEADINGS
    draw_output(paper.axes(ROW_NAMES, below, logits, high), data, "logits", theme)
    draw_output(paper.axes(ROW_NAMES + logits + GAP, below, shares, high), data, "probabilities", theme)
    return paper.figure


def output_widths(places: int, tokens: int, across: float) -> tuple[float, float]:
    """Of logits and probabilities: logits need more room for their numbers, where there are any."""
    has_numbers = max(places, tokens) <= MOST_NUMBERS
    shares = SHARE_CELL * tokens if has_numbers else across / 2
    return across - shares, shares


def title(data: Data) -> str:
    said = verdict(data["tokens"], data["probabilities"][-1], data["demands"][-1], words_of(data))
    return f"After {data['labels'][-1]} (p{len(data['labels']) - 1}) {said}"


def draw_inputs(frame: Frame, data: Data) -> None:
    """Attention, what the head reads, and what the marks of the matrices below mean."""
    labels, names = data["labels"], head_names(len(data["weights"]))
    left, wide = ROW_NAMES, share_width(len(labels), frame.height)
    legend = 3.2
    room = (frame.width - ROW_NAMES - legend - vector_width(data["final"].shape[1])) / len(names) - GAP
    wide = min(wide, room - GAP / len(names))
    for head, name in enumerate(names):
        axes = frame.axes(left, 0, wide, frame.height)
        text = f"attention, {name} (%)" if name else "attention (%)"
        attention_matrix(axes, data["weights"][head], labels, frame.theme, text, head == 0, data["source"])
        left += wide + GAP
    largest = float(np.abs(data["final"]).max())
    dims = vector_width(data["final"].shape[1])
    axes = frame.axes(left, 0, dims, frame.height)
    text = f"the head's input ({scale_words(largest)})"
    place_matrix(axes, data["final"], labels, frame.theme, text, names=False, largest=largest)
    write_legend(frame.part(left + dims + GAP, 0, frame.width - left - dims - GAP, frame.height), data)


def write_legend(frame: Frame, data: Data) -> None:
    """How to read the marks."""
    theme, law = frame.theme, words_of(data)["law"]
    texts = [
        ("In the two matrices below:", theme.muted),
        ("underlined: the token that follows in the sequence", theme.ink),
        (f"framed: what the {law} demands, the model's first choice is among it", theme.good),
        (f"framed: what the {law} demands, the model's first choice is not", theme.bad),
    ]
    y = 0.0
    for text, colour in texts:
        y += frame.write(0, y, text, SMALL, frame.width - 0.2, color=colour) + 0.12


def draw_output(axes: Axes, data: Data, kind: str, theme: Theme) -> None:
    """Logits, or probabilities in percent, of every token after every place."""
    labels, tokens, is_share = data["labels"], data["tokens"], kind == "probabilities"
    values = 100 * data[kind] if is_share else data[kind]
    largest = float(np.abs(values).max())
    title = f"probabilities (%, 0 to {largest:.0f})" if is_share else f"logits ({scale_words(largest)})"
    place_matrix(
        axes, values, labels, theme, title, tokens, not is_share, signed=not is_share, largest=largest
    )
    for text in axes.get_xticklabels():
        text.set_color(readable(token_colour(text.get_text()), theme))
    mark(axes, data, theme)


def mark(axes: Axes, data: Data, theme: Theme) -> None:
    """A line under the token that follows, frames around those that the rule demands."""
    for place, token in enumerate(data["following"]):
        axes.plot([token - 0.4, token + 0.4], [place + 0.4, place + 0.4], color=theme.ink, linewidth=1.1)
    for place, allowed in enumerate(data["demands"]):
        if allowed is None:
            continue
        is_right = allowed[data["logits"][place].argmax()]
        for token in np.flatnonzero(allowed):
            frame_cell(axes, place, int(token), theme.good if is_right else theme.bad)


def caption(data: Data) -> str:
    labels, demands = data["labels"], data["demands"]
    asked = [place for place, allowed in enumerate(demands) if allowed is not None]
    right = sum(bool(demands[place][data["logits"][place].argmax()]) for place in asked)
    return (
        f"The sequence {' '.join(labels)}: attention, the head's input at every place (in "
        f"{data['final'].shape[1]} dimensions), logits, and their softmax, rounded to what fits. Frames show "
        f"what the {words_of(data)['law']} demands as far as the tokens up to a place tell, whatever came "
        "before them (a "
        f"sequence shorter than the context begins at p0): it does so at {len(asked)} of {len(labels)} "
        f"places, and at {right} of these the model's first choice is among it. Underlined: "
        "the token that follows in the sequence."
    )
