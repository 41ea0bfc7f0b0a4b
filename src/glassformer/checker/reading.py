"""A certificate as it lies in its file, read into types; whatever does not fit is one sentence.

Nothing is believed here: these are the claims, and the other modules check them. There is no field besides
those read here, at any depth, and each has one form. `made_with` and `origin` are no claims.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.checker.columns import PairClass
from glassformer.checker.fields import (
    read_choice,
    read_field,
    read_integer_field,
    read_items,
    read_number_or_null,
    require_canonical,
    require_finite_number,
    require_integer,
    require_known_fields,
    require_list,
    require_number_list,
    require_plain_text,
)
from glassformer.checker.parsing import read_certificate_file
from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture
from glassformer.models.model import check_params
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Addition
from glassformer.tasks.addition import SCHEDULE_SETTINGS

_FORMAT = 3
HEADING = ("format", "made_with", "model", "task", "arithmetic", "verdict", "inputs")
_FIELDS = (
    *HEADING,
    *("backend", "smallest_margin", "margin_bound", "rounding_bound", "hardest", "counterexample"),
    *("classes", "mixing", "axes", "rows", "digest"),
)
_MODEL_FIELDS = ("origin", "sha256", "architecture", "params")
VERDICTS = ("proved", "refuted", "undecided")
ARITHMETICS = ("float32", "float64", "real")
_BACKENDS = ("own", "any")
_DEEPEST = 64  # splits inside of each other
_MOST_PARTS = 1_000_000  # of all splits, times the digits of a number
_MOST_WORK = 10**8  # parameters times positions, tokens and boxes that they are applied to
_MOST_PAIRS = 10**6  # that are run
_MOST_RUN = 10**10  # parameters times positions of all pairs that are run
_HEX = 16
_DIGEST = 64  # characters of a SHA-256


@dataclass(frozen=True)
class Proved:
    """Bounds of the mix's coordinates over the pairs, and the gap of the logits over those bounds."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    margin: float
    a: int
    b: int
    turn: tuple[tuple[float, ...], ...] = ()  # directions along which the bounds are; none: along the axes


@dataclass(frozen=True)
class Refuted:
    """A pair that the model gets wrong at this step, and the token that it says."""

    a: int
    b: int
    got: int


@dataclass(frozen=True)
class Run:
    """The smallest margin of all pairs, each of which was run, and a pair that has it."""

    margin: float
    a: int
    b: int


@dataclass(frozen=True)
class Undecided:
    """Nothing is claimed."""


@dataclass(frozen=True, eq=False)
class Split:
    """Parts by the cases of one column, `carry x y`."""

    column: int
    parts: "tuple[tuple[np.ndarray, Leaf], ...]"


Leaf = Proved | Refuted | Run | Undecided | Split


@dataclass(frozen=True)
class HardestClaim:
    """The pair of a step that has the smallest margin found; no pair of the step has less than the bound."""

    step: int
    a: int
    b: int
    margin: float
    bound: float
    is_hardest: bool  # whether the bound is so near to the margin that no other pair is much harder


@dataclass(frozen=True)
class _Counterexample:
    a: int
    b: int
    expected: int
    got: int | str


@dataclass(frozen=True, eq=False)
class HeadAxes:
    """A head's coordinates: axis . (mix - centre)."""

    centre: np.ndarray  # dim
    axes: np.ndarray  # axis dim


@dataclass(frozen=True, eq=False)
class Certificate:
    """Every claim of a certificate; numbers on all inputs are none unless the verdict is proved."""

    tree: Mapping[str, Any]  # as it was read
    origin: str
    sha256: str
    architecture: Architecture
    params: Mapping[str, np.ndarray]
    task: Addition
    arithmetic: str
    any_backend: bool
    verdict: str
    inputs: str
    smallest_margin: float | None
    margin_bound: float | None
    rounding_bound: float | None
    hardest: tuple[HardestClaim, ...]
    counterexample: _Counterexample | None
    counts: Mapping[str, int]
    mixing: int | None  # the layer whose mixes the rows bound; none where they bound nothing
    axes: tuple[HeadAxes, ...]
    rows: tuple[tuple[PairClass, Leaf], ...]
    digest: str


def read_certificate_tree(source: str | Path | Mapping[str, object]) -> Mapping[str, Any]:
    """A file's content, or a tree that was read already, if it is a certificate at all."""
    tree = source if isinstance(source, Mapping) else read_certificate_file(Path(source))
    if tree.get("format") != _FORMAT or type(tree["format"]) is not int:
        raise UserError(f"this is no certificate of format {_FORMAT}")
    return tree


def is_adder_certificate(tree: Mapping[str, object]) -> bool:
    return read_field(tree, "task", dict).get("name") == Addition.name


def read_adder_certificate(tree: Mapping[str, object]) -> Certificate:
    """The claims of an adder's certificate."""
    try:
        return _assemble_certificate(tree)
    except RecursionError:
        raise UserError("rows of the certificate are split too deeply to be read") from None


def _assemble_certificate(tree: Mapping[str, object]) -> Certificate:
    require_known_fields(tree, _FIELDS, "the certificate")
    origin, sha256, architecture, params = read_certificate_model(tree)
    task, verdict = read_addition(tree), read_choice(tree, "verdict", VERDICTS)
    _require_little_work(tree, task, architecture, sum(array.size for array in params.values()))
    is_proved = verdict == "proved"
    return Certificate(
        tree=tree,
        origin=origin,
        sha256=sha256,
        architecture=architecture,
        params=params,
        task=task,
        arithmetic=read_choice(tree, "arithmetic", ARITHMETICS),
        any_backend=read_choice(tree, "backend", _BACKENDS) == "any",
        verdict=verdict,
        inputs=read_field(tree, "inputs", str),
        smallest_margin=read_number_or_null(tree, "smallest_margin", is_proved),
        margin_bound=read_number_or_null(tree, "margin_bound", is_proved),
        rounding_bound=read_number_or_null(tree, "rounding_bound", is_proved),
        hardest=read_items(read_field(tree, "hardest", list), "hardest", _read_hardest_claim),
        counterexample=_read_counterexample(tree),
        counts=_read_counts(tree),
        mixing=read_mixing(tree),
        axes=read_items(read_field(tree, "axes", list), "axes", read_axes),
        rows=read_items(read_field(tree, "rows", list), "rows", lambda item: _read_class_row(item, task)),
        digest=_read_hash(tree, "digest"),
    )


def read_certificate_model(
    tree: Mapping[str, object],
) -> tuple[str, str, Architecture, dict[str, np.ndarray]]:
    """Origin, hash, architecture and parameters, of any task; what only informs is bounded."""
    require_plain_text(tree["made_with"], "made_with")
    model = require_known_fields(read_field(tree, "model", dict), _MODEL_FIELDS, "model")
    written = read_field(model, "architecture", dict)
    architecture = from_tree(Architecture, written, "model.architecture")
    require_canonical(written, to_tree(architecture), "model.architecture")
    params = read_certificate_params(architecture, read_field(model, "params", dict))
    return require_plain_text(model["origin"], "origin"), _read_hash(model, "sha256"), architecture, params


def _require_little_work(tree: Mapping[str, object], task: Addition, model: Architecture, size: int) -> None:
    """Limits on parts of classes, and on the model times what it is run on, so that any check ends soon."""
    parts = _count_parts(read_field(tree, "rows", list))
    if parts * task.digits > _MOST_PARTS:
        raise UserError(f"the certificate splits its classes into {parts:,} parts, too many to be checked")
    places = task.written().length * model.vocab + len(read_field(tree, "rows", list)) + parts
    if size * places > _MOST_WORK:
        raise UserError(f"a model of {size:,} parameters is too large for {places:,} bounds to be checked")
    positions = task.written().length
    pairs = task.count_inputs(positions)
    is_run = any(item[:1] == ["run"] for item in _walk_lists(read_field(tree, "rows", list)))
    if is_run and (pairs > _MOST_PAIRS or size * pairs * positions > _MOST_RUN):
        raise UserError(f"{pairs:,} pairs of a model of {size:,} parameters are too many to be run again")


def _count_parts(rows: list[Any]) -> int:
    """How many parts all splits have, before any is read."""
    splits = (item for item in _walk_lists(rows) if item[:1] == ["split"] and len(item) > 2)
    return sum(len(item[2]) for item in splits if isinstance(item[2], list))


def _walk_lists(rows: list[Any]) -> Iterator[list[Any]]:
    """Every list in the rows, however deep."""
    left = [row for row in rows if isinstance(row, list)]
    while left:
        item = left.pop()
        yield item
        left += [inner for inner in item if isinstance(inner, list)]


def read_mixing(tree: Mapping[str, object]) -> int | None:
    """The layer of the mix, if anything rests on one."""
    return None if tree["mixing"] is None else read_integer_field(tree, "mixing")


def _read_hash(tree: Mapping[str, object], name: str) -> str:
    text = read_field(tree, name, str)
    if len(text) != _DIGEST or not set(text) <= set("0123456789abcdef"):
        raise UserError(f"{name} of the certificate must be {_DIGEST} digits in hexadecimal")
    return text


def read_addition(tree: Mapping[str, object]) -> Addition:
    """The task as far as it is claimed: how a model was trained is not said."""
    written = read_field(tree, "task", dict)
    task: Addition = from_tree(Addition, written, "task")
    claimed = {name: value for name, value in to_tree(task).items() if name not in SCHEDULE_SETTINGS}
    require_canonical(written, claimed, "task")
    return task


def _read_counts(tree: Mapping[str, object]) -> dict[str, int]:
    names = ("total", *VERDICTS)
    counts = require_known_fields(read_field(tree, "classes", dict), names, "classes")
    return {name: read_integer_field(counts, name) for name in names}


def read_certificate_params(architecture: Architecture, tree: Mapping[str, object]) -> dict[str, np.ndarray]:
    """The stored parameters, in the architecture's precision, each number in the one form of `float.hex`."""
    params = {name: _read_param_array(name, tree, architecture.precision) for name in tree}
    check_params(architecture, params)
    return params


def _read_param_array(name: str, tree: Mapping[str, object], precision: str) -> np.ndarray:
    stored = require_known_fields(read_field(tree, name, dict), ("shape", "values"), f"model.params.{name}")
    shape = tuple(require_integer(size, f"{name}.shape") for size in read_field(stored, "shape", list))
    values = read_field(stored, "values", list)
    try:
        numbers = [float.fromhex(value) for value in values]
        exact = np.array(numbers, np.float64)
        with np.errstate(over="ignore"):
            array = exact.astype(precision).reshape(shape)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"model.params.{name} must be numbers in hexadecimal, as many as its shape") from None
    if [number.hex() for number in numbers] != values:
        raise UserError(f"model.params.{name} has a number that is not written as float.hex writes it")
    if not np.array_equal(array.ravel().astype(np.float64), exact):
        raise UserError(f"model.params.{name} holds numbers that {precision} does not have")
    return array


def read_axes(tree: object) -> HeadAxes:
    require_known_fields(tree, ("centre", "axes"), "axes")
    centre = require_number_list(read_field(tree, "centre", list), "centre")
    axes = [require_number_list(axis, "axis") for axis in read_field(tree, "axes", list)]
    if any(len(axis) != len(centre) for axis in axes):
        raise UserError("every axis of the certificate must have as many numbers as its centre")
    return HeadAxes(np.array(centre), np.array(axes, np.float64).reshape(len(axes), len(centre)))


def _read_hardest_claim(tree: Any) -> HardestClaim:
    require_known_fields(tree, ("step", "a", "b", "margin", "bound", "is_hardest"), "hardest")
    if not isinstance(tree["is_hardest"], bool):
        raise UserError("is_hardest of the certificate must be true or false")
    return HardestClaim(
        read_integer_field(tree, "step"),
        read_integer_field(tree, "a"),
        read_integer_field(tree, "b"),
        require_finite_number(tree["margin"], "margin"),
        require_finite_number(tree["bound"], "bound"),
        tree["is_hardest"],
    )


def _read_counterexample(tree: Mapping[str, object]) -> _Counterexample | None:
    if tree["counterexample"] is None:
        return None
    found = require_known_fields(tree["counterexample"], ("a", "b", "expected", "got"), "counterexample")
    got = found["got"]
    if not isinstance(got, str):
        got = read_integer_field(found, "got")
    a, b, expected = (read_integer_field(found, key) for key in ("a", "b", "expected"))
    return _Counterexample(a, b, expected, got)


def _read_class_row(tree: object, task: Addition) -> tuple[PairClass, Leaf]:
    items = require_list(tree, 5, "a row")
    step, previous, total, carry = (require_integer(item, "a row's class") for item in items[:4])
    return PairClass(step, previous, total, carry, task.base, task.does), _read_leaf(items[4], task)


def _read_leaf(tree: Any, task: Addition, depth: int = 0) -> Leaf:
    kind = tree[0] if isinstance(tree, list) and tree else None
    if kind == "proved":
        turned: tuple[tuple[float, ...], ...] = ()
        if len(tree) == 7:
            turned = read_items(tree[6], "turn", lambda item: require_number_list(item, "turn"))
            tree = tree[:6]
        _, low, high, margin, a, b = require_list(tree, 6, "a proved leaf")
        bounds = require_number_list(low, "low"), require_number_list(high, "high")
        return Proved(
            *bounds,
            require_finite_number(margin, "margin"),
            require_integer(a, "a"),
            require_integer(b, "b"),
            turned,
        )
    if kind == "refuted":
        return Refuted(
            *(require_integer(item, "a refuted leaf") for item in require_list(tree, 4, "a refuted leaf")[1:])
        )
    if kind == "run":
        _, margin, a, b = require_list(tree, 4, "a leaf that is run")
        margin = require_finite_number(margin, "margin")
        return Run(margin, require_integer(a, "a"), require_integer(b, "b"))
    if kind == "split":
        return _read_split(require_list(tree, 3, "a split"), task, depth + 1)
    if tree != ["undecided"]:
        kinds = "proved, split, run, refuted or undecided"
        raise UserError(f"a leaf must be {kinds}, but it is {str(tree)[:60]!r}")
    return Undecided()


def _read_split(tree: list[object], task: Addition, depth: int) -> Split:
    if depth > _DEEPEST:
        raise UserError(f"rows of the certificate are split more than {_DEEPEST} deep")
    column = require_integer(tree[1], "a split's column")
    if not 0 <= column < task.digits:
        raise UserError(f"a split's column must be between 0 and {task.digits - 1}, but it is {column}")
    parts = read_items(tree[2], "a split's parts", lambda item: require_list(item, 2, "a part of a split"))
    leaves = [_read_leaf(leaf, task, depth) for _, leaf in parts]
    masks = [_read_case_mask(mask, task) for mask, _ in parts]
    return Split(column, tuple(zip(masks, leaves, strict=True)))


def _read_case_mask(text: Any, task: Addition) -> np.ndarray:
    """The bits of a hexadecimal number as `carry x y`; in base ten bit number 100 carry + 10 x + y."""
    carries, base = task.does.carries, task.base
    cases = carries * base * base
    bits = int(text, _HEX) if isinstance(text, str) and set(text) <= set("0123456789abcdef") and text else -1
    if not 0 < bits < 2**cases or f"{bits:x}" != text:
        raise UserError(
            f"a mask must be {cases} bits in hexadecimal, not all 0, but it is {str(text)[:60]!r}"
        )
    packed = np.frombuffer(bits.to_bytes(-(-cases // 8), "little"), np.uint8)
    return np.unpackbits(packed, count=cases, bitorder="little").astype(bool).reshape(carries, base, base)
