"""A certificate as it lies in its file, read into types; whatever does not fit is one sentence.

Nothing is believed here: these are the claims, and the other modules check them.
"""

import json
from collections.abc import Mapping
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
    read_optional_number,
    require_finite_number,
    require_integer,
    require_list,
    require_number_list,
)
from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture
from glassformer.models.model import check_params
from glassformer.runs.tree import from_tree
from glassformer.tasks import Addition
from glassformer.tasks.addition import BASE

_FORMAT = 1
_VERDICTS = ("proved", "refuted", "undecided")
ARITHMETICS = ("float32", "float64", "real")
_CASES = 2 * BASE * BASE  # of a column: carry, x, y


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
class Undecided:
    """Nothing is claimed."""


@dataclass(frozen=True, eq=False)
class Split:
    """Parts by the cases of one column, `carry x y`."""

    column: int
    parts: "tuple[tuple[np.ndarray, Leaf], ...]"


Leaf = Proved | Refuted | Undecided | Split


@dataclass(frozen=True)
class HardestClaim:
    step: int
    a: int
    b: int
    margin: float


@dataclass(frozen=True)
class _Counterexample:
    a: int
    b: int
    expected: int
    got: int | str
    step: int | None  # the first that is wrong


@dataclass(frozen=True, eq=False)
class HeadAxes:
    """A head's coordinates: axis . (mix - centre)."""

    centre: np.ndarray  # dim
    axes: np.ndarray  # axis dim


@dataclass(frozen=True, eq=False)
class Certificate:
    """Every claim of a certificate; numbers are none where a verdict other than proved leaves them out."""

    tree: Mapping[str, Any]  # as it was read
    origin: str
    sha256: str
    architecture: Architecture
    params: Mapping[str, np.ndarray]
    task: Addition
    arithmetic: str
    verdict: str
    inputs: str
    smallest_margin: float | None
    margin_bound: float | None
    rounding_bound: float | None
    hardest: tuple[HardestClaim, ...]
    counterexample: _Counterexample | None
    counts: Mapping[str, int]
    axes: tuple[HeadAxes, ...]
    rows: tuple[tuple[PairClass, Leaf], ...]
    digest: str


def read_certificate_tree(source: str | Path | Mapping[str, object]) -> Mapping[str, Any]:
    """A file's content, or a tree that was read already, if it is a certificate at all."""
    tree = source if isinstance(source, Mapping) else _parse_certificate(Path(source))
    if not isinstance(tree, Mapping) or tree.get("format") != _FORMAT:
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
    model = read_field(tree, "model", dict)
    architecture = from_tree(Architecture, read_field(model, "architecture", dict), "model.architecture")
    task: Addition = from_tree(Addition, tree["task"], "task")
    is_proved = read_choice(tree, "verdict", _VERDICTS) == "proved"
    return Certificate(
        tree=tree,
        origin=read_field(model, "origin", str),
        sha256=read_field(model, "sha256", str),
        architecture=architecture,
        params=read_certificate_params(architecture, read_field(model, "params", dict)),
        task=task,
        arithmetic=read_choice(tree, "arithmetic", ARITHMETICS),
        verdict=read_choice(tree, "verdict", _VERDICTS),
        inputs=read_field(tree, "inputs", str),
        smallest_margin=read_optional_number(tree, "smallest_margin", is_proved),
        margin_bound=read_optional_number(tree, "margin_bound", is_proved),
        rounding_bound=read_optional_number(tree, "rounding_bound", is_proved),
        hardest=read_items(read_field(tree, "hardest", list), "hardest", _read_hardest_claim),
        counterexample=_read_counterexample(tree),
        counts={
            key: read_integer_field(read_field(tree, "classes", dict), key) for key in ("total", *_VERDICTS)
        },
        axes=read_items(read_field(tree, "axes", list), "axes", read_axes),
        rows=read_items(
            read_field(tree, "rows", list), "rows", lambda item: _read_class_row(item, task.digits)
        ),
        digest=read_field(tree, "digest", str),
    )


def _parse_certificate(path: Path) -> Any:
    """The file's JSON, in which every number is finite."""

    def refuse(name: str) -> float:
        raise UserError(f"{path} holds a number that is not finite ({name})")

    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is no certificate: its JSON cannot be read ({error})") from None


def read_certificate_params(architecture: Architecture, tree: Mapping[str, object]) -> dict[str, np.ndarray]:
    """The stored parameters, in the architecture's precision."""
    params = {name: _read_param_array(name, tree, architecture.precision) for name in tree}
    check_params(architecture, params)
    return params


def _read_param_array(name: str, tree: Mapping[str, object], precision: str) -> np.ndarray:
    stored = read_field(tree, name, dict)
    shape = tuple(require_integer(size, f"{name}.shape") for size in read_field(stored, "shape", list))
    try:
        exact = np.array([float.fromhex(value) for value in read_field(stored, "values", list)], np.float64)
        with np.errstate(over="ignore"):
            array = exact.astype(precision).reshape(shape)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"model.params.{name} must be numbers in hexadecimal, as many as its shape") from None
    if not np.array_equal(array.ravel().astype(np.float64), exact):
        raise UserError(f"model.params.{name} holds numbers that {precision} does not have")
    return array


def read_axes(tree: object) -> HeadAxes:
    centre = require_number_list(read_field(tree, "centre", list), "centre")
    axes = [require_number_list(axis, "axis") for axis in read_field(tree, "axes", list)]
    if any(len(axis) != len(centre) for axis in axes):
        raise UserError("every axis of the certificate must have as many numbers as its centre")
    return HeadAxes(np.array(centre), np.array(axes, np.float64).reshape(len(axes), len(centre)))


def _read_hardest_claim(tree: Any) -> HardestClaim:
    return HardestClaim(
        read_integer_field(tree, "step"),
        read_integer_field(tree, "a"),
        read_integer_field(tree, "b"),
        require_finite_number(tree.get("margin"), "margin"),
    )


def _read_counterexample(tree: Mapping[str, object]) -> _Counterexample | None:
    if tree.get("counterexample") is None:
        return None
    found = read_field(tree, "counterexample", dict)
    got = found.get("got")
    if not isinstance(got, str):
        got = read_integer_field(found, "got")
    a, b, expected = (read_integer_field(found, key) for key in ("a", "b", "expected"))
    return _Counterexample(
        a, b, expected, got, None if found.get("step") is None else read_integer_field(found, "step")
    )


def _read_class_row(tree: object, digits: int) -> tuple[PairClass, Leaf]:
    items = require_list(tree, 5, "a row")
    numbers_of_class = [require_integer(item, "a row's class") for item in items[:4]]
    return PairClass(*numbers_of_class), _read_leaf(items[4], digits)


def _read_leaf(tree: Any, digits: int) -> Leaf:
    kind = tree[0] if isinstance(tree, list) and tree else None
    if kind == "proved":
        turned = (
            read_items(tree[6], "turn", lambda item: require_number_list(item, "turn"))
            if len(tree) > 6
            else ()
        )
        _, low, high, margin, a, b = require_list(tree[:6], 6, "a proved leaf")
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
    if kind == "split":
        return _read_split(require_list(tree, 3, "a split"), digits)
    if tree != ["undecided"]:
        raise UserError(f"a leaf must be proved, split, refuted or undecided, but it is {str(tree)[:60]!r}")
    return Undecided()


def _read_split(tree: list[object], digits: int) -> Split:
    column = require_integer(tree[1], "a split's column")
    if not 0 <= column < digits:
        raise UserError(f"a split's column must be between 0 and {digits - 1}, but it is {column}")
    parts = read_items(tree[2], "a split's parts", lambda item: require_list(item, 2, "a part of a split"))
    return Split(column, tuple((_read_case_mask(mask), _read_leaf(leaf, digits)) for mask, leaf in parts))


def _read_case_mask(text: Any) -> np.ndarray:
    """Bit carry 100 + x 10 + y of the hexadecimal number, as `carry x y`."""
    try:
        bits = int(text, 16)
    except (TypeError, ValueError):
        bits = -1
    if not 0 <= bits < 2**_CASES:
        raise UserError(f"a mask must be {_CASES} bits in hexadecimal, but it is {str(text)[:60]!r}")
    return np.array([bits >> case & 1 for case in range(_CASES)], bool).reshape(2, BASE, BASE)
