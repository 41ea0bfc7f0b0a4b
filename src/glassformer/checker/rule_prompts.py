"""All prompts of a question, listed by its automaton, run and counted.

A prompt is free: at each position any token that the automaton writes there. Its answer is the one token that
the state after it allows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.checker.cores import map_on_cores
from glassformer.checker.fields import read_field, require_finite_number, require_integer
from glassformer.checker.rule_contexts import RuleContexts
from glassformer.checker.rule_examples import check_context, read_context
from glassformer.checker.rule_rows import measure_context_margins
from glassformer.models.model import Model
from glassformer.tasks.automaton import Automaton

_MOST_RUN = 1 << 24  # prompts that a check runs at most
_BLOCK = 1 << 13  # at a time


@dataclass(frozen=True)
class PromptCounts:
    """How many prompts there are, and how many are answered wrongly; none: not counted."""

    prompts: int
    errors: tuple[int, int] | None
    smallest_margin: float | None = None  # of all


def check_prompts(tree: Mapping[str, Any], model: Model, automaton: Automaton, noun: str) -> PromptCounts:
    """Every claim about the prompts of a question."""
    contexts = RuleContexts(automaton, model.architecture.context)
    if model.architecture.context != automaton.length - 1:
        raise ClaimError(f"the model sees {model.architecture.context} tokens, not the whole {noun}")
    prompts = _count_prompts(automaton)
    if read_field(tree, "inputs", str) != str(prompts):
        raise ClaimError(f"there are {prompts} {noun}s, not {tree['inputs'][:60]}")
    if tree["counterexample"] is not None:
        tokens = check_context(model, contexts, read_field(tree, "counterexample", dict))
        _require_prompt(contexts, tokens)
    errors, least = _check_errors(tree, model, contexts, prompts)
    is_refuted = tree["counterexample"] is not None
    expected = "refuted" if is_refuted else "proved" if errors == 0 else "undecided"
    if bool(errors) and not is_refuted:
        raise ClaimError(f"{errors:,} {noun}s are answered wrongly, but there is no counterexample")
    if expected != tree["verdict"]:
        raise ClaimError(f"the verdict is {tree['verdict']}, but the {noun}s say {expected}")
    return PromptCounts(prompts, None if errors is None else (errors, errors), least)


def _count_prompts(automaton: Automaton) -> int:
    """By the states that they lead to."""
    ways = {int(automaton.start): 1}
    for _ in range(automaton.length - 1):
        further = dict[int, int]()
        for state, count in ways.items():
            for token in np.flatnonzero(automaton.probability[state]):
                reached = int(automaton.next[state, token])
                further[reached] = further.get(reached, 0) + count
        ways = further
    return sum(ways.values())


def _check_errors(
    tree: Mapping[str, Any], model: Model, contexts: RuleContexts, prompts: int
) -> tuple[int | None, float | None]:
    """How many are wrong and the smallest margin, by running all; none where nothing is said of them."""
    names_margin = tree["smallest_margin"] is not None or tree["hardest"] is not None
    if tree["errors"] is None:
        if names_margin:
            raise ClaimError("a smallest margin is claimed, but not how many prompts fail")
        return None, None
    if prompts > _MOST_RUN:
        raise ClaimError(f"{prompts:,} prompts are more than the {_MOST_RUN:,} that a check runs")
    errors, least = _run_prompts(model, contexts)
    if require_integer(tree["errors"], "errors") != errors:
        raise ClaimError(f"{errors:,} prompts are answered wrongly, not {tree['errors']}")
    if names_margin:
        _check_least(tree, model, contexts, least)
    return errors, least if np.isfinite(least) else None


def _check_least(tree: Mapping[str, Any], model: Model, contexts: RuleContexts, least: float) -> None:
    """The margin that is said to be the smallest is, and the hardest prompt has it."""
    claimed = require_finite_number(tree["smallest_margin"], "smallest_margin")
    tokens = read_context(contexts, tree["hardest"])
    _require_prompt(contexts, tokens)
    margin = float(_measure_prompt_margins(model, contexts, tokens)[0])
    if not claimed == least == margin:
        raise ClaimError(f"the smallest margin is {least:.17g}, and {margin:.17g} after {tree['hardest']}")


def _require_prompt(contexts: RuleContexts, tokens: np.ndarray) -> None:
    if len(tokens) != contexts.context or not contexts.is_lawful(tokens)[0]:
        raise ClaimError("a context of the certificate is no prompt of the question")


def _run_prompts(model: Model, contexts: RuleContexts) -> tuple[int, float]:
    """How many prompts are answered wrongly, and the smallest margin of all."""
    automaton = contexts.automaton

    def run(first: int) -> str:
        wrong, least = 0, np.inf
        after = np.array([automaton.next[automaton.start, first]])
        for tokens in _list_prompts(contexts, np.full((1, 1), first, np.int32), after):
            margin = np.nan_to_num(_measure_prompt_margins(model, contexts, tokens), nan=-np.inf)
            wrong, least = wrong + int((margin <= 0).sum()), min(least, float(margin.min()))
        return f"{wrong} {float(least).hex()}"

    begins = np.flatnonzero(automaton.probability[automaton.start]).tolist()
    said = [answer.split() for answer in map_on_cores(run, begins)]
    return sum(int(wrong) for wrong, _ in said), min(float.fromhex(least) for _, least in said)


def _measure_prompt_margins(model: Model, contexts: RuleContexts, tokens: np.ndarray) -> np.ndarray:
    return measure_context_margins(model, tokens, contexts.allowed[contexts.demands(tokens)].T)


def _list_prompts(contexts: RuleContexts, tokens: np.ndarray, state: np.ndarray) -> Iterator[np.ndarray]:
    """All prompts that begin with tokens `pos begin`, which lead to states, `pos prompt`, some at a time."""
    if len(tokens) == contexts.context:
        yield tokens
        return
    which, token = np.nonzero(contexts.automaton.probability[state])
    tokens = np.concatenate([tokens[:, which], token[None].astype(np.int32)])
    state = contexts.automaton.next[state[which], token]
    for begin in range(0, len(which), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        yield from _list_prompts(contexts, tokens[:, some], state[some])
