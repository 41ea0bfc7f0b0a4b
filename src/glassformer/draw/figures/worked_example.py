"""One prediction, step by step: encode, detect, retrieve, carry, decide.

The last place of the first sequence: where it and its source enter, how its query scores the places, what
attention makes of the scores, what it carries over, and which token wins.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassformer.draw.measure.demand import verdict
from glassformer.draw.measure.landscape import softmax
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import SMALL, Frame, sheet, text_height
from glassformer.draw.parts.marks import cross, ghost, note, readable, show_plane, token_dots
from glassformer.draw.parts.matrices import number_text, short_ticks
from glassformer.draw.parts.message_sums import carry_of, chain_limits, draw_chain, head_names, inside
from glassformer.draw.parts.sequence_matrices import STRIP, column_names, named, strip
from glassformer.draw.picture import Data, words_of
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme, token_colour

SIDE, AXIS = 4.3, 1.15  # cm: a panel, and what is left of it
ABOVE, BELOW = 0.5, 0.95  # cm: a panel's title, and its ticks and names
STEPS = ("encode", "detect", "retrieve", "carry", "decide")
MOST_BARS = 24  # tokens that have a name under their bars
NAMED = 0.05  # probability from which a bar has its number


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    plane, carry, trace = subject.stream_plane, carry_of(subject, 0), subject.trace(0)
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
    return data | {"sentences": sentences(data, subject.words)}


def sentences(data: Data, words: Mapping[str, str]) -> dict[str, str]:
    """What happens in each step, from this model's numbers."""
    said = verdict(data["tokens"], data["probability"], data["demanded"], words)
    return {
        "encode": encode_words(data),
        "detect": by_head(data["scores"], data, detect_words),
        "retrieve": by_head(data["carry"].weights, data, retrieve_words),
        "carry": carry_words(data),
        "decide": f"{said[0].upper()}{said[1:]}.",
    }


def by_head(rows: Float[np.ndarray, "head pos"], data: Data, words: Callable[..., str]) -> str:
    """A sentence a head."""
    names = head_names(len(rows))
    told = [words(row, data["labels"], data["source"]) for row in rows]
    return "\n".join(f"{name}: {text}" if name else text for name, text in zip(names, told, strict=True))


def encode_words(data: Data) -> str:
    labels, source, last = data["labels"], data["source"], len(data["labels"]) - 1
    if source is None:
        return f"{named(labels, last)} enters as a point; {answer_words(data)}."
    if source == last:
        return f"{named(labels, last)} enters as a point; the rule needs no other place."
    apart = np.linalg.norm(data["embedded"][last] - data["embedded"][source])
    return f"{named(labels, last)} and the source, {named(labels, source)}, enter {apart:.2f} apart."


def answer_words(data: Data) -> str:
    """Where a prompt has its answer, if it has it."""
    allowed, labels = data["demanded"], list(data["labels"])
    if allowed is None or allowed.sum() != 1:
        return "no single place is known to hold the answer"
    answer = data["tokens"][int(allowed.argmax())]
    places = [f"p{place}" for place, label in enumerate(labels) if label == answer]
    return f"the answer, {answer}, stands {'at ' + ' and '.join(places) if places else 'nowhere yet'}"


def detect_words(scores: Float[np.ndarray, " pos"], labels: Sequence[str], source: int | None) -> str:
    """Which place scores highest, and by how much."""
    order = np.argsort(-scores, kind="stable")
    best = int(order[0])
    if len(order) > 1 and scores[best] == scores.min():
        return f"All places fit the query alike, with a score of {number_text(scores[best], 1)}."
    lead = f", {scores[best] - scores[order[1]]:.3g} above the next" if len(order) > 1 else ""
    text = f"{named(labels, best)} fits the query best, with a score of {number_text(scores[best], 1)}{lead}"
    return text + source_words(best, source, labels, number_text(scores[source or 0], 1))


def retrieve_words(weights: Float[np.ndarray, " pos"], labels: Sequence[str], source: int | None) -> str:
    """Which place gets most of the attention, and what the source gets."""
    best = int(np.argmax(weights))
    if len(weights) > 1 and weights[best] == weights.min():
        return f"Each of the {len(weights)} places gets {percent(weights[best], 0)} of the attention."
    text = f"{named(labels, best)} gets {percent(weights[best], 0)} of the attention"
    gets = percent(weights[source or 0], 0)
    if source not in (None, best) and labels[source or 0] == labels[best]:
        same = weights[np.array(labels) == labels[best]].sum()
        gets += f", all places with {labels[best]} together {percent(same, 0)}"
    return text + source_words(best, source, labels, gets)


def source_words(best: int, source: int | None, labels: Sequence[str], gets: str) -> str:
    """How a sentence about the best place goes on to the source."""
    if source is None:
        return "."
    return "; it is the source." if best == source else f"; the source, {named(labels, source)}, has {gets}."


def carry_words(data: Data) -> str:
    carry = data["carry"]
    lengths = np.linalg.norm(carry.parts.sum(0), axis=-1)  # pos
    most = int(np.argmax(lengths))
    return (
        f"The weighted messages lead from {carry.kept_name} to z, {np.linalg.norm(carry.output):.3g} away; "
        f"the longest part, {lengths[most]:.3g}, is that of {named(carry.labels, most)}."
    )


def draw(data: Data, theme: Theme) -> Figure:
    wide = 2 * SIDE + AXIS  # of the last panel
    words, size = data["sentences"], SMALL + 0.5
    first = max(text_height(words[step], size, SIDE) for step in STEPS[:3])
    second = max(text_height(words["carry"], size, SIDE), text_height(words["decide"], size, wide))
    top = STRIP + 0.1 + ABOVE
    below = top + SIDE + BELOW + first + 0.35 + ABOVE
    paper = sheet(theme, below + SIDE + BELOW + second + 0.4 * bool(data["plane"].note), title(data))
    strip(paper, 0, 0, data["labels"], data["source"])
    for index, step in enumerate(STEPS):
        left, y = AXIS + (index % 3) * (SIDE + AXIS), top if index < 3 else below
        frame = paper.part(left, y, wide if step == "decide" else SIDE, SIDE)
        draw_step(frame, data, step, f"{index + 1} {step}")
        frame.write(0, SIDE + BELOW - 0.1, words[step], size, frame.width, color=theme.ink)
    note(paper, data["plane"])
    return paper.figure


def title(data: Data) -> str:
    last = len(data["labels"]) - 1
    said = verdict(data["tokens"], data["probability"], data["demanded"], words_of(data))
    return f"What follows {named(data['labels'], last)}, in five steps: {said}"


def draw_step(frame: Frame, data: Data, step: str, name: str) -> None:
    if step in ("detect", "retrieve"):
        draw_places(frame, data, step, name)
        return
    axes = frame.axes(0, 0, frame.width, frame.height)
    axes.set_title(name, weight="bold")
    {"encode": draw_encode, "carry": draw_carry, "decide": draw_decide}[step](axes, data, frame.theme)


def draw_encode(axes: Axes, data: Data, theme: Theme) -> None:
    """The last place and the source among all tokens at all places."""
    labels, last, source = data["labels"], len(data["labels"]) - 1, data["source"]
    show_plane(axes, data["plane"], data["plane"].limits(data["cloud"], data["points"]))
    cross(axes, theme)
    ghost(axes, data["cloud"], theme)
    shown = [last] if source in (None, last) else [last, source]
    texts = [named(labels, place) for place in shown]
    token_dots(axes, data["points"][shown], [labels[place] for place in shown], theme, texts)


def draw_places(frame: Frame, data: Data, step: str, name: str) -> None:
    """Scores, or weights, of the last place for every place: a row of bars a head."""
    rows = data["scores"] if step == "detect" else 100 * data["carry"].weights
    unit = "score" if step == "detect" else "attention (%)" if len(rows) == 1 else "(%)"
    names, gap = head_names(len(rows)), 0.75
    high = (frame.height - gap * (len(rows) - 1)) / len(rows)
    for head, values in enumerate(rows):
        axes = frame.axes(0, head * (high + gap), frame.width, high)
        labels = column_names(axes, data["labels"])
        bars(axes, values, data["labels"], labels, frame.theme)
        if data["source"] is not None:
            outline(axes, data["source"], frame.theme.negative)
        axes.set_ylabel(f"{names[head]} {unit}".strip())
        short_ticks(axes.yaxis)
        if head == 0:
            axes.set_title(name, weight="bold")


def bars(axes: Axes, values: np.ndarray, tokens: Sequence[str], names: Sequence[str], theme: Theme) -> None:
    """One a place or token, from 0, in the tokens' colours."""
    axes.bar(range(len(values)), values, width=0.8, color=[token_colour(token) for token in tokens], zorder=2)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.12 * ((high - low) or 1.0)
    axes.set_ylim(low - room * (low < 0), high + room)
    axes.set_xlim(-0.6, len(values) - 0.4)
    axes.axhline(0, color=theme.faint, linewidth=0.6, zorder=1)
    is_token = tuple(names) == tuple(tokens)
    step = -(-len(names) // MOST_BARS) if is_token else max(1, len(names) // 6)
    axes.set_xticks(range(0, len(names), step), names[::step])
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    for text in axes.get_xticklabels():
        text.set_color(readable(token_colour(text.get_text()), theme))


def outline(axes: Axes, which: int, colour: str) -> None:
    """Frame one bar, and mark its foot, for a bar of no height shows no frame."""
    axes.patches[which].set(edgecolor=colour, linewidth=1.4)
    axes.axvspan(which - 0.5, which + 0.5, color=colour, alpha=0.15, linewidth=0, zorder=0)


def draw_carry(axes: Axes, data: Data, theme: Theme) -> None:
    """Weighted messages, tip to tail, from what is kept of the embedding to the sum."""
    plane, carry = data["plane"], data["carry"]
    limits = chain_limits(plane, data["chain"], data["end"])
    show_plane(axes, plane, limits)
    cross(axes, theme)
    ghost(axes, inside(data["cloud"], limits), theme)
    draw_chain(axes, data["chain"], data["end"], carry, (carry.start_name(carry.kept_name), "z"), theme)


def draw_decide(axes: Axes, data: Data, theme: Theme) -> None:
    """The probability of every token; what the rule demands is framed."""
    tokens, shares, allowed = data["tokens"], 100 * data["probability"], data["demanded"]
    bars(axes, shares, tokens, tokens, theme)
    axes.set_ylabel("probability (%)")
    is_right = allowed is not None and allowed[shares.argmax()]
    for token in [] if allowed is None else np.flatnonzero(allowed):
        outline(axes, int(token), theme.good if is_right else theme.bad)
    for token in np.flatnonzero(data["probability"] >= NAMED):
        text = percent(data["probability"][token], 0).rstrip("%")
        axes.annotate(
            text, (token, shares[token]), (0, 1.5), textcoords="offset points", ha="center", va="bottom",
            fontsize=SMALL, color=theme.muted,
        )  # fmt: skip


def caption(data: Data) -> str:
    steps = " ".join(f"{step.capitalize()}: {data['sentences'][step]}" for step in STEPS)
    source = "The source (framed) is the earliest token that the rule needs to know what follows. "
    return (
        f"The last place of {' '.join(data['labels'])}, step by step, by the model's own pass. "
        f"{source if words_of(data)['law'] == 'rule' else ''}Scores and attention are "
        "those of the last place for every place; the arrows are weight times message of every place, tip to "
        f"tail; grey: all embeddings. {steps} {data['plane'].note}"
    )
