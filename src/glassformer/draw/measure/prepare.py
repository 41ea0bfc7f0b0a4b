"""From a loaded model to the subject of its figures: the step, the sequences, the past."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Int

from glassformer.draw.measure.subject import Past, Subject
from glassformer.draw.measure.trials import draw_trials
from glassformer.errors import UserError
from glassformer.runs.folder import stored
from glassformer.runs.history import read_history, read_seed
from glassformer.runs.load import Loaded
from glassformer.runs.metrics import read_metrics
from glassformer.tasks import Rule, add, digits_of
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.draws import draw_sequences

DEMOS = 3  # sequences that a figure of several shows


def rule_subject(
    loaded: Loaded,
    name: str,
    folder: Path | None = None,
    step: int | None = None,
    sequences: Sequence[str] = (),
    dims: tuple[int, int] | None = None,
    query: str | None = None,
) -> Subject:
    """A rule model, at a saved step where one is asked for; the user's sequences come first."""
    if not isinstance(loaded.task, Rule):
        raise UserError(f"{name} is an adder: its figures are the poster's panels")
    past = read_past(folder) if folder else Past()
    subject = Subject(loaded, loaded.task, loaded.data, name, (), None, past, dims)
    if step is not None:
        subject = at_step(subject, step)
    chosen = [read_sequence(subject.automaton, text, subject.context) for text in sequences]
    chosen += default_sequences(subject.automaton, subject.context)
    return replace(subject, sequences=tuple(chosen[:DEMOS]), query=read_query(subject, query))


def at_step(subject: Subject, step: int) -> Subject:
    """The same subject with the weights of a saved step."""
    history = subject.past.history
    if history is None:
        raise UserError(f"{subject.name} has no saved steps (a run folder has); leave --step out")
    params = history.at(history.index_of(step))
    return replace(subject, model=replace(subject.model, params=params), step=step)


def sum_subject(
    loaded: Loaded, name: str, folder: Path | None = None, pair: tuple[int, int] | None = None
) -> Subject:
    """An adder, in the middle of writing a sum: the pair's, or one that carries everywhere."""
    task = loaded.addition
    x, y = (digits_of([number], task.digits) for number in (pair or carrying(task.digits)))
    layout = task.written()
    written = list(layout.z_places)[task.digits // 2]
    tokens = layout.encode(x, y, add(x, y))[:written, 0]
    past = read_past(folder) if folder else Past()
    return Subject(loaded, task, loaded.data, name, (tokens,), None, past)


def carrying(digits: int) -> tuple[int, int]:
    """Two numbers of so many digits with a carry in every column.

    >>> carrying(4)
    (6543, 4567)
    """
    ascending = [4 + place % 4 for place in range(digits)]
    first = int("".join(str(10 - digit) for digit in ascending))
    return first, int("".join(map(str, ascending)))


def read_past(folder: Path) -> Past:
    """What a run folder tells of the training."""
    rows = read_metrics(folder) if (folder / "metrics.csv").exists() else []
    return Past(read_history(folder), rows, read_seed(folder), stored(folder))


def read_sequence(automaton: Automaton, text: str, context: int) -> Int[np.ndarray, " pos"]:
    """The tokens of a text such as "4 1 + 4"; of a longer one than the model sees, the last tokens."""
    tokens = automaton.ids(text)
    if not len(tokens):
        raise UserError(f"--sequence must hold tokens parted by blanks; valid: {', '.join(automaton.tokens)}")
    return tokens[-context:]


def default_sequences(automaton: Automaton, context: int) -> list[Int[np.ndarray, " pos"]]:
    """Contexts with something to predict, as different in source and answer as the first hundred allow."""
    trials = draw_trials(automaton, context, 100, seed=5)
    if not len(trials):
        return list(draw_sequences(automaton, np.random.default_rng(5), DEMOS, context).T)
    chosen: list[int] = []
    for _ in range(min(DEMOS, len(trials))):
        used = [(int(trials.source[i]), int(trials.following[i])) for i in chosen]
        scores = [
            (
                np.sum([s == trials.source[i] for s, _ in used])
                + np.sum([f == trials.following[i] for _, f in used]),
                i,
            )
            for i in range(len(trials))
            if i not in chosen
        ]
        chosen.append(int(min(scores)[1]))
    return [trials.contexts[i] for i in chosen]


def read_query(subject: Subject, text: str | None) -> tuple[int, int] | None:
    """`+@7`: token and place of one query."""
    if text is None:
        return None
    token, _, place = text.rpartition("@")
    if not token.strip() or not place.isdigit() or int(place) >= subject.context:
        raise UserError(
            f"--query must be TOKEN@PLACE with a place from 0 to {subject.context - 1}, but it is '{text}'"
        )
    return int(subject.automaton.ids(token)[0]), int(place)
