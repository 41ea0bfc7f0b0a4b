"""Adders of two and three digits, for which every pair can be run."""

from dataclasses import replace

import numpy as np

from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.position import SpiralPosition
from glassformer.proofs.columns import list_written_columns
from glassformer.tasks import add_digits, to_digits
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


def every_pair(digits, base=10):
    """Digits of all pairs, `digit pair`, units first."""
    count = base**digits
    sides = np.divmod(np.arange(count * count), count)
    return tuple(to_digits(side.tolist(), digits, base) for side in sides)


def run_all(model, task):
    """By step: what every pair's right prefix is followed by, its gap, and its class."""
    x, y = every_pair(task.digits, task.base)
    layout = task.written()
    z = add_digits(x, y, task.base)
    tokens = layout.encode(x, y, z)
    carry = np.zeros((task.digits + 1, x.shape[1]), int)
    for k in range(task.digits):
        carry[k + 1] = (x[k] + y[k] + carry[k]) // task.base
    found = []
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
        total = np.full(len(pairs), -1) if column == task.digits else x[column] + y[column]
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
