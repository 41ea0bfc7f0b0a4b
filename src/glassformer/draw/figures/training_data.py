"""Training data: sequences as the model sees them, what the rule constrains, and what decides it.

`4 7 + 4`: the second 4 is constrained, and its arc leads to the first. Two sequences have one token replaced,
to show what wrong is.
"""

import numpy as np
from jaxtyping import Int
from matplotlib.figure import Figure

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import BODY, sheet, text_height
from glassformer.draw.parts.sequence_rows import (
    SHOWN,
    Kind,
    Row,
    draw_legend,
    draw_rows,
    kinds_of,
    rows_height,
    rows_of,
)
from glassformer.draw.picture import Data, words_of
from glassformer.draw.shares import percent
from glassformer.draw.theme import Theme
from glassformer.tasks import Sequences, constrained, source_distance
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences

DRAWN, SPOILT = 10, 2  # rows of either kind
COUNTED = 500  # sequences over which the shares are taken
ARCS = "to the earliest token that is needed"
NARROW = 15.9  # cm of the line that says the rule


def compute(subject: Subject) -> Data:
    automaton, random = subject.automaton, np.random.default_rng(3)
    data = subject.inputs.lengths(subject.data)
    tokens = draw_sequences(automaton, random, COUNTED, data.max_length)
    lengths = random.integers(data.min_length, data.max_length + 1, COUNTED)
    asked = constrained(automaton, tokens)
    asked[np.arange(len(tokens))[:, None] >= lengths] = False  # beyond the sequence's end
    distance = source_distance(automaton, tokens, reach=len(tokens))[asked]
    first = rows_of(automaton, tokens[:, :DRAWN], lengths[:DRAWN].tolist())
    return {
        "rule": subject.task.describe().replace("`", ""),
        "rows": first,
        "spoilt": spoilt_rows(automaton, tokens[:, DRAWN:], lengths[DRAWN:]),
        "share": float(asked.sum() / lengths.sum()),
        "told": float(np.mean(distance > 0)) if distance.size else 0.0,
        "distances": np.unique(distance[distance > 0]),
        "pool": pool_words(data, automaton),
        "prompt": automaton.length - 1 if automaton.length else 0,
    }


def pool_words(data: Sequences, automaton: Automaton) -> str:
    """What is trained on; prompts are drawn afresh for every batch, so that there is no pool of them."""
    if automaton.length:
        return f"prompts of {automaton.length - 1} tokens and their answers"
    return f"{data.count:,} sequences of {data.min_length} to {data.max_length} tokens"


def spoilt_rows(
    automaton: Automaton, tokens: Int[np.ndarray, "pos batch"], lengths: Int[np.ndarray, " batch"]
) -> list[Row]:
    """Sequences in which one constrained token is replaced and every other one is still right."""
    found: list[Row] = []
    for index, length in enumerate(lengths.tolist()):
        if len(found) == SPOILT:
            break
        changed = spoil(automaton, tokens[: min(SHOWN, length), index])
        if changed is not None:
            found += rows_of(automaton, changed[:, None], [len(changed)])
    return found


def spoil(automaton: Automaton, tokens: Int[np.ndarray, " pos"]) -> Int[np.ndarray, " pos"] | None:
    """The sequence with one wrong token, as near as can be to two thirds of it."""
    places = np.flatnonzero(constrained(automaton, tokens[:, None])[:, 0])
    vocab = len(automaton.tokens)
    versions = np.tile(tokens[:, None, None], (1, len(places), vocab))  # pos place tok
    versions[places, np.arange(len(places))] = np.arange(vocab)
    versions = versions.reshape(len(tokens), -1)
    wrong = kinds_of(automaton, versions) == Kind.WRONG
    single = np.flatnonzero(wrong.sum(0) == 1)
    if not len(single):
        return None
    far = np.abs(wrong[:, single].argmax(0) - 2 * len(tokens) / 3)
    nearest = single[far == far.min()]
    return np.asarray(versions[:, nearest[len(nearest) // 2]])


def draw(data: Data, theme: Theme) -> Figure:
    rows, spoilt = data["rows"], data["spoilt"]
    above = text_height(data["rule"], BODY, NARROW) + 0.15 if data["rule"] else 0.0
    head = 0.42
    wrong = rows_height(len(spoilt)) + head + 0.25 if spoilt else 0.0
    paper = sheet(theme, above + head + rows_height(len(rows)) + wrong + 0.75, title(data))
    if data["rule"]:
        paper.write(0, 0, data["rule"], BODY, NARROW, color=theme.muted)
    paper.write(0, above, f"{len(rows)} sequences, drawn as the {data['pool']} of the training data are")
    draw_rows(paper, above + head - 0.1, rows)
    below = above + head + rows_height(len(rows)) + 0.25
    if spoilt:
        paper.write(0, below, "made wrong on purpose: one token of each is replaced")
        draw_rows(paper, below + head - 0.1, spoilt, len(rows) + 1)
    draw_legend(paper, paper.height - 0.45, ARCS)
    return paper.figure


def title(data: Data) -> str:
    share, distances, law = data["share"], data["distances"], words_of(data)["law"]
    if data["prompt"]:
        return f"Training data: prompts of {data['prompt']} tokens, each with the one token that answers it"
    if not share:
        return f"The {law} constrains none of these tokens"
    said = f"The {law} constrains {percent(share)} of the tokens"
    if not len(distances):
        return f"{said}, and only the sequence's beginning tells how"
    near, far = int(distances.min()), int(distances.max())
    places = f"{near} to {far} places" if near < far else f"{far} place{'s' * (far > 1)}"
    return f"{said}; what decides them reaches {places} back"


def caption(data: Data) -> str:
    return (
        f"Sequences drawn as the training data are ({data['pool']}), their first {SHOWN} tokens. Framed "
        f"tokens are constrained by the {words_of(data)['law']}; an arc leads from each to the earliest "
        "token that one must see "
        f"to know what is allowed. Over {COUNTED} sequences {percent(data['share'])} of the tokens are "
        f"constrained, and for {percent(data['told'])} of these the tokens before tell what is allowed "
        f"without the sequence's beginning. In {len(data['spoilt'])} sequences one token was replaced by one "
        f"that {'breaks the rule' if words_of(data)['law'] == 'rule' else 'is wrong'}."
    )
