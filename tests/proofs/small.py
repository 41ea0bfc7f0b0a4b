"""Adders of two and three digits, for which every pair can be run."""

import math
from dataclasses import replace

import numpy as np

from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.position import CirclePosition, SpiralPosition
from glassformer.proofs.columns import list_written_columns
from glassformer.tasks import Addition, add_digits
from glassformer.zoo import ZOO
from glassformer.zoo import tinyadder as tiny


def nanogpt(digits, precision="float64"):
    """The repaired hand-built adder, for shorter numbers: the circle has one place more than a number."""
    entry, step = ZOO["nanogpt-58-repaired"], 2 * math.pi / (digits + 1)
    circle = CirclePosition(period=digits + 1, at=1, loud=2 * digits + 2, loud_amplitude=100.0)
    shape = replace(entry.architecture, context=3 * digits + 2, position=circle, precision=precision)
    numbers = entry.build() | {"attn.q.angle": np.array([(digits - 2) * step, (digits - 1) * step])}
    return Model(shape, {key: np.asarray(part, precision) for key, part in numbers.items()}), Addition(
        digits=digits, layout="nanogpt"
    )


def tinyadder(digits):
    """TinyAdder for shorter numbers: its powers of ten are those of the number of digits."""
    shape, numbers = ZOO["tinyadder-95-repaired"].architecture, tiny.make_tinyadder_parameters(tiny.REPAIRED)
    middles = [(c + 0.5) * 10.0 ** (digits + 2) for c in range(10)]
    numbers["layer0.ff.up.values"] = np.array([*middles, 10.0**digits])
    return Model(replace(shape, context=3 * digits + 3), numbers), Addition(digits=digits, layout="msb")


def drawn(name, digits, seed, precision="float64", scale=1.0):
    """A trained adder's architecture with random numbers."""
    entry = ZOO[name]
    shape, task = replace(entry.architecture, precision=precision), replace(entry.task, digits=digits)
    if isinstance(shape.position, SpiralPosition):
        turns = tuple(range(digits))
        shape = replace(shape, position=replace(shape.position, slots=(*turns, "zero", *turns, 1.5, *turns)))
    shape = replace(shape, context=task.written().length - 1)
    random = np.random.default_rng(seed)
    numbers = {
        key: np.asarray(scale * random.normal(size=part.shape), precision)
        for key, part in list_parameters(shape).items()
    }
    return Model(shape, numbers), task


def every_pair(digits):
    """Digits of all pairs, `digit pair`, units first."""
    count = 10**digits
    a, b = np.divmod(np.arange(count * count), count)
    return tuple(np.stack([number // 10**k % 10 for k in range(digits)]) for number in (a, b))


def run_all(model, task):
    """By step: what every pair's right prefix is followed by, its gap, and its class."""
    x, y = every_pair(task.digits)
    layout = task.written()
    z = add_digits(x, y)
    tokens = layout.encode(x, y, z)
    carry = np.zeros((task.digits + 1, x.shape[1]), int)
    for k in range(task.digits):
        carry[k + 1] = (x[k] + y[k] + carry[k]) // 10
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
