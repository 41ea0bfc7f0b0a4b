"""Adders of two and three digits, for which every pair can be run."""

from dataclasses import replace

import numpy as np

from glassformer.models.forward import list_parameters
from glassformer.models.lengths import lengthen_architecture
from glassformer.models.model import Model
from glassformer.models.position import SpiralPosition
from glassformer.proofs.columns import list_written_columns
from glassformer.tasks import to_digits
from glassformer.zoo import ZOO
from glassformer.zoo.nanogpt import make_repaired_entry as nanogpt_entry
from glassformer.zoo.smallest import make_one_head_entry
from glassformer.zoo.tinyadder import make_repaired_entry as tinyadder_entry


def nanogpt(digits, precision="float64", base=10):
    """The repaired hand-built adder, for shorter numbers: the circle has one place more than a number."""
    return build(nanogpt_entry(digits, base), precision)


def tinyadder(digits, base=10):
    """TinyAdder for shorter numbers: its powers are those of the number of digits."""
    return build(tinyadder_entry(digits, base))


def hand(digits, base=10):
    """The hand-built adder with one head."""
    return build(make_one_head_entry(digits, base))


def build(entry, precision="float64"):
    numbers = {key: np.asarray(part, precision) for key, part in entry.build().items()}
    return Model(replace(entry.architecture, precision=precision), numbers), entry.task


def nudged(model, random, size):
    """The same model with every parameter changed by a normal share of itself."""
    precision = model.architecture.precision
    moved = {
        key: (part * (1 + size * random.normal(size=part.shape))).astype(precision)
        for key, part in model.params.items()
    }
    return Model(model.architecture, moved)


def drawn(name, digits, seed, precision="float64", scale=1.0, base=10):
    """A trained adder's architecture with random numbers."""
    entry = ZOO[name]
    shape, task = (
        replace(entry.architecture, precision=precision),
        replace(entry.task, digits=digits, base=base),
    )
    if isinstance(shape.position, SpiralPosition):
        turns = tuple(range(digits))
        shape = replace(shape, position=replace(shape.position, slots=(*turns, "zero", *turns, 1.5, *turns)))
    shape = replace(shape, vocab=len(task.tokens()), context=task.written().length - 1)
    random = np.random.default_rng(seed)
    numbers = {
        key: np.asarray(scale * random.normal(size=part.shape), precision)
        for key, part in list_parameters(shape).items()
    }
    return Model(shape, numbers), task


def drawn_for(operation, digits, seed, base=10):
    """any-8's architecture with random numbers, for any operation."""
    entry = ZOO["any-8"]
    task = replace(entry.task, digits=digits, base=base, operation=operation)
    shape = lengthen_architecture(replace(entry.architecture, vocab=base), task)
    random = np.random.default_rng(seed)
    numbers = {
        key: np.asarray(2.0 * random.normal(size=part.shape), shape.precision)
        for key, part in list_parameters(shape).items()
    }
    return Model(shape, numbers), task


def every_pair(digits, base=10, operation="add"):
    """Digits of all pairs, `digit pair`, units first; of one number alone the second one is 0."""
    count = base**digits
    seconds = 1 if operation.startswith("times") else count
    sides = np.divmod(np.arange(count * seconds), seconds)
    return tuple(to_digits(side.tolist(), digits, base) for side in sides)


def work_out(task, x, y):
    """Digits of the answers, totals of the columns and carries into them, from the numbers as integers."""
    count, base = x.shape[1], task.base
    powers = base ** np.arange(task.digits + 1)[:, None]
    low = [np.cumsum(np.concatenate([np.zeros((1, count), int), side * powers[:-1]]), 0) for side in (x, y)]
    if task.operation == "add":
        answer, totals, carry = low[0][-1] + low[1][-1], x + y, (low[0] + low[1]) // powers
    elif task.operation == "subtract":
        answer, totals, carry = low[0][-1] - low[1][-1], x + base - 1 - y, (low[0] >= low[1]).astype(int)
    else:
        factor = int(task.operation.split()[1])
        answer, totals, carry = factor * low[0][-1], factor * x, factor * low[0] // powers
    return answer % base ** (task.digits + 1) // powers % base, totals, carry


def run_all(model, task):
    """By step: what every pair's right prefix is followed by, its gap, and its class."""
    x, y = every_pair(task.digits, task.base, task.operation)
    layout = task.written()
    z, totals, carry = work_out(task, x, y)
    tokens, found = layout.encode(x, y, z), []
    for step, column in enumerate(list_written_columns(layout)):
        length = layout.prompt_length + step
        logits = np.concatenate(
            [
                model.logits(part, last=1)[:, 0]
                for part in np.array_split(tokens[:length], 1 + x.shape[1] // 20_000, 1)
            ],
            1,
        ).astype(float)
        right, pairs = tokens[length], np.arange(x.shape[1])
        others = logits.copy()
        others[right, pairs] = -np.inf
        gap = logits[right, pairs] - others.max(0)
        total = np.full(len(pairs), -1) if column == task.digits else totals[column]
        classes = np.stack([np.full(len(pairs), step), tokens[length - 1], total, carry[column]], 1)
        found.append((gap, logits.argmax(0) != right, classes))
    return found


def failing_classes(model, task):
    """All classes that have a pair which the model gets wrong."""
    return {
        tuple(map(int, row))
        for _, wrong, classes in run_all(model, task)
        for row in np.unique(classes[wrong], axis=0)
    }


def refuted_classes(proof):
    """The classes that a proof has refuted."""
    first, found = proof.levels[0].classes, set()
    for level in proof.levels:
        for root in level.root[level.status == 2]:
            found.add(tuple(int(getattr(first, key)[root]) for key in ("step", "previous", "total", "carry")))
    return found
