"""One input as the model answers it: what was right, what it said, and by how much.

A margin is the logit of the best right token less that of the best other one: below 0 the answer is wrong.
An adder's is the smallest of its digits', each after the digits that the model wrote itself.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.model.adding import read_number
from glassformer.model.generate import write_greedy
from glassformer.model.model import Model
from glassformer.proof.contexts import NOTHING, tabulate_demands
from glassformer.proof.tables import NotProvableError
from glassformer.tasks import Addition, Rule, add, digits_of, tabulate
from glassformer.tasks.automaton import Automaton

Example = dict[str, Any]


class Written(NamedTuple):
    """Sums as a model writes them, in the order of writing."""

    tokens: Int[np.ndarray, "pos batch"]  # problem and answer
    wanted: Int[np.ndarray, "step batch"]
    margins: Float[np.ndarray, "step batch"]


def adder_example(model: Model, task: Addition, pair: tuple[int, int], about: str) -> Example:
    """A sum as the model writes it."""
    a, b = pair
    written = write_sums(model, task, digits_of([a], task.digits), digits_of([b], task.digits))
    got = read_number(task.written(), task.written().decode(written.tokens)[:, 0])
    return {
        "input": f"{a}+{b}",
        "about": about,
        "margin": float(written.margins.min()),
        "expected": str(a + b),
        "got": str(got),
        "right": bool(got == a + b),
    }


def write_sums(
    model: Model, task: Addition, x: Int[np.ndarray, "digit batch"], y: Int[np.ndarray, "digit batch"]
) -> Written:
    """Every digit, with its margin."""
    layout, seen = task.written(), list[np.ndarray]()
    tokens = write_greedy(model, layout.prompt(x, y), task.digits + 1, seen.append)
    wanted = layout.encode(x, y, add(x, y))[layout.answer]
    logits = np.stack(seen, 1).astype(np.float64)  # tok step batch
    right = np.arange(len(logits))[:, None, None] == wanted[None]
    return Written(tokens, wanted, margins_of(logits, right))


def rule_example(model: Model, rule: Rule, text: str, about: str) -> Example:
    """A context of a rule, with what it demands; nothing is expected where it demands nothing."""
    automaton = tabulate(rule)
    context = automaton.ids(text)
    allowed = demand_after(automaton, context, model.architecture.context)
    logits = model.forward(context, last=1)[0].astype(np.float64)  # tok
    best = int(logits.argmax())
    judged = np.arange(len(logits)) == best if allowed is None else allowed
    gap = float(margins_of(logits[:, None], judged[:, None])[0])
    return {
        "input": text,
        "about": about,
        "margin": gap if np.isfinite(gap) else None,
        "expected": demand_text(automaton, allowed),
        "got": automaton.tokens[best],
        "right": allowed is None or gap > 0,
    }


def demand_after(
    automaton: Automaton, context: Int[np.ndarray, " pos"], size: int
) -> Bool[np.ndarray, " tok"] | None:
    """The tokens that may follow; a context shorter than the window begins a sequence."""
    try:
        demands = tabulate_demands(automaton)
    except NotProvableError:
        return None
    demand = int(demands.of(context[None], whole=len(context) == size)[0])
    return None if demand == NOTHING else demands.allowed[demand]


def demand_text(automaton: Automaton, allowed: Bool[np.ndarray, " tok"] | None) -> str:
    """`6`, `2 or 4`; empty where nothing is demanded."""
    if allowed is None:
        return ""
    return " or ".join(automaton.tokens[token] for token in np.flatnonzero(allowed))


def margins_of(logits: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Best right logit less best other one, over the first axis."""
    best = np.where(right, logits, -np.inf).max(0)
    other = np.where(right, -np.inf, logits).max(0)
    found: np.ndarray = best - other
    return found
