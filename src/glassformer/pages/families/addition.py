"""Pages of adders: two numbers in columns, and their sum, digit by digit."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.models.adding import label_token
from glassformer.models.architecture import Architecture
from glassformer.models.model import Model
from glassformer.pages.families.family import Content
from glassformer.pages.measure_words import make_passed_measure, make_share_measure, sum_scores
from glassformer.pages.pack import pack_array
from glassformer.pages.story import Chapter, StorySubject
from glassformer.pages.story_adder import tell_adder_story
from glassformer.pages.trials_part import SEED, count_affordable_inputs
from glassformer.pages.words import group_digits
from glassformer.proofs.response import parse_pair
from glassformer.tasks import Addition, Task, to_digits
from glassformer.tasks.addition import require_addition
from glassformer.tasks.hard import draw_hard_pairs
from glassformer.tasks.operations import ADD

_PAIRS = 128  # of the test set
_MARK = -1  # of a digit in a prompt that has its marks alone


class _PairSet(NamedTuple):
    """Problems with their right answers, whose last digit is written and not read."""

    tokens: Int[np.ndarray, "pos batch"]
    answers: Int[np.ndarray, "step batch"]


class AdditionFamily:
    """A sum is written digit by digit, each from everything before it."""

    tried = 256

    def describe_task(self, task: Task) -> Content:
        """Where digits and marks stand."""
        addition = _addition_of(task)
        layout, digits = addition.written(), addition.digits
        return {
            "name": task.name,
            "about": f"two numbers of up to {digits} digits{addition.name_base()}; "
            f"their sum has {digits + 1}",
            "digits": digits,
            "base": addition.base,
            "any_length": layout.is_any_length,
            "prompt": _find_marks(addition),
            "x": list(layout.x_positions),
            "y": list(layout.y_positions),
            "z": list(layout.z_positions),
            "labels": list(layout.labels),
            "positions": list(layout.position_labels()),
        }

    def name_tokens(self, task: Task, vocab: int) -> list[str]:
        """Tokens that only the model has are numbered."""
        layout = _addition_of(task).written()
        return [label_token(layout, token) for token in range(vocab)]

    def first_start(self, task: Task) -> dict[str, str]:
        return _choose_first_sum(_addition_of(task))

    def draw_tests(self, task: Task, architecture: Architecture) -> _PairSet:
        return _draw_pairs(_addition_of(task), architecture)

    def pack_tests(self, tests: _PairSet) -> Content:
        count = group_digits(tests.tokens.shape[1])
        kinds = "half with uniform digits, half hard (runs of nines, long carries)"
        return {
            "about": f"{count} sums, {kinds}, drawn once",
            "tokens": pack_array(tests.tokens),
            "lengths": None,
            "allowed": None,
            "answers": pack_array(tests.answers),
        }

    def judged_logits(
        self, model: Model, task: Task, tests: _PairSet, inputs: Sequence[str]
    ) -> Float[np.ndarray, "tok step batch"]:
        """Logits of every digit, after the right digits."""
        addition, pairs = _addition_of(task), [parse_pair(text) for text in inputs]
        tokens = np.concatenate([tests.tokens, _write_pairs(addition, pairs)], axis=1)
        return np.asarray(model.logits(tokens, last=addition.digits + 1), np.float64)

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        hard = measures.get("distributions")
        return [
            make_share_measure(
                measures.get("argmax_accuracy"),
                "of {of} sums right",
                "share of fresh random sums that are right",
            ),
            make_passed_measure(
                sum_scores(hard) if isinstance(hard, dict) else None,
                "of {of} hard sums",
                "share of sums from seven hard distributions (runs of nines, long carries ...) "
                "that are right",
            ),
            make_passed_measure(
                measures.get("board"),
                "of {of} AdderBoard sums",
                "share of the sums of AdderBoard's test that are right",
            ),
        ]

    def tell_story(self, tale: StorySubject) -> list[Chapter | None]:
        return tell_adder_story(tale)


def _addition_of(task: Task) -> Addition:
    addition = require_addition(task, "the model")
    if addition.does != ADD:
        raise UserError(f"the model {addition.does.ability}, and the page is about adding two numbers")
    return addition


def _choose_first_sum(task: Addition) -> dict[str, str]:
    """57 + 68 where the task has it; else 1 more than the largest number of two digits, or of one."""
    if task.base == 10 and task.digits > 1:
        return {"input": "57+68", "why": "a sum with two carries"}
    few = min(task.digits, 2)
    return {"input": f"{task.base**few - 1}+1", "why": f"a sum with {('a carry', 'two carries')[few - 1]}"}


def _find_marks(task: Addition) -> list[int]:
    """The prompt's tokens where marks stand; -1 where a digit does."""
    layout, ones = task.written(), np.ones((task.digits, 1), np.int32)
    prompts = [layout.prompt(ones * digit, ones * digit)[:, 0] for digit in (0, 1)]
    found: list[int] = np.where(prompts[0] == prompts[1], prompts[0], _MARK).tolist()
    return found


def _draw_pairs(task: Addition, architecture: Architecture) -> _PairSet:
    """Uniform pairs, then hard ones."""
    random, layout = np.random.default_rng(SEED), task.written()
    count = count_affordable_inputs(_PAIRS, architecture, layout.length)
    plain = random.integers(0, task.base, (2, task.digits, count - count // 2)).astype(np.int32)
    hard = draw_hard_pairs(random, count // 2, task.digits, task.base)
    x, y = (np.concatenate([plain[i], hard[i]], axis=1) for i in (0, 1))
    tokens = layout.encode(x, y, task.solve_digits(x, y))
    return _PairSet(tokens[:-1], tokens[layout.answer])


def _write_pairs(task: Addition, pairs: list[tuple[int, int]]) -> Int[np.ndarray, "pos batch"]:
    """Problems with their right answers."""
    x, y = (to_digits([pair[i] for pair in pairs], task.digits, task.base) for i in (0, 1))
    return np.asarray(task.written().encode(x, y, task.solve_digits(x, y))[:-1])
