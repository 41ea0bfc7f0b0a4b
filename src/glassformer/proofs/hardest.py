"""The hardest pair of every step: the smallest margin of all, attained, and a bound that meets it."""

import time
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from glassformer.models.margins import measure_token_margins
from glassformer.models.model import Model
from glassformer.proofs.boxes import decide_boxes
from glassformer.proofs.columns import PairClasses, join_classes
from glassformer.proofs.extremes import MixExtremes, Turn, write_pair_tokens
from glassformer.proofs.paths import Digits
from glassformer.proofs.readout import bound_gaps
from glassformer.proofs.search import (
    ClassLevel,
    ClassStatus,
    compute_pair_mix,
    guess_from_parents,
    judge_level,
    list_bound_ends,
    make_class_level,
    make_mix_boxes,
    split_classes,
)
from glassformer.proofs.tables import ModelTables
from glassformer.proofs.verdict import HardestPair
from glassformer.tasks.addition import to_numbers

_CUTS = 14  # of a box whose gap is to be known better
_ROUNDS = 6  # of splitting classes whose bound is below what any pair seems to attain
_MOST_SPLIT = 256  # classes at a time, those with the smallest bounds
_LEAST_TIME = 0.5  # seconds for it, at least
_ROW_FIELDS = (  # all of a level but its classes and bounds
    *("parent", "column", "root", "status", "least", "error", "wrong", "turn"),
    *("attained", "known", "hardest"),
)
CLOSE = 1e-3  # share of the margin by which the bound may stay below it


def find_hardest_pairs(
    tables: ModelTables, levels: list[ClassLevel], close: float, spent: float, deadline: float
) -> tuple[HardestPair, ...]:
    """One entry per step, for a model whose classes are all proved.

    Refines until margin and bound agree, but for no longer than the proof itself has `spent`.
    """
    deadline = min(deadline, time.perf_counter() + max(_LEAST_TIME, spent))
    for level in levels:
        measure_proved_margins(tables, level)
    leaves = _gather_proved_leaves(levels)
    steps = levels[0].classes.layout.digits + 1
    for number in range(_ROUNDS + 1):
        least = _find_step_minima(leaves.known, leaves.classes.step, steps)
        target = least[leaves.classes.step] * (1 - close)
        loose = np.flatnonzero(leaves.least < target)
        if not len(loose) or time.perf_counter() > deadline:
            break
        _tighten_bounds(tables, leaves, loose, target[loose])
        if number == 0:
            _write_back_leaves(levels, leaves)
        loose = loose[leaves.least[loose] < target[loose]]
        if not len(loose) or number == _ROUNDS:
            break
        worst = loose[np.argsort(leaves.least[loose])][:_MOST_SPLIT]
        found = _split_loose_classes(tables, leaves, worst)
        if found is None:
            break
        leaves = found
    return tuple(_make_hardest_pair(leaves, step) for step in range(steps))


def _gather_proved_leaves(levels: list[ClassLevel]) -> ClassLevel:
    """All proved classes of all depths as one level."""
    chosen = [(level, np.flatnonzero(level.status == ClassStatus.PROVED)) for level in levels]
    return _join_levels([_take_rows(level, rows) for level, rows in chosen if len(rows)])


def _take_rows(level: ClassLevel, rows: Int[np.ndarray, " chosen"]) -> ClassLevel:
    parts = {key: getattr(level, key)[rows] for key in _ROW_FIELDS}
    return replace(
        level,
        classes=level.classes.take(rows),
        bounds=MixExtremes(*(part[rows] for part in level.bounds)),
        **parts,
    )


def _join_levels(levels: list[ClassLevel]) -> ClassLevel:
    parts = {key: np.concatenate([getattr(level, key) for level in levels]) for key in _ROW_FIELDS}
    bounds = MixExtremes(
        *(np.concatenate(arrays) for arrays in zip(*(one.bounds for one in levels), strict=True))
    )
    return ClassLevel(classes=join_classes([level.classes for level in levels]), bounds=bounds, **parts)


def _write_back_leaves(levels: list[ClassLevel], leaves: ClassLevel) -> None:
    """What is better known of the classes as they are."""
    first = 0
    for level in levels:
        rows = np.flatnonzero(level.status == ClassStatus.PROVED)
        level.least[rows] = leaves.least[first : first + len(rows)]
        first += len(rows)


def measure_proved_margins(tables: ModelTables, level: ClassLevel) -> None:
    """The attained margins of all proved classes of a level that have not been measured yet."""
    is_new = (level.status == ClassStatus.PROVED) & np.isnan(level.attained)
    _measure_attained_margins(tables, level, np.flatnonzero(is_new))


def _measure_attained_margins(tables: ModelTables, level: ClassLevel, rows: Int[np.ndarray, " some"]) -> None:
    """Of the pairs at the ends of each class's box the smallest margin, what is known of it, and the pair."""
    if not len(rows):
        return
    pairs = np.stack([digits[rows] for digits in list_bound_ends(level.bounds)], 1)  # row end column number
    classes = level.classes.take(rows)
    found = [measure_real_margins(tables, classes, pairs[:, i]) for i in range(pairs.shape[1])]
    margins, known = (np.stack(parts, 1) for parts in zip(*found, strict=True))
    best, every = margins.argmin(1), np.arange(len(margins))
    level.attained[rows], level.known[rows] = margins[every, best], known[every, best]
    level.hardest[rows] = pairs[every, best]


def measure_real_margins(
    tables: ModelTables, classes: PairClasses, digits: Digits
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """Margins of concrete pairs at the step of their class, in real numbers, and what is certain of them.

    Where other layers than the mix mix tokens too, the model is run, in float64.
    """
    if tables.is_enclosed:
        margins = _run_in_float64(tables.model, classes, digits)
        return margins, margins
    mix = compute_pair_mix(tables, classes, digits)
    gaps = bound_gaps(tables.in_real_numbers, make_mix_boxes(tables, classes, mix, mix))
    return gaps.middle, gaps.least


def _run_in_float64(model: Model, classes: PairClasses, digits: Digits) -> Float[np.ndarray, " row"]:
    shape = replace(model.architecture, precision="float64")
    fine = Model(shape, {name: np.asarray(part, np.float64) for name, part in model.params.items()})
    found, layout = np.empty(len(classes)), classes.layout
    tokens = write_pair_tokens(layout, digits)  # row pos
    for step in np.unique(classes.step):
        rows = np.flatnonzero(classes.step == step)
        logits = fine.logits(tokens[rows, : layout.prompt_length + step].T, last=1)[:, 0]
        found[rows] = measure_token_margins(logits, classes.right[rows])
    return found


def _find_step_minima(margin: np.ndarray, step: np.ndarray, steps: int) -> Float[np.ndarray, " step"]:
    found = np.full(steps, np.inf)
    np.minimum.at(found, step, margin)
    return found


def _tighten_bounds(
    tables: ModelTables,
    leaves: ClassLevel,
    rows: Int[np.ndarray, " loose"],
    target: Float[np.ndarray, " loose"],
) -> None:
    """Cut the boxes of some classes until their gap, in real numbers, is known to reach the target."""
    turn: Turn = leaves.turn[rows]
    boxes = make_mix_boxes(
        tables, leaves.classes.take(rows), leaves.bounds.low[rows], leaves.bounds.high[rows], turn
    )
    decided = decide_boxes(tables.in_real_numbers, boxes, target, _CUTS)
    leaves.least[rows] = np.maximum(leaves.least[rows], np.where(decided.is_right, decided.least, -np.inf))


def _split_loose_classes(
    tables: ModelTables, leaves: ClassLevel, loose: Int[np.ndarray, " row"]
) -> ClassLevel | None:
    """Classes whose bound nothing attains, in parts; those that cannot be split stay. None: nothing can."""
    classes, parent, column = split_classes(tables, leaves, loose, np.ones(leaves.bounds.low.shape))
    if not len(classes):
        return None
    parts = make_class_level(classes, parent, column, leaves.root[parent], leaves.turn[parent])
    judge_level(tables, parts, guess_from_parents(leaves, parent))
    parts.least[parts.status != ClassStatus.PROVED] = -np.inf
    _measure_attained_margins(tables, parts, np.arange(len(classes)))
    return _join_levels([_take_rows(leaves, np.setdiff1d(np.arange(len(leaves.classes)), parent)), parts])


def _make_hardest_pair(leaves: ClassLevel, step: int) -> HardestPair:
    rows = np.flatnonzero(leaves.classes.step == step)
    row = rows[leaves.attained[rows].argmin()]
    a, b = to_numbers(leaves.hardest[row], leaves.classes.layout.base)
    return HardestPair(step, a, b, float(leaves.attained[row]), float(leaves.least[rows].min()))
