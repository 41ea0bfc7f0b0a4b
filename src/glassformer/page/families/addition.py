"""Pages of adders: two numbers in columns, and their sum, digit by digit."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from glassformer.model.adding import label_of
from glassformer.model.architecture import Architecture
from glassformer.model.model import Model
from glassformer.page.families.family import Content
from glassformer.page.measure_words import passed_measure, share_measure, total_of
from glassformer.page.pack import packed
from glassformer.page.story import Chapter, Tale
from glassformer.page.story_adder import adder_story
from glassformer.page.trials_part import SEED, affordable
from glassformer.page.words import grouped
from glassformer.proof.response import read_pair
from glassformer.tasks import Addition, Task, add, digits_of
from glassformer.tasks.addition import require_addition
from glassformer.tasks.hard import hard_pairs

PAIRS = 128  # of the test set
MARK = -1  # of a digit in a prompt that has its marks alone


class PairSet(NamedTuple):
    """Problems with their right answers, whose last digit is written and not read."""

    tokens: Int[np.ndarray, "pos batch"]
    answers: Int[np.ndarray, "step batch"]


class AdditionFamily:
    """A sum is written digit by digit, each from all that stands before it."""

    tried = 256

    def describe_task(self, task: Task) -> Content:
        """Where digits and marks stand."""
        addition = _addition_of(task)
        layout, digits = addition.written(), addition.digits
        return {
            "name": task.name,
            "about": f"two numbers of up to {digits} digits; their sum has {digits + 1}",
            "digits": digits,
            "prompt": _find_marks(addition),
            "x": list(layout.x_places),
            "y": list(layout.y_places),
            "z": list(layout.z_places),
            "labels": list(layout.labels),
            "positions": list(layout.position_labels()),
        }

    def name_tokens(self, task: Task, vocab: int) -> list[str]:
        """Tokens that only the model knows are numbered."""
        layout = _addition_of(task).written()
        return [label_of(layout, token) for token in range(vocab)]

    def first_start(self, task: Task) -> dict[str, str]:
        return {"input": "57+68", "why": "a sum with two carries"}

    def draw_tests(self, task: Task, architecture: Architecture) -> PairSet:
        return _draw_pairs(_addition_of(task), architecture)

    def pack_tests(self, tests: PairSet) -> Content:
        count = grouped(tests.tokens.shape[1])
        kinds = "half of uniform digits, half of hard ones (runs of nines, long carries)"
        return {
            "about": f"{count} sums, {kinds}, drawn once",
            "tokens": packed(tests.tokens),
            "lengths": None,
            "allowed": None,
            "answers": packed(tests.answers),
        }

    def judged_logits(
        self, model: Model, task: Task, tests: PairSet, inputs: Sequence[str]
    ) -> Float[np.ndarray, "tok step batch"]:
        """Of every digit, after the right ones."""
        addition, pairs = _addition_of(task), [read_pair(text) for text in inputs]
        tokens = np.concatenate([tests.tokens, _write_pairs(addition, pairs)], axis=1)
        return np.asarray(model.logits(tokens, last=addition.digits + 1), np.float64)

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        hard = measures.get("distributions")
        return [
            share_measure(
                measures.get("argmax_accuracy"),
                "of {of} sums right",
                "share of fresh random sums that are right",
            ),
            passed_measure(
                total_of(hard) if isinstance(hard, dict) else None,
                "of {of} hard sums",
                "share of sums from seven hard distributions (runs of nines, long carries ...) "
                "that are right",
            ),
            passed_measure(
                measures.get("board"),
                "of {of} board sums",
                "share of the community board's sums that are right",
            ),
        ]

    def tell_story(self, tale: Tale) -> list[Chapter | None]:
        return adder_story(tale)


def _addition_of(task: Task) -> Addition:
    return require_addition(task, "the model")


def _find_marks(task: Addition) -> list[int]:
    """The prompt's tokens where marks stand; -1 where a digit does."""
    layout, ones = task.written(), np.ones((task.digits, 1), np.int32)
    prompts = [layout.prompt(ones * digit, ones * digit)[:, 0] for digit in (1, 2)]
    found: list[int] = np.where(prompts[0] == prompts[1], prompts[0], MARK).tolist()
    return found


def _draw_pairs(task: Addition, architecture: Architecture) -> PairSet:
    """Uniform pairs, then hard ones."""
    random, layout = np.random.default_rng(SEED), task.written()
    count = affordable(PAIRS, architecture, layout.length)
    plain = random.integers(0, 10, (2, task.digits, count - count // 2)).astype(np.int32)
    hard = hard_pairs(random, count // 2, task.digits)
    x, y = (np.concatenate([plain[i], hard[i]], axis=1) for i in (0, 1))
    tokens = layout.encode(x, y, add(x, y))
    return PairSet(tokens[:-1], tokens[layout.answer])


def _write_pairs(task: Addition, pairs: list[tuple[int, int]]) -> Int[np.ndarray, "pos batch"]:
    """Problems with their right answers."""
    x, y = (digits_of([pair[i] for pair in pairs], task.digits) for i in (0, 1))
    return np.asarray(task.written().encode(x, y, add(x, y))[:-1])
