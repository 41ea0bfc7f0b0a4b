"""Generated sequences: what the model generates before and after training, token by token at temperature 1.

Only the first token of a sequence is given, or the whole prompt of a question; from there on the model reads
what it wrote itself.
"""

import numpy as np
from jaxtyping import Int32
from matplotlib.figure import Figure

from glassformer.core.share import MeasuredShare
from glassformer.core.theme import Theme
from glassformer.core.words import format_percent, format_share
from glassformer.models.generate import write_sampled
from glassformer.models.model import Model
from glassformer.pictures import needs
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.parts.sequence_rows import (
    SHOWN,
    TokenKind,
    classify_tokens,
    draw_cell_legend,
    draw_sequence_rows,
    make_sequence_rows,
    measure_rows_height,
)
from glassformer.pictures.picture import Data, find_task_words
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences

WRITTEN, _SHOWN_ROWS = 500, 6  # sequences of each model, and how many of them are drawn
_LONGEST = 50  # tokens written, at most
_ARCS = "to the earliest token that is needed"


def compute(subject: Subject) -> Data:
    history = needs.require_first_step(subject)
    first = Model(subject.model.architecture, history.at(0))
    last = int(history.steps[-1]) if subject.step is None else subject.step
    length = min(subject.inputs.lengths(subject.data).max_length, _LONGEST)
    return {
        "before": _generate_examples(subject, first, length) | {"step": int(history.steps[0])},
        "after": _generate_examples(subject, subject.model, length) | {"step": last},
        "length": length,
    }


def _generate_examples(subject: Subject, model: Model, length: int) -> Data:
    """Some of the model's sequences, and the share of constrained tokens that are wrong in all of them."""
    automaton, random = subject.automaton, np.random.default_rng(6)
    given = max(automaton.length - 1, 1)
    tokens = write_sampled(model, _sample_beginnings(automaton, given, random), length, random)
    kinds = classify_tokens(automaton, tokens, given)
    wrong = int((kinds == TokenKind.WRONG).sum())
    return {
        "rows": make_sequence_rows(automaton, tokens[:, :_SHOWN_ROWS], [length] * _SHOWN_ROWS, given),
        "error": MeasuredShare.of(wrong, int((kinds != TokenKind.FREE).sum())),
    }


def _sample_beginnings(
    automaton: Automaton, given: int, random: np.random.Generator
) -> Int32[np.ndarray, "pos batch"]:
    """What the model goes on from: a first token, or a whole prompt."""
    if given > 1:
        return draw_sequences(automaton, random, WRITTEN, given)
    chances = automaton.probability[automaton.start]
    return random.choice(len(automaton.tokens), (1, WRITTEN), p=chances).astype(np.int32)


def draw(data: Data, theme: Theme) -> Figure:
    head, panel = 0.45, measure_rows_height(_SHOWN_ROWS)
    paper = make_sheet(theme, 2 * (head + panel) + 0.3 + 0.75, title(data))
    for index, name in enumerate(("before", "after")):
        top = index * (head + panel + 0.3)
        error, step = data[name]["error"], data[name]["step"]
        counted = f"{format_share(error)} of {error.positions:,} constrained tokens wrong"
        counted = counted if error.positions else "no constrained token"
        paper.write(0, top, f"step {step:,}: {counted}", weight="bold")
        draw_sequence_rows(paper, top + head - 0.1, data[name]["rows"])
    draw_cell_legend(paper, paper.height - 0.45, _ARCS)
    return paper.figure


def title(data: Data) -> str:
    before, after = (format_percent(data[name]["error"].value) for name in ("before", "after"))
    first, last = (data[name]["step"] for name in ("before", "after"))
    start = f"after {first:,} steps" if first else "before training"
    wrong = "breaks the rule" if find_task_words(data)["law"] == "rule" else "is wrong"
    return (
        f"What the model generates {wrong} at {before} of the constrained tokens {start} "
        f"and at {after} after {last:,} steps"
    )


def caption(data: Data) -> str:
    before, after = data["before"], data["after"]
    first = "first token" if find_task_words(data)["law"] == "rule" else "prompt"
    return (
        f"{WRITTEN} sequences of {data['length']} tokens, drawn at temperature 1 from the model at step "
        f"{before['step']:,} and at step {after['step']:,}; the {first} is the task's. The first {SHOWN} "
        f"tokens of {_SHOWN_ROWS} of them are shown. Of the constrained tokens "
        f"{format_share(before['error'])} and {format_share(after['error'])} are wrong (exact intervals of "
        "Clopper and Pearson, as if tokens were independent). Arcs lead to the earliest token that is "
        "needed; after a mistake there is none until the tokens since tell again what is allowed."
    )
