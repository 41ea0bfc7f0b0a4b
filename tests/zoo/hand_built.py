"""How the tests run a hand-built adder of the zoo."""

from dataclasses import replace

import jax
import numpy as np

from glassformer.models.forward import forward
from glassformer.models.model import Model
from glassformer.models.ops_jax import JaxOps
from glassformer.tasks import add_digits, to_digits, to_numbers
from glassformer.tasks.board import draw_board_pairs
from glassformer.tasks.hard import HARD
from glassformer.verify.addition import write_answers
from glassformer.zoo import ZOO

DIGITS = 10
BLOCK = 2048  # pairs at a time


def model_of(name: str, precision: str | None = None) -> Model:
    """The zoo's model, if asked for in another precision."""
    entry = ZOO[name]
    precision = precision or entry.architecture.precision
    params = {key: value.astype(precision) for key, value in entry.build().items()}
    return Model(replace(entry.architecture, precision=precision), params)


def sums(name: str, *pairs: tuple[int, int]) -> list[int]:
    """What the model writes, token by token, for each pair."""
    a, b = zip(*pairs, strict=True)
    return to_numbers(
        write_answers(model_of(name), ZOO[name].task, to_digits(a, DIGITS, 10), to_digits(b, DIGITS, 10)), 10
    )


def board_score(name: str, precision: str | None = None) -> int:
    """Right answers of the board's 10,010, written token by token."""
    a, b = zip(*draw_board_pairs(), strict=True)
    x, y = to_digits(a, DIGITS, 10), to_digits(b, DIGITS, 10)
    written = write_answers(model_of(name, precision), ZOO[name].task, x, y)
    return int((written == add_digits(x, y, 10)).all(0).sum())


def wrong(name: str, x: np.ndarray, y: np.ndarray) -> list[tuple[int, int]]:
    """The pairs whose answer is wrong, found in one pass over problems with their true answers.

    Token by token the first wrong digit would be the same, since up to there the model has read true digits.
    """
    model, layout, found = model_of(name), ZOO[name].task.written(), []
    for start in range(0, x.shape[1], BLOCK):
        part = (x[:, start : start + BLOCK], y[:, start : start + BLOCK])
        tokens = layout.encode(*part, add_digits(*part, 10))
        said = model.logits(tokens[:-1], last=DIGITS + 1).argmax(0)
        failed = (said != tokens[layout.answer]).any(0)
        found += zip(*(to_numbers(number[:, failed], 10) for number in part), strict=True)
    return found


def jax_wrong(name: str, x: np.ndarray, y: np.ndarray) -> int:
    """How many of the pairs the JAX pass gets wrong."""
    model, layout = model_of(name), ZOO[name].task.written()
    tokens, precision = layout.encode(x, y, add_digits(x, y, 10)), model.architecture.precision
    with jax.enable_x64(precision == "float64"):
        run = jax.jit(
            lambda read: forward(model.architecture, JaxOps(precision), model.params, read, DIGITS + 1)
        )
        said = np.asarray(run(tokens[:-1])).argmax(0)
    return int((said != tokens[layout.answer]).any(0).sum())


def hard_pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    """As many hard pairs, an equal share of each kind."""
    random = np.random.default_rng(11)
    drawn = [draw(random, -(-count // len(HARD)), DIGITS, 10) for draw in HARD.values()]
    return tuple(np.concatenate(numbers, axis=1) for numbers in zip(*drawn, strict=True))
