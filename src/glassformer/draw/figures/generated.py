"""Generated sequences: what the model writes before training and after, token by token at temperature 1.

Only the first token of a sequence is given, or the whole prompt of a question; from there on the model reads
what it wrote itself.
"""

import numpy as np
from jaxtyping import Int32
from matplotlib.figure import Figure

from glassformer.draw import needs
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import sheet
from glassformer.draw.parts.sequence_rows import (
    SHOWN,
    Kind,
    draw_legend,
    draw_rows,
    kinds_of,
    rows_height,
    rows_of,
)
from glassformer.draw.picture import Data, words_of
from glassformer.draw.shares import percent, share_text
from glassformer.draw.theme import Theme
from glassformer.model.generate import write_sampled
from glassformer.model.model import Model
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences
from glassformer.verify.share import Share

WRITTEN, SHOWN_ROWS = 500, 6  # sequences of each model, and how many of them are drawn
LONGEST = 50  # tokens written, at most
ARCS = "to the earliest token that is needed"


def compute(subject: Subject) -> Data:
    history = needs.before(subject)
    first = Model(subject.model.architecture, history.at(0))
    last = int(history.steps[-1]) if subject.step is None else subject.step
    length = min(subject.inputs.lengths(subject.data).max_length, LONGEST)
    return {
        "before": written(subject, first, length) | {"step": int(history.steps[0])},
        "after": written(subject, subject.model, length) | {"step": last},
        "length": length,
    }


def written(subject: Subject, model: Model, length: int) -> Data:
    """Some of the model's sequences, and the share of constrained tokens that are wrong in all of them."""
    automaton, random = subject.automaton, np.random.default_rng(6)
    given = max(automaton.length - 1, 1)
    tokens = write_sampled(model, beginnings(automaton, given, random), length, random)
    kinds = kinds_of(automaton, tokens, given)
    wrong = int((kinds == Kind.WRONG).sum())
    return {
        "rows": rows_of(automaton, tokens[:, :SHOWN_ROWS], [length] * SHOWN_ROWS, given),
        "error": Share.of(wrong, int((kinds != Kind.FREE).sum())),
    }


def beginnings(
    automaton: Automaton, given: int, random: np.random.Generator
) -> Int32[np.ndarray, "pos batch"]:
    """What the model goes on from: a first token, or a whole prompt."""
    if given > 1:
        return draw_sequences(automaton, random, WRITTEN, given)
    chances = automaton.probability[automaton.start]
    return random.choice(len(automaton.tokens), (1, WRITTEN), p=chances).astype(np.int32)


def draw(data: Data, theme: Theme) -> Figure:
    head, panel = 0.45, rows_height(SHOWN_ROWS)
    paper = sheet(theme, 2 * (head + panel) + 0.3 + 0.75, title(data))
    for index, name in enumerate(("before", "after")):
        top = index * (head + panel + 0.3)
        error, step = data[name]["error"], data[name]["step"]
        counted = f"{share_text(error)} of {error.positions:,} constrained tokens wrong"
        counted = counted if error.positions else "no constrained token"
        paper.write(0, top, f"step {step:,}: {counted}", weight="bold")
        draw_rows(paper, top + head - 0.1, data[name]["rows"])
    draw_legend(paper, paper.height - 0.45, ARCS)
    return paper.figure


def title(data: Data) -> str:
    before, after = (percent(data[name]["error"].value) for name in ("before", "after"))
    first, last = (data[name]["step"] for name in ("before", "after"))
    start = f"after {first:,} steps" if first else "before training"
    wrong = "breaks the rule" if words_of(data)["law"] == "rule" else "is wrong"
    return (
        f"What the model writes {wrong} at {before} of the constrained tokens {start} "
        f"and at {after} after {last:,} steps"
    )


def caption(data: Data) -> str:
    before, after = data["before"], data["after"]
    first = "first token" if words_of(data)["law"] == "rule" else "prompt"
    return (
        f"{WRITTEN} sequences of {data['length']} tokens, drawn at temperature 1 from the model at step "
        f"{before['step']:,} and at step {after['step']:,}; the {first} is the task's. The first {SHOWN} "
        f"tokens of {SHOWN_ROWS} of them are shown. Of the constrained tokens {share_text(before['error'])} "
        f"and {share_text(after['error'])} are wrong (exact intervals of Clopper and Pearson, as if tokens "
        "were independent). Arcs lead to the earliest token that is needed; after a mistake there is none "
        "until the tokens since tell again what is allowed."
    )
