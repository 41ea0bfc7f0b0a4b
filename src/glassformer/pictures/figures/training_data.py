"""Training data: sequences as the model sees them, what the rule constrains, and what decides it.

`4 7 + 4`: the second 4 is constrained, and its arc leads to the first. Two sequences have one token replaced,
to show what wrong is.
"""

import numpy as np
from jaxtyping import Int
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.core.words import format_count, format_percent
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import BODY, make_sheet, measure_text_height
from glassformer.pictures.parts.sequence_rows import (
    SHOWN,
    SequenceRow,
    TokenKind,
    classify_tokens,
    draw_cell_legend,
    draw_sequence_rows,
    make_sequence_rows,
    measure_rows_height,
)
from glassformer.pictures.picture import Data, find_task_words
from glassformer.tasks import Sequences, mark_constrained, measure_source_distance
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences

_DRAWN, _SPOILT = 10, 2  # rows of either kind
_COUNTED = 500  # sequences over which the shares are taken
_ARCS = "to the earliest token that is needed"
_NARROW = 15.9  # cm of the line that says the rule


def compute(subject: Subject) -> Data:
    automaton, random = subject.automaton, np.random.default_rng(3)
    data = subject.inputs.lengths(subject.data)
    tokens = draw_sequences(automaton, random, _COUNTED, data.max_length)
    lengths = random.integers(data.min_length, data.max_length + 1, _COUNTED)
    asked = mark_constrained(automaton, tokens)
    asked[np.arange(len(tokens))[:, None] >= lengths] = False  # beyond the sequence's end
    distance = measure_source_distance(automaton, tokens, reach=len(tokens))[asked]
    first = make_sequence_rows(automaton, tokens[:, :_DRAWN], lengths[:_DRAWN].tolist())
    return {
        "rule": subject.task.describe().replace("`", ""),
        "rows": first,
        "spoilt": _make_spoilt_rows(automaton, tokens[:, _DRAWN:], lengths[_DRAWN:]),
        "share": float(asked.sum() / lengths.sum()),
        "told": float(np.mean(distance > 0)) if distance.size else 0.0,
        "distances": np.unique(distance[distance > 0]),
        "pool": _describe_training_pool(data, automaton),
        "prompt": automaton.length - 1 if automaton.length else 0,
    }


def _describe_training_pool(data: Sequences, automaton: Automaton) -> str:
    """What is trained on; prompts are drawn afresh for every batch, so that there is no pool of them."""
    if automaton.length:
        return f"prompts of {automaton.length - 1} tokens and their answers"
    return f"{data.count:,} sequences of {data.min_length} to {data.max_length} tokens"


def _make_spoilt_rows(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"], lengths: Int[np.ndarray, " batch"]
) -> list[SequenceRow]:
    """Sequences in which one constrained token is replaced and every other one is still right."""
    found: list[SequenceRow] = []
    for index, length in enumerate(lengths.tolist()):
        if len(found) == _SPOILT:
            break
        changed = _spoil_sequence(automaton, tokens[: min(SHOWN, length), index])
        if changed is not None:
            found += make_sequence_rows(automaton, changed[:, None], [len(changed)])
    return found


def _spoil_sequence(automaton: Automaton, tokens: Int[np.ndarray, " pos"]) -> Int[np.ndarray, " pos"] | None:
    """The sequence with one wrong token, as near as can be to two thirds of it."""
    places = np.flatnonzero(mark_constrained(automaton, tokens[:, None])[:, 0])
    vocab = len(automaton.tokens)
    versions = np.tile(tokens[:, None, None], (1, len(places), vocab))  # pos place tok
    versions[places, np.arange(len(places))] = np.arange(vocab)
    versions = versions.reshape(len(tokens), -1)
    wrong = classify_tokens(automaton, versions) == TokenKind.WRONG
    single = np.flatnonzero(wrong.sum(0) == 1)
    if not len(single):
        return None
    far = np.abs(wrong[:, single].argmax(0) - 2 * len(tokens) / 3)
    nearest = single[far == far.min()]
    return np.asarray(versions[:, nearest[len(nearest) // 2]])


def draw(data: Data, theme: Theme) -> Figure:
    rows, spoilt = data["rows"], data["spoilt"]
    above = measure_text_height(data["rule"], BODY, _NARROW) + 0.15 if data["rule"] else 0.0
    head = 0.42
    wrong = measure_rows_height(len(spoilt)) + head + 0.25 if spoilt else 0.0
    paper = make_sheet(theme, above + head + measure_rows_height(len(rows)) + wrong + 0.75, title(data))
    if data["rule"]:
        paper.write(0, 0, data["rule"], BODY, _NARROW, color=theme.muted)
    paper.write(0, above, f"{len(rows)} sequences, sampled like the {data['pool']} of the training data")
    draw_sequence_rows(paper, above + head - 0.1, rows)
    below = above + head + measure_rows_height(len(rows)) + 0.25
    if spoilt:
        paper.write(0, below, "made wrong on purpose: one token of each is replaced")
        draw_sequence_rows(paper, below + head - 0.1, spoilt, len(rows) + 1)
    draw_cell_legend(paper, paper.height - 0.45, _ARCS)
    return paper.figure


def title(data: Data) -> str:
    share, distances, law = data["share"], data["distances"], find_task_words(data)["law"]
    if data["prompt"]:
        return f"Training data: prompts of {data['prompt']} tokens, each with the one token that answers it"
    if not share:
        return f"The {law} constrains none of these tokens"
    said = f"The {law} constrains {format_percent(share)} of the tokens"
    if not len(distances):
        return f"{said}, and they depend on the beginning of the sequence"
    near, far = int(distances.min()), int(distances.max())
    places = f"{near} to {far} positions" if near < far else format_count(far, "position")
    return f"{said}; the deciding token is {places} back"


def caption(data: Data) -> str:
    return (
        f"Sequences sampled like the training data ({data['pool']}), their first {SHOWN} tokens. Framed "
        f"tokens are constrained by the {find_task_words(data)['law']}; an arc leads from each to the "
        f"earliest token that one must see to know what is allowed. Over {_COUNTED} sequences "
        f"{format_percent(data['share'])} of the tokens are constrained, and for "
        f"{format_percent(data['told'])} of these the tokens before tell what is allowed without the "
        f"sequence's beginning. In {len(data['spoilt'])} sequences one token was replaced by one that "
        f"{'breaks the rule' if find_task_words(data)['law'] == 'rule' else 'is wrong'}."
    )
