"""One prediction, step by step: encode, detect, retrieve, carry, decide.

The last position of the first sequence: its embedding and that of its source, its query's scores, the
attention weights, what attention adds to the stream, and which token wins.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.core.theme import Theme, name_colour, pick_token_colour
from glassformer.core.words import format_decimals, format_percent
from glassformer.pictures.measure.demand import describe_answer
from glassformer.pictures.measure.landscape import softmax
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import SMALL, Frame, make_sheet, measure_text_height
from glassformer.pictures.parts.marks import (
    draw_ghost_points,
    draw_token_dots,
    draw_zero_lines,
    make_readable_colour,
    show_plane,
    write_plane_note,
)
from glassformer.pictures.parts.matrices import shorten_ticks
from glassformer.pictures.parts.message_sums import (
    compute_carry,
    compute_chain_limits,
    draw_message_chain,
    list_head_names,
    select_inside_points,
)
from glassformer.pictures.parts.sequence_matrices import (
    STRIP,
    choose_column_names,
    draw_token_strip,
    format_token_position,
)
from glassformer.pictures.picture import Data, find_task_words

_SIDE, _AXIS = 4.3, 1.15  # cm: a panel, and what is left of it
_ABOVE, _BELOW = 0.5, 0.95  # cm: a panel's title, and its ticks and names
_STEPS = ("encode", "detect", "retrieve", "carry", "decide")
_MOST_BARS = 24  # tokens that have a name under their bars
_NAMED = 0.05  # probability from which a bar has its number


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    plane, carry, trace = subject.stream_plane, compute_carry(subject, 0), subject.trace(0)
    count, name = len(carry.labels), f"{subject.layer}attn"
    source = subject.source(0)
    logits = trace["logits"][-1].astype(np.float64)
    data: Data = {
        "labels": carry.labels,
        "tokens": subject.tokens,
        "source": source,
        "plane": plane,
        "cloud": plane(subject.embedded, np.arange(subject.context, dtype=float)),
        "embedded": trace["embedded"].astype(np.float64),  # pos dim
        "points": plane(trace["embedded"], np.arange(count, dtype=float)),
        "scores": np.stack([trace[f"{name}.scores.{head}"][-1] for head in range(subject.heads)]),
        "carry": carry,
        "chain": carry.points(plane, carry.kept),
        "end": plane(carry.mid, carry.spread[-1]),
        "probability": softmax(logits),
        "demanded": subject.demanded(0),
    }
    return data | {"sentences": _describe_example_steps(data, subject.words)}


def _describe_example_steps(data: Data, words: Mapping[str, str]) -> dict[str, str]:
    """What happens in each step, from this model's numbers."""
    said = describe_answer(data["tokens"], data["probability"], data["demanded"], words)
    return {
        "encode": _describe_encoding(data),
        "detect": _describe_each_head(data["scores"], data, _describe_detection),
        "retrieve": _describe_each_head(data["carry"].weights, data, _describe_retrieval),
        "carry": _describe_carrying(data),
        "decide": f"{said[0].upper()}{said[1:]}.",
    }


def _describe_each_head(rows: Float[np.ndarray, "head pos"], data: Data, words: Callable[..., str]) -> str:
    """One sentence per head."""
    names = list_head_names(len(rows))
    told = [words(row, data["labels"], data["source"]) for row in rows]
    return "\n".join(f"{name}: {text}" if name else text for name, text in zip(names, told, strict=True))


def _describe_encoding(data: Data) -> str:
    labels, source, last = data["labels"], data["source"], len(data["labels"]) - 1
    if source is None:
        return f"{format_token_position(labels, last)} enters as a point; {_describe_answer_position(data)}."
    if source == last:
        return f"{format_token_position(labels, last)} enters as a point; the rule needs no other position."
    apart = np.linalg.norm(data["embedded"][last] - data["embedded"][source])
    return (
        f"{format_token_position(labels, last)} and the source, "
        f"{format_token_position(labels, source)}, enter {apart:.2f} apart."
    )


def _describe_answer_position(data: Data) -> str:
    """Where a prompt has its answer, if it has it."""
    allowed, labels = data["demanded"], list(data["labels"])
    if allowed is None or allowed.sum() != 1:
        return "no single position is known to hold the answer"
    answer = data["tokens"][int(allowed.argmax())]
    places = [f"p{place}" for place, label in enumerate(labels) if label == answer]
    return f"the answer, {answer}, stands {'at ' + ' and '.join(places) if places else 'nowhere yet'}"


def _describe_detection(scores: Float[np.ndarray, " pos"], labels: Sequence[str], source: int | None) -> str:
    """Which position scores highest, and by how much."""
    order = np.argsort(-scores, kind="stable")
    best = int(order[0])
    if len(order) > 1 and scores[best] == scores.min():
        return f"All positions have the same score, {format_decimals(scores[best], 1)}."
    lead = f", {scores[best] - scores[order[1]]:.3g} above the next" if len(order) > 1 else ""
    text = (
        f"{format_token_position(labels, best)} has the highest score, "
        f"{format_decimals(scores[best], 1)}{lead}"
    )
    return text + _describe_source_part(best, source, labels, format_decimals(scores[source or 0], 1))


def _describe_retrieval(weights: Float[np.ndarray, " pos"], labels: Sequence[str], source: int | None) -> str:
    """Which position gets most of the attention, and what the source gets."""
    best = int(np.argmax(weights))
    if len(weights) > 1 and weights[best] == weights.min():
        return f"All {len(weights)} positions get {format_percent(weights[best], 0)} of the attention."
    text = f"{format_token_position(labels, best)} gets {format_percent(weights[best], 0)} of the attention"
    gets = format_percent(weights[source or 0], 0)
    if source not in (None, best) and labels[source or 0] == labels[best]:
        same = weights[np.array(labels) == labels[best]].sum()
        gets += f", all positions with {labels[best]} together {format_percent(same, 0)}"
    return text + _describe_source_part(best, source, labels, gets)


def _describe_source_part(best: int, source: int | None, labels: Sequence[str], gets: str) -> str:
    """How a sentence about the best position goes on to the source."""
    if source is None:
        return "."
    return (
        "; it is the source."
        if best == source
        else f"; the source, {format_token_position(labels, source)}, has {gets}."
    )


def _describe_carrying(data: Data) -> str:
    carry = data["carry"]
    lengths = np.linalg.norm(carry.parts.sum(0), axis=-1)  # pos
    most = int(np.argmax(lengths))
    return (
        f"The weighted messages lead from {carry.kept_name} to z, {np.linalg.norm(carry.output):.3g} away; "
        f"the longest part, {lengths[most]:.3g}, is that of {format_token_position(carry.labels, most)}."
    )


def draw(data: Data, theme: Theme) -> Figure:
    wide = 2 * _SIDE + _AXIS  # of the last panel
    words, size = data["sentences"], SMALL + 0.5
    first = max(measure_text_height(words[step], size, _SIDE) for step in _STEPS[:3])
    second = max(
        measure_text_height(words["carry"], size, _SIDE), measure_text_height(words["decide"], size, wide)
    )
    top = STRIP + 0.1 + _ABOVE
    below = top + _SIDE + _BELOW + first + 0.35 + _ABOVE
    paper = make_sheet(theme, below + _SIDE + _BELOW + second + 0.4 * bool(data["plane"].note), title(data))
    draw_token_strip(paper, 0, 0, data["labels"], data["source"])
    for index, step in enumerate(_STEPS):
        left, y = _AXIS + (index % 3) * (_SIDE + _AXIS), top if index < 3 else below
        frame = paper.part(left, y, wide if step == "decide" else _SIDE, _SIDE)
        _draw_example_step(frame, data, step, f"{index + 1} {step}")
        frame.write(0, _SIDE + _BELOW - 0.1, words[step], size, frame.width, color=theme.ink)
    write_plane_note(paper, data["plane"])
    return paper.figure


def title(data: Data) -> str:
    last = len(data["labels"]) - 1
    said = describe_answer(data["tokens"], data["probability"], data["demanded"], find_task_words(data))
    return f"What follows {format_token_position(data['labels'], last)}, in five steps: {said}"


def _draw_example_step(frame: Frame, data: Data, step: str, name: str) -> None:
    if step in ("detect", "retrieve"):
        _draw_head_bars(frame, data, step, name)
        return
    axes = frame.axes(0, 0, frame.width, frame.height)
    axes.set_title(name, weight="bold")
    {"encode": _draw_encode_step, "carry": _draw_carry_step, "decide": _draw_decide_step}[step](
        axes, data, frame.theme
    )


def _draw_encode_step(axes: Axes, data: Data, theme: Theme) -> None:
    """The last position and the source among all tokens at all positions."""
    labels, last, source = data["labels"], len(data["labels"]) - 1, data["source"]
    show_plane(axes, data["plane"], data["plane"].limits(data["cloud"], data["points"]))
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, data["cloud"], theme)
    shown = [last] if source in (None, last) else [last, source]
    texts = [format_token_position(labels, place) for place in shown]
    draw_token_dots(axes, data["points"][shown], [labels[place] for place in shown], theme, texts)


def _draw_head_bars(frame: Frame, data: Data, step: str, name: str) -> None:
    """Scores, or weights, of the last position for every position: one row of bars per head."""
    rows = data["scores"] if step == "detect" else 100 * data["carry"].weights
    unit = "score" if step == "detect" else "attention (%)" if len(rows) == 1 else "(%)"
    names, gap = list_head_names(len(rows)), 0.75
    high = (frame.height - gap * (len(rows) - 1)) / len(rows)
    for head, values in enumerate(rows):
        axes = frame.axes(0, head * (high + gap), frame.width, high)
        labels = choose_column_names(axes, data["labels"])
        _draw_token_bars(axes, values, data["labels"], labels, frame.theme)
        if data["source"] is not None:
            _outline_bar(axes, data["source"], frame.theme.negative)
        axes.set_ylabel(f"{names[head]} {unit}".strip())
        shorten_ticks(axes.yaxis)
        if head == 0:
            axes.set_title(name, weight="bold")


def _draw_token_bars(
    axes: Axes, values: np.ndarray, tokens: Sequence[str], names: Sequence[str], theme: Theme
) -> None:
    """One a position or token, from 0, in the tokens' colours."""
    axes.bar(
        range(len(values)), values, width=0.8, color=[pick_token_colour(token) for token in tokens], zorder=2
    )
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.12 * ((high - low) or 1.0)
    axes.set_ylim(low - room * (low < 0), high + room)
    axes.set_xlim(-0.6, len(values) - 0.4)
    axes.axhline(0, color=theme.faint, linewidth=0.6, zorder=1)
    is_token = tuple(names) == tuple(tokens)
    step = -(-len(names) // _MOST_BARS) if is_token else max(1, len(names) // 6)
    axes.set_xticks(range(0, len(names), step), names[::step])
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    for text in axes.get_xticklabels():
        text.set_color(make_readable_colour(pick_token_colour(text.get_text()), theme))


def _outline_bar(axes: Axes, which: int, colour: str) -> None:
    """Frame one bar, and mark its foot, since a bar of no height shows no frame."""
    axes.patches[which].set(edgecolor=colour, linewidth=1.4)
    axes.axvspan(which - 0.5, which + 0.5, color=colour, alpha=0.15, linewidth=0, zorder=0)


def _draw_carry_step(axes: Axes, data: Data, theme: Theme) -> None:
    """Weighted messages, tip to tail, from what is kept of the embedding to the sum."""
    plane, carry = data["plane"], data["carry"]
    limits = compute_chain_limits(plane, data["chain"], data["end"])
    show_plane(axes, plane, limits)
    draw_zero_lines(axes, theme)
    draw_ghost_points(axes, select_inside_points(data["cloud"], limits), theme)
    draw_message_chain(
        axes, data["chain"], data["end"], carry, (carry.start_name(carry.kept_name), "z"), theme
    )


def _draw_decide_step(axes: Axes, data: Data, theme: Theme) -> None:
    """The probability of every token; what the rule demands is framed."""
    tokens, shares, allowed = data["tokens"], 100 * data["probability"], data["demanded"]
    _draw_token_bars(axes, shares, tokens, tokens, theme)
    axes.set_ylabel("probability (%)")
    is_right = allowed is not None and allowed[shares.argmax()]
    for token in [] if allowed is None else np.flatnonzero(allowed):
        _outline_bar(axes, int(token), theme.good if is_right else theme.bad)
    for token in np.flatnonzero(data["probability"] >= _NAMED):
        text = format_percent(data["probability"][token], 0).rstrip("%")
        axes.annotate(
            text, (token, shares[token]), (0, 1.5), textcoords="offset points", ha="center", va="bottom",
            fontsize=SMALL, color=theme.muted,
        )  # fmt: skip


def caption(data: Data) -> str:
    steps = " ".join(f"{step.capitalize()}: {data['sentences'][step]}" for step in _STEPS)
    source = "The source (framed) is the earliest token that the rule needs to know what follows. "
    return (
        f"The last position of {' '.join(data['labels'])}, step by step, from the forward pass. "
        f"{source if find_task_words(data)['law'] == 'rule' else ''}Scores and attention are those of the "
        "last position. Arrows: weight times message of every position, tip to tail; "
        f"{name_colour('faint')}: all embeddings. {steps} {data['plane'].note}"
    )
