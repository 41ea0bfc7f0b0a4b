"""The hardest pair of every step: the smallest margin of all, attained, and a bound that meets it."""

import time
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from glassformer.proof.boxes import decide
from glassformer.proof.columns import Classes, together
from glassformer.proof.extremes import Bounds, Turn
from glassformer.proof.paths import Digits
from glassformer.proof.readout import Gaps, gaps
from glassformer.proof.search import Level, Status, boxes_of, ends, judge, mix_of, new_level, split
from glassformer.proof.tables import Tables
from glassformer.proof.verdict import Hardest
from glassformer.tasks.addition import numbers_of

CUTS = 14  # of a box whose gap is to be known better
ROUNDS = 6  # of splitting classes whose bound is below what any pair seems to attain
MOST_SPLIT = 256  # classes at a time, those with the smallest bounds
LEAST_TIME = 0.5  # seconds for it, at least
CLOSE = 1e-3  # share of the margin by which the bound may stay below it


def hardest(
    tables: Tables, levels: list[Level], close: float, spent: float, deadline: float
) -> tuple[Hardest, ...]:
    """One entry a step, for a model whose classes are all proved.

    Refines until margin and bound agree, but for no longer than the proof itself has `spent`.
    """
    leaves, began = proved_leaves(levels), time.perf_counter()
    deadline = min(deadline, began + max(LEAST_TIME, spent))
    margin, known, digits = attained(tables, leaves)
    steps = levels[0].classes.layout.digits + 1
    for number in range(ROUNDS + 1):
        least = smallest(known, leaves.classes.step, steps)
        target = least[leaves.classes.step] * (1 - close)
        loose = np.flatnonzero(leaves.least < target)
        if not len(loose) or time.perf_counter() > deadline:
            break
        tighten(tables, leaves, loose, target[loose])
        if number == 0:
            write_back(levels, leaves)
        loose = loose[leaves.least[loose] < target[loose]]
        if not len(loose) or number == ROUNDS:
            break
        worst = loose[np.argsort(leaves.least[loose])][:MOST_SPLIT]
        found = split_further(tables, leaves, worst)
        if found is None:
            break
        leaves = found
        margin, known, digits = attained(tables, leaves)
    return tuple(entry(leaves, margin, digits, step) for step in range(steps))


def proved_leaves(levels: list[Level]) -> Level:
    """All proved classes of all depths as one level."""
    chosen = [(level, np.flatnonzero(level.status == Status.PROVED)) for level in levels]
    return joined([taken(level, rows) for level, rows in chosen if len(rows)])


def taken(level: Level, rows: Int[np.ndarray, " chosen"]) -> Level:
    parts = {
        key: getattr(level, key)[rows]
        for key in ("parent", "column", "root", "status", "least", "error", "wrong", "turn")
    }
    return replace(
        level,
        classes=level.classes.take(rows),
        bounds=Bounds(*(part[rows] for part in level.bounds)),
        **parts,
    )


def joined(levels: list[Level]) -> Level:
    keys = ("parent", "column", "root", "status", "least", "error", "wrong", "turn")
    parts = {key: np.concatenate([getattr(level, key) for level in levels]) for key in keys}
    bounds = Bounds(*(np.concatenate(arrays) for arrays in zip(*(one.bounds for one in levels), strict=True)))
    return Level(classes=together([level.classes for level in levels]), bounds=bounds, **parts)


def write_back(levels: list[Level], leaves: Level) -> None:
    """What is better known of the classes as they are."""
    first = 0
    for level in levels:
        rows = np.flatnonzero(level.status == Status.PROVED)
        level.least[rows] = leaves.least[first : first + len(rows)]
        first += len(rows)


def attained(tables: Tables, leaves: Level) -> tuple[np.ndarray, np.ndarray, Digits]:
    """Of the pairs at the ends of each class's box the smallest margin, what is known of it, and the pair."""
    pairs = np.stack(ends(leaves.bounds), 1)  # row end column number
    found = [gaps_of_pairs(tables, leaves.classes, pairs[:, i]) for i in range(pairs.shape[1])]
    margins, known = (np.stack([getattr(one, key) for one in found], 1) for key in ("middle", "least"))
    best, rows = margins.argmin(1), np.arange(len(margins))
    return margins[rows, best], known[rows, best], pairs[rows, best]


def gaps_of_pairs(tables: Tables, classes: Classes, digits: Digits) -> Gaps:
    """Of concrete pairs at the step of their class, in real numbers."""
    mix = mix_of(tables, classes, digits)
    return gaps(tables.in_real_numbers, boxes_of(tables, classes, mix, mix))


def smallest(margin: np.ndarray, step: np.ndarray, steps: int) -> Float[np.ndarray, " step"]:
    found = np.full(steps, np.inf)
    np.minimum.at(found, step, margin)
    return found


def tighten(
    tables: Tables, leaves: Level, rows: Int[np.ndarray, " loose"], target: Float[np.ndarray, " loose"]
) -> None:
    """Cut the boxes of some classes until their gap is known to reach the target."""
    turn: Turn = leaves.turn[rows]
    boxes = boxes_of(
        tables, leaves.classes.take(rows), leaves.bounds.low[rows], leaves.bounds.high[rows], turn
    )
    decided = decide(tables, boxes, target, CUTS)
    leaves.least[rows] = np.maximum(leaves.least[rows], np.where(decided.is_right, decided.least, -np.inf))


def split_further(tables: Tables, leaves: Level, loose: Int[np.ndarray, " row"]) -> Level | None:
    """Classes whose bound nothing attains, in parts; those that cannot be split stay. None: nothing can."""
    classes, parent, column = split(tables, leaves, loose, np.ones(leaves.bounds.low.shape))
    if not len(classes):
        return None
    parts = new_level(classes, parent, column, leaves.root[parent], leaves.turn[parent])
    judge(tables, parts)
    parts.least[parts.status != Status.PROVED] = -np.inf
    return joined([taken(leaves, np.setdiff1d(np.arange(len(leaves.classes)), parent)), parts])


def entry(leaves: Level, margin: np.ndarray, digits: Digits, step: int) -> Hardest:
    rows = np.flatnonzero(leaves.classes.step == step)
    row = rows[margin[rows].argmin()]
    a, b = (numbers_of(digits[row, :, number, None])[0] for number in range(2))
    return Hardest(step, a, b, float(margin[row]), float(leaves.least[rows].min()))
