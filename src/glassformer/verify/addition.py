"""How an adder does on pairs that it has never seen: whole answers, written by the model itself."""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Int

from glassformer.model.model import Model
from glassformer.tasks import Addition, add, numbers_of
from glassformer.train.data import stream
from glassformer.verify.generate import write_greedy
from glassformer.verify.share import Share

MOST_FAILURES = 20  # that a report lists
QUALIFIES = 0.99  # the community board's bar


@dataclass(frozen=True)
class Failure:
    a: int
    b: int
    expected: int
    got: int


@dataclass(frozen=True)
class AdditionReport:
    """Pairs whose whole answer is right; each answer digit is fed back as the model wrote it."""

    argmax_accuracy: Share
    failures: tuple[Failure, ...]

    @property
    def qualified(self) -> bool:
        return self.argmax_accuracy.value >= QUALIFIES


def measure_addition(model: Model, task: Addition, pairs: int = 10_000, seed: int = 0) -> AdditionReport:
    """Uniform pairs of the task's full length."""
    key = stream(seed, "fresh")
    x, y = np.asarray(jax.random.randint(key, (2, task.digits, pairs), 0, 10))
    got, expected = answers(model, task, x, y), add(x, y)
    wrong = np.flatnonzero((got != expected).any(0))
    rows = zip(*(numbers_of(part[:, wrong[:MOST_FAILURES]]) for part in (x, y, expected, got)), strict=True)
    return AdditionReport(Share.of(pairs - len(wrong), pairs), tuple(Failure(*row) for row in rows))


def answers(
    model: Model,
    task: Addition,
    x: Int[np.ndarray, "digit batch"],
    y: Int[np.ndarray, "digit batch"],
    block: int = 8192,
) -> Int[np.ndarray, "digit batch"]:
    """The digits that the model writes, units first."""
    layout = task.written()
    starts = range(0, x.shape[1], block)
    prompts = [layout.prompt(x[:, i : i + block], y[:, i : i + block]) for i in starts]
    written = [layout.decode(write_greedy(model, prompt, task.digits + 1)) for prompt in prompts]
    return np.concatenate(written, axis=1)
