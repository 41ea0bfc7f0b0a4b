"""What a model says to one input, whether that is right, and by how much.

A margin is the logit of the best right token minus that of the best other one: below 0 the answer is wrong.
An adder's is the smallest of its digits', each after the digits that the model wrote itself.

>>> from glassformer.runs.load import load_model
>>> model = load_model("nanogpt-58")
>>> found = respond_input(model, model.task, "0+9000")
>>> found.expected, found.got, found.is_right
('9000', '15000', False)
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.models.adding import read_answer_number
from glassformer.models.generate import write_greedy
from glassformer.models.margins import measure_margins, measure_token_margins
from glassformer.models.model import Model
from glassformer.proofs.contexts import find_window_demand
from glassformer.tasks import Addition, Strings, Task, tabulate_automaton, to_digits
from glassformer.tasks.addition import require_addition
from glassformer.tasks.strings import require_strings


@dataclass(frozen=True)
class _Response:
    """An input as a user would type it, what is right, and what the model says."""

    input: str
    expected: str  # `2 or 4` where several tokens are right; empty where nothing is demanded
    got: str
    margin: float | None  # none where a logit overflows
    is_right: bool
    record: dict[str, Any]  # the same in the form of a verdict's counterexample


class _WrittenSums(NamedTuple):
    """Sums as a model writes them, in the order of writing."""

    tokens: Int[np.ndarray, "pos batch"]  # problem and answer
    wanted: Int[np.ndarray, "step batch"]
    margins: Float[np.ndarray, "step batch"]


def respond_input(model: Model, task: Task, text: str) -> _Response:
    """To an input as it is typed: `57+68` of an adder, `4 7 +` of any other model."""
    if task.family == "addition":
        return respond_sum(model, require_addition(task, "the model"), parse_pair(text))
    return _respond_context(model, require_strings(task, "the model"), text)


def respond_sum(model: Model, task: Addition, pair: tuple[int, int]) -> _Response:
    """A sum as the model writes it."""
    a, b = pair
    written = write_sums(model, task, *(to_digits([number], task.digits, task.base) for number in (a, b)))
    got = read_answer_number(task.written(), task.written().decode(written.tokens)[:, 0])
    margin = float(written.margins.min())
    expected = task.solve(a, b)
    record = {"a": a, "b": b, "expected": expected, "got": got}
    return _Response(
        f"{a}{task.does.sign}{b}", str(expected), str(got), margin, bool(got == expected), record
    )


def _respond_context(model: Model, task: Strings, text: str) -> _Response:
    """A context with what it demands; nothing is expected where it demands nothing."""
    automaton = tabulate_automaton(task)
    context = automaton.ids(text)
    allowed = find_window_demand(automaton, context, model.architecture.context)
    logits = model.forward(context, last=1)[0].astype(np.float64)  # tok
    best = int(logits.argmax())
    judged = np.arange(len(logits)) == best if allowed is None else allowed
    gap = float(measure_margins(logits[:, None], judged[:, None])[0])
    labels = [] if allowed is None else [automaton.tokens[token] for token in np.flatnonzero(allowed)]
    got = automaton.tokens[best]
    record = {
        "context": text,
        "expected": labels,
        "got": got,
        "length": len(context),
        "tie": got in labels,  # another token has the same logit
    }
    margin = gap if np.isfinite(gap) else None
    return _Response(text, " or ".join(labels), got, margin, allowed is None or gap > 0, record)


def write_sums(
    model: Model, task: Addition, x: Int[np.ndarray, "digit batch"], y: Int[np.ndarray, "digit batch"]
) -> _WrittenSums:
    """Every digit, with its margin."""
    layout, seen = task.written(), list[np.ndarray]()
    tokens = write_greedy(model, layout.prompt(x, y), task.digits + 1, seen.append)
    wanted = layout.encode(x, y, task.solve_digits(x, y))[layout.answer]
    return _WrittenSums(tokens, wanted, measure_token_margins(np.stack(seen, 1), wanted))


def parse_pair(text: str) -> tuple[int, int]:
    """The two numbers of a sum as it is typed.

    >>> parse_pair("57+68")
    (57, 68)
    """
    a, plus, b = text.replace("-", "+").partition("+")  # the task says which of them it is
    if not (plus and a.isdecimal() and b.isdecimal()):
        raise UserError(f"{text[:40]!r} is no sum such as 57+68")
    return int(a), int(b)
