"""The search over classes: shown right as a whole, refuted by a pair that is wrong when run, or split."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.models.model import Model
from glassformer.proofs.boxes import decide_boxes
from glassformer.proofs.columns import (
    PairClasses,
    drop_impossible_digits,
    find_members,
    find_possible_digits,
    has_pair,
)
from glassformer.proofs.extremes import (
    MixExtremes,
    MixGuess,
    Turn,
    bound_mixes,
    bound_weight_terms,
    compute_coordinates,
    list_mix_directions,
    sum_columns,
    write_pair_tokens,
)
from glassformer.proofs.paths import Digits
from glassformer.proofs.readout import MixBoxes, is_turn
from glassformer.proofs.real_lead import is_wrong_in_real
from glassformer.proofs.tables import ModelTables

_FEW_CUTS = 3  # of boxes whose axes can still be turned
_ROWS = 1024  # classes that are split at a time, for the sake of memory
_SAME = 1e-12  # of the values' extent: columns that spread no more than that cannot tell pairs apart
_MOST_OPEN = 20_000  # classes that are split at a level; the others stay open


class ClassStatus(IntEnum):
    OPEN = 0
    PROVED = 1
    REFUTED = 2
    SPLIT = 3


@dataclass(eq=False)
class ClassLevel:
    """Classes of the same depth, what became of them, and of which class a level up they are parts."""

    classes: PairClasses
    parent: Int[np.ndarray, " row"]
    column: Int[np.ndarray, " row"]  # that was split to get here; -1 on the first level
    root: Int[np.ndarray, " row"]  # class of the first level
    bounds: MixExtremes
    status: Int[np.ndarray, " row"]
    least: Float[np.ndarray, " row"]
    error: Float[np.ndarray, " row"]
    wrong: Digits  # of refuted classes, a pair that the model gets wrong
    turn: Turn  # the axes of each class
    attained: Float[np.ndarray, " row"]  # the smallest margin of the pairs at its ends; nan: not measured
    known: Float[np.ndarray, " row"]  # what is certain of that margin
    hardest: Digits  # the pair that has it


def search_classes(tables: ModelTables, classes: PairClasses, deadline: float = np.inf) -> list[ClassLevel]:
    """Level by level, until nothing is open or time is up."""
    levels: list[ClassLevel] = []
    none, identity = np.full(len(classes), -1), np.eye(tables.coordinates)
    parent, column, root = none, none, np.arange(len(classes))
    turn = np.broadcast_to(identity, (len(classes), *identity.shape))
    refuted, guess = np.zeros(len(classes), bool), None  # classes of the first level
    while len(classes):
        level = make_class_level(classes, parent, column, root, turn)
        pull = judge_level(tables, level, guess)
        levels.append(level)
        refuted[root[level.status == ClassStatus.REFUTED]] = True
        is_going = (level.status == ClassStatus.OPEN) & ~refuted[root]
        if refuted.any():  # what only rounding makes wrong may be right in real numbers, and hard to decide
            is_going &= (level.wrong < 0).all((1, 2))
        going = np.flatnonzero(is_going)[:_MOST_OPEN]
        is_lost = tables.is_enclosed and refuted.any()  # splitting what is enclosed decides little more
        if not len(going) or is_lost or time.perf_counter() > deadline:
            break
        classes, parent, column = split_classes(tables, level, going, pull)
        level.status[np.unique(parent)] = ClassStatus.SPLIT
        root, turn, guess = level.root[parent], level.turn[parent], guess_from_parents(level, parent)
    return levels


def guess_from_parents(level: ClassLevel, parent: Int[np.ndarray, " row"]) -> MixGuess:
    """Parts of a class often reach as far as the whole."""
    return MixGuess(level.bounds.low[parent], level.bounds.high[parent])


def make_class_level(
    classes: PairClasses, parent: np.ndarray, column: np.ndarray, root: np.ndarray, turn: Turn
) -> ClassLevel:
    """Nothing known yet."""
    rows, coordinates, digits = len(classes), turn.shape[1], (classes.layout.digits, 2)
    ends = np.zeros((rows, coordinates)), np.zeros((rows, coordinates, *digits), np.int8)
    return ClassLevel(
        classes,
        parent,
        column,
        root,
        MixExtremes(ends[0].copy(), ends[0].copy(), ends[1].copy(), ends[1].copy()),
        np.full(rows, ClassStatus.OPEN, np.int64),
        np.full(rows, -np.inf),
        np.full(rows, np.inf),
        np.full((rows, *digits), -1, np.int8),
        np.array(turn),
        np.full(rows, np.nan),
        np.full(rows, np.nan),
        np.full((rows, *digits), -1, np.int8),
    )


def judge_level(
    tables: ModelTables, level: ClassLevel, guess: MixGuess | None = None
) -> Float[np.ndarray, "row coordinate"]:
    """Bounds, boxes, and for what is not shown right a look at the pairs that attain the bounds."""
    can_turn = any(len(head.axes) > 1 for head in tables.heads)
    rows = np.arange(len(level.classes))
    pull = _decide_rows(tables, level, rows, guess, _FEW_CUTS if can_turn and guess is None else None)
    rows = np.flatnonzero(level.status == ClassStatus.OPEN)
    if can_turn and len(rows):
        level.turn[rows], guess = _find_class_axes(tables, level, rows)
        pull[rows] = _decide_rows(tables, level, rows, guess)
    _run_bound_ends(tables, level)
    return pull


def _run_bound_ends(tables: ModelTables, level: ClassLevel) -> None:
    """Refute open classes by the first pair at an end of a bound that the model gets wrong."""
    rows, ends = np.flatnonzero(level.status == ClassStatus.OPEN), list_bound_ends(level.bounds)
    if not len(rows):
        return
    digits = np.stack([end[rows] for end in ends])  # end row column number
    every = digits.reshape(-1, *digits.shape[2:])
    is_wrong = _is_pair_wrong(tables.model, level.classes.take(np.tile(rows, len(ends))), every)
    is_wrong = is_wrong.reshape(len(ends), len(rows))
    bad = np.flatnonzero(is_wrong.any(0))
    level.wrong[rows[bad]] = digits[is_wrong[:, bad].argmax(0), bad]
    if tables.ops.floats.unit:
        level.status[rows[bad]] = ClassStatus.REFUTED
    else:
        _refute_in_real(tables.model, level, rows, digits, is_wrong)


def _refute_in_real(
    model: Model,
    level: ClassLevel,
    rows: Int[np.ndarray, " row"],
    digits: Int[np.ndarray, "end row column number"],
    is_wrong: Bool[np.ndarray, "end row"],
) -> None:
    """Refute the rows that have a pair, wrong when it is run, that is wrong without any rounding, too."""
    for one, is_end_wrong in zip(digits, is_wrong, strict=True):
        places = np.flatnonzero(is_end_wrong & (level.status[rows] == ClassStatus.OPEN))
        is_certain = _is_pair_wrong_in_real(model, level.classes.take(rows[places]), one[places])
        places = places[is_certain]
        level.wrong[rows[places]] = one[places]
        level.status[rows[places]] = ClassStatus.REFUTED


def _decide_rows(
    tables: ModelTables,
    level: ClassLevel,
    rows: Int[np.ndarray, " chosen"],
    guess: MixGuess | None = None,
    cuts: int | None = None,
) -> Float[np.ndarray, "chosen coordinate"]:
    """Along the axes that the rows have now; says what decides each row's gap."""
    classes, turn = level.classes.take(rows), level.turn[rows]
    plain = bool((turn == np.eye(tables.coordinates)).all())
    found = bound_mixes(tables.heads, classes, None if plain else turn, guess)
    boxes = make_mix_boxes(tables, classes, found.low, found.high, None if plain else turn)
    decided = decide_boxes(tables, boxes, np.full(len(rows), -np.inf), cuts)
    for into, part in zip(level.bounds, found, strict=True):
        into[rows] = part
    level.status[rows] = np.where(decided.is_right, ClassStatus.PROVED, ClassStatus.OPEN)
    level.least[rows], level.error[rows] = decided.least, decided.error
    return decided.pull


def _find_class_axes(
    tables: ModelTables, level: ClassLevel, rows: Int[np.ndarray, " chosen"]
) -> tuple[Turn, MixGuess]:
    """The directions in which the mixes of each class extend, judged by those at the ends of its box.

    And how far these go along them.
    """
    classes = level.classes.take(rows)
    mixes = np.stack(
        [compute_pair_mix(tables, classes, digits[rows]) for digits in list_bound_ends(level.bounds)], 1
    )
    moved = np.nan_to_num(mixes - mixes.mean(1, keepdims=True))  # row end coordinate
    turn, first = np.zeros((len(rows), tables.coordinates, tables.coordinates)), 0
    for head in tables.heads:
        part = slice(first, first + len(head.axes))
        turn[:, part, part] = np.linalg.svd(moved[:, :, part], full_matrices=True)[2]
        first = part.stop
    turn = np.where(is_turn(turn)[:, None, None], turn, np.eye(tables.coordinates))
    reached = mixes @ turn.transpose(0, 2, 1)  # row end coordinate
    return turn, MixGuess(reached.min(1), reached.max(1))


def list_bound_ends(found: MixExtremes) -> list[Digits]:
    """The pairs at the lower and upper end of every coordinate."""
    return [
        part[:, axis] for axis in range(found.low.shape[1]) for part in (found.low_digits, found.high_digits)
    ]


def make_mix_boxes(
    tables: ModelTables,
    classes: PairClasses,
    low: Float[np.ndarray, "row _"],
    high: Float[np.ndarray, "row _"],
    turn: Turn | None = None,
) -> MixBoxes:
    right = np.arange(tables.model.architecture.vocab) == classes.right[:, None]
    if tables.slack:
        low, high = (
            np.nextafter(low - tables.mix_slack, -np.inf),
            np.nextafter(high + tables.mix_slack, np.inf),
        )
    return MixBoxes(classes.step, classes.previous, right, low, high, turn)


def _is_pair_wrong(model: Model, classes: PairClasses, digits: Digits) -> Bool[np.ndarray, " row"]:
    """Whether the model, run on these pairs as it is deployed, writes another digit at the class's step.

    A bound that overflows has no pair at its end, and what stands there may be of another class.
    """
    is_wrong = compute_next_tokens(model, classes, digits) != classes.right
    return np.asarray(is_wrong & find_members(classes, digits))


def _is_pair_wrong_in_real(model: Model, classes: PairClasses, digits: Digits) -> Bool[np.ndarray, " row"]:
    """The same where nothing is rounded: another digit is certain to lead."""
    found = np.zeros(len(classes), bool)
    for rows, read in _read_by_step(model, classes, digits):
        found[rows] = is_wrong_in_real(model, read, classes.right[rows])
    return found


def compute_next_tokens(model: Model, classes: PairClasses, digits: Digits) -> Int[np.ndarray, " row"]:
    said = np.empty(len(classes), np.int64)
    for rows, read in _read_by_step(model, classes, digits):
        said[rows] = model.logits(read, last=1)[:, 0].argmax(0)
    return said


def _read_by_step(
    model: Model, classes: PairClasses, digits: Digits
) -> Iterator[tuple[Int[np.ndarray, " chosen"], Int[np.ndarray, "pos chosen"]]]:
    """For each step the rows of its classes, and what the model has read before it writes there."""
    tokens = write_pair_tokens(classes.layout, digits)  # row pos
    for step in np.unique(classes.step):
        rows = np.flatnonzero(classes.step == step)
        read = tokens[rows, : classes.layout.prompt_length + step].T
        yield rows, read[-model.architecture.context :]


def split_classes(
    tables: ModelTables,
    level: ClassLevel,
    rows: Int[np.ndarray, " going"],
    pull: Float[np.ndarray, "row coordinate"],
) -> tuple[PairClasses, np.ndarray, np.ndarray]:
    """Each class in two, by the column that moves the mix most; those that nothing can split are left out."""
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for start in range(0, len(rows), _ROWS):
        parts.append(_find_cut_points(tables, level, rows[start : start + _ROWS], pull))
    parent, column, lower = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    whole = level.classes.masks(parent)[np.arange(len(parent)), column]
    parent, column = np.tile(parent, 2), np.tile(column, 2)
    children = level.classes.take(parent).pinned(column, np.concatenate([lower, whole & ~lower]))
    there = np.flatnonzero(has_pair(children))
    return drop_impossible_digits(children.take(there)), parent[there], column[there]


def _find_cut_points(
    tables: ModelTables, level: ClassLevel, rows: np.ndarray, pull: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Bool[np.ndarray, "row carry x y"]]:
    """For each row the column to split, and which of its digits go into the lower half."""
    open_now = find_possible_digits(
        level.classes.masks(rows), level.classes.last[rows], level.classes.layout.operation
    )
    open_now = open_now.reshape(*open_now.shape[:2], -1)  # row column case
    chosen = np.nan_to_num(pull[rows] * 1.0, nan=np.inf).argmax(1)
    able, column, lower = _halve_widest_column(_sum_column_terms(tables, level, rows, chosen), open_now)
    return rows[able], column[able], lower[able].reshape(-1, *level.classes.pin_mask.shape[1:])


def _halve_widest_column(
    sums: Float[np.ndarray, "row column case"], open_now: Bool[np.ndarray, "row column case"]
) -> tuple[Bool[np.ndarray, " row"], Int[np.ndarray, " row"], Bool[np.ndarray, "row case"]]:
    """Whether a row has a column whose cases differ, which of them moves most, and its lower cases."""
    low, high = np.where(open_now, sums, np.inf).min(2), np.where(open_now, sums, -np.inf).max(2)
    column, every = (high - low).argmax(1), np.arange(len(sums))
    middle = ((low + high) / 2)[every, column]
    able = (high - low)[every, column] > _SAME * np.where(open_now, np.abs(sums), 0.0).max((1, 2))
    return able, column, open_now[every, column] & (sums[every, column] <= middle[:, None])


def _sum_column_terms(
    tables: ModelTables, level: ClassLevel, rows: np.ndarray, chosen: Int[np.ndarray, " row"]
) -> Float[np.ndarray, "row column case"]:
    """What each case of a column adds along the coordinate chosen for the row, seen from its middle."""
    layout = level.classes.layout
    sums = np.empty((len(rows), layout.digits, layout.operation.carries * layout.base**2))
    for number, side in enumerate(list_mix_directions(tables.heads, level.turn[rows])):
        those = np.flatnonzero(chosen == number)
        classes = level.classes.take(rows[those])
        middle = (level.bounds.low[rows[those], number] + level.bounds.high[rows[those], number]) / 2
        terms = bound_weight_terms(side.take(those), np.stack([classes.step, classes.previous]), middle)
        sums[those] = sum_columns(terms.positions, layout).reshape(len(those), *sums.shape[1:])
    return sums


def compute_pair_mix(
    tables: ModelTables, classes: PairClasses, digits: Digits
) -> Float[np.ndarray, "row coordinate"]:
    """The mix that concrete pairs have at the step of their class, along the heads' axes."""
    return compute_coordinates(list_mix_directions(tables.heads), classes, digits)
