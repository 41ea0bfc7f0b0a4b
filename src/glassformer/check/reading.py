"""A certificate as it lies in its file, read into types; whatever does not fit is one sentence.

Nothing is believed here: these are the claims, and the other modules check them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.check.columns import Class
from glassformer.check.fields import (
    listed,
    many,
    number,
    number_or_none,
    numbers,
    one_of,
    part,
    whole,
    whole_of,
)
from glassformer.errors import UserError
from glassformer.model.architecture import Architecture
from glassformer.model.model import check_params
from glassformer.runs.tree import from_tree
from glassformer.tasks import Addition
from glassformer.tasks.addition import BASE

FORMAT = 1
VERDICTS = ("proved", "refuted", "undecided")
ARITHMETICS = ("float32", "float64", "real")
CASES = 2 * BASE * BASE  # of a column: carry, x, y


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
class Hardest:
    step: int
    a: int
    b: int
    margin: float


@dataclass(frozen=True)
class Counterexample:
    a: int
    b: int
    expected: int
    got: int | str
    step: int | None  # the first that is wrong


@dataclass(frozen=True, eq=False)
class Axes:
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
    hardest: tuple[Hardest, ...]
    counterexample: Counterexample | None
    counts: Mapping[str, int]
    axes: tuple[Axes, ...]
    rows: tuple[tuple[Class, Leaf], ...]
    digest: str


def read_tree(source: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
    """A file's content, or a tree that was read already, if it is a certificate at all."""
    tree = source if isinstance(source, Mapping) else parsed(Path(source))
    if not isinstance(tree, Mapping) or tree.get("format") != FORMAT:
        raise UserError(f"this is no certificate of format {FORMAT}")
    return tree


def is_addition(tree: Mapping[str, Any]) -> bool:
    return part(tree, "task", dict).get("name") == Addition.name


def read_certificate(tree: Mapping[str, Any]) -> Certificate:
    """The claims of an adder's certificate."""
    try:
        return assembled(tree)
    except RecursionError:
        raise UserError("rows of the certificate are split too deeply to be read") from None


def assembled(tree: Mapping[str, Any]) -> Certificate:
    model = part(tree, "model", dict)
    architecture = from_tree(Architecture, part(model, "architecture", dict), "model.architecture")
    task: Addition = from_tree(Addition, tree["task"], "task")
    is_proved = one_of(tree, "verdict", VERDICTS) == "proved"
    return Certificate(
        tree=tree,
        origin=part(model, "origin", str),
        sha256=part(model, "sha256", str),
        architecture=architecture,
        params=read_params(architecture, part(model, "params", dict)),
        task=task,
        arithmetic=one_of(tree, "arithmetic", ARITHMETICS),
        verdict=one_of(tree, "verdict", VERDICTS),
        inputs=part(tree, "inputs", str),
        smallest_margin=number_or_none(tree, "smallest_margin", is_proved),
        margin_bound=number_or_none(tree, "margin_bound", is_proved),
        rounding_bound=number_or_none(tree, "rounding_bound", is_proved),
        hardest=many(part(tree, "hardest", list), "hardest", read_hardest),
        counterexample=read_counterexample(tree),
        counts={key: whole(part(tree, "classes", dict), key) for key in ("total", *VERDICTS)},
        axes=many(part(tree, "axes", list), "axes", read_axes),
        rows=many(part(tree, "rows", list), "rows", lambda item: read_row(item, task.digits)),
        digest=part(tree, "digest", str),
    )


def parsed(path: Path) -> Any:
    """The file's JSON, in which every number is finite."""

    def refuse(name: str) -> float:
        raise UserError(f"{path} holds a number that is not finite ({name})")

    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is no certificate: its JSON cannot be read ({error})") from None


def read_params(architecture: Architecture, tree: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The stored numbers, in the architecture's precision."""
    params = {name: read_array(name, tree, architecture.precision) for name in tree}
    check_params(architecture, params)
    return params


def read_array(name: str, tree: Mapping[str, Any], precision: str) -> np.ndarray:
    stored = part(tree, name, dict)
    shape = tuple(whole_of(size, f"{name}.shape") for size in part(stored, "shape", list))
    try:
        exact = np.array([float.fromhex(value) for value in part(stored, "values", list)], np.float64)
        with np.errstate(over="ignore"):
            array = exact.astype(precision).reshape(shape)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"model.params.{name} must be numbers in hexadecimal, as many as its shape") from None
    if not np.array_equal(array.ravel().astype(np.float64), exact):
        raise UserError(f"model.params.{name} holds numbers that {precision} does not have")
    return array


def read_axes(tree: Any) -> Axes:
    centre = numbers(part(tree, "centre", list), "centre")
    axes = [numbers(axis, "axis") for axis in part(tree, "axes", list)]
    if any(len(axis) != len(centre) for axis in axes):
        raise UserError("every axis of the certificate must have as many numbers as its centre")
    return Axes(np.array(centre), np.array(axes, np.float64).reshape(len(axes), len(centre)))


def read_hardest(tree: Any) -> Hardest:
    return Hardest(
        whole(tree, "step"), whole(tree, "a"), whole(tree, "b"), number(tree.get("margin"), "margin")
    )


def read_counterexample(tree: Mapping[str, Any]) -> Counterexample | None:
    if tree.get("counterexample") is None:
        return None
    found = part(tree, "counterexample", dict)
    got = found.get("got")
    if not isinstance(got, str):
        got = whole(found, "got")
    a, b, expected = (whole(found, key) for key in ("a", "b", "expected"))
    return Counterexample(a, b, expected, got, None if found.get("step") is None else whole(found, "step"))


def read_row(tree: Any, digits: int) -> tuple[Class, Leaf]:
    items = listed(tree, 5, "a row")
    numbers_of_class = [whole_of(item, "a row's class") for item in items[:4]]
    return Class(*numbers_of_class), read_leaf(items[4], digits)


def read_leaf(tree: Any, digits: int) -> Leaf:
    kind = tree[0] if isinstance(tree, list) and tree else None
    if kind == "proved":
        turned = many(tree[6], "turn", lambda item: numbers(item, "turn")) if len(tree) > 6 else ()
        _, low, high, margin, a, b = listed(tree[:6], 6, "a proved leaf")
        bounds = numbers(low, "low"), numbers(high, "high")
        return Proved(*bounds, number(margin, "margin"), whole_of(a, "a"), whole_of(b, "b"), turned)
    if kind == "refuted":
        return Refuted(*(whole_of(item, "a refuted leaf") for item in listed(tree, 4, "a refuted leaf")[1:]))
    if kind == "split":
        return read_split(listed(tree, 3, "a split"), digits)
    if tree != ["undecided"]:
        raise UserError(f"a leaf must be proved, split, refuted or undecided, but it is {str(tree)[:60]!r}")
    return Undecided()


def read_split(tree: list[Any], digits: int) -> Split:
    column = whole_of(tree[1], "a split's column")
    if not 0 <= column < digits:
        raise UserError(f"a split's column must be between 0 and {digits - 1}, but it is {column}")
    parts = many(tree[2], "a split's parts", lambda item: listed(item, 2, "a part of a split"))
    return Split(column, tuple((read_mask(mask), read_leaf(leaf, digits)) for mask, leaf in parts))


def read_mask(text: Any) -> np.ndarray:
    """Bit carry 100 + x 10 + y of the hexadecimal number, as `carry x y`."""
    try:
        bits = int(text, 16)
    except (TypeError, ValueError):
        bits = -1
    if not 0 <= bits < 2**CASES:
        raise UserError(f"a mask must be {CASES} bits in hexadecimal, but it is {str(text)[:60]!r}")
    return np.array([bits >> case & 1 for case in range(CASES)], bool).reshape(2, BASE, BASE)
