"""The check of a certificate for numbers of every length: how far a query sees, then each length it rests on.

A key m columns up has the score -c (m - mu)^2, and keys at m = 0 and 1 are always there. Beyond the window
that is claimed, a key's weight is exactly 0 in the deployed arithmetic; in real numbers it is next to 0, and
each mix of the longest length is widened by all that longer numbers could add. A sum of more than
below + above + 2 digits has, at each of its steps, a window that a sum of just so many digits has too
(docs/every-length.md), so that proofs of 1 to that many digits are a proof for all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from glassformer.checker.balls import bound_magnitude
from glassformer.checker.bounds import ClaimError
from glassformer.checker.claims import check_digest, hash_model, require_room
from glassformer.checker.fields import (
    format_canonical,
    read_choice,
    read_field,
    read_number_or_null,
    require_integer,
    require_known_fields,
    require_list,
)
from glassformer.checker.reading import (
    ARITHMETICS,
    HEADING,
    VERDICTS,
    Certificate,
    read_adder_certificate,
    read_addition,
    read_certificate_model,
)
from glassformer.checker.result import CheckResult, describe_addition, name_failed_problem
from glassformer.checker.tables import PremixTables
from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture
from glassformer.models.attention import Attention
from glassformer.models.forward import format_layer_prefix, untie_parameters
from glassformer.models.position import NoPosition
from glassformer.models.projection import ZeroProjection
from glassformer.models.relations import ColumnRelation
from glassformer.runs.tree import to_tree
from glassformer.tasks import Addition

_FIELDS = (
    *HEADING,
    "backend",
    "smallest_margin",
    "margin_bound",
    "counterexample",
    "window",
    "lengths",
    "digest",
)
_WRONG_FIELDS = ("a", "b", "expected", "got", "digits")
_MOST_LENGTHS = 200
_MARK_AND_PADDING = 2
_FAR_KEYS = {2: Fraction(3, 2), 1: Fraction(2, 1)}  # of a column, per key of the best one, by the numbers
# Below these exponents exp is less than half of the smallest number there is, and is rounded to 0.
_VANISHING = {"float32": Fraction(105), "float64": Fraction(746)}
_UNIT = {"float32": Fraction(1, 2**24), "float64": Fraction(1, 2**53)}
_SCORE_UNITS = 8  # a score has five roundings, the difference of two has one more
_BITS = Fraction(144, 100)  # in a power of e, at least: 1 / log 2 is 1.4427
_MOST_BITS = 1000  # that a weight is known to be small by: what float64 can still hold
_ROOM = 1 + 1e-9  # for the few roundings of float64 in a slack
CheckLength = Callable[[Certificate, Callable[[PremixTables], float]], None]


@dataclass(frozen=True)
class _Claims:
    """What is said about all lengths."""

    origin: str
    sha256: str
    architecture: Architecture
    params: Mapping[str, np.ndarray]
    task: Addition
    arithmetic: str
    verdict: str
    window: tuple[int, int] | None
    lengths: list[Any]


def is_every_length(tree: Mapping[str, object]) -> bool:
    return "lengths" in tree


def check_every_length(tree: Mapping[str, Any], check_length: CheckLength) -> CheckResult:
    """What the certificate proves, where every claim holds; `check_length` checks one length of it."""
    claims = _read_claims(tree)
    check_digest(tree, claims.architecture.precision, claims.params)
    _check_model_form(claims)
    share = _check_window(claims) if claims.window else Fraction(0)
    found = [_read_length(tree, claims, digits) for digits in range(1, len(claims.lengths) + 1)]
    _check_outcomes(tree, claims, found)
    longest = _count_needed_digits(claims.window)
    for certificate in found:
        stands_for_longer = longest is not None and certificate.task.digits >= longest
        check_length(certificate, partial(_measure_mix_slack, share if stands_for_longer else Fraction(0)))
    return _make_result(tree, claims, found)


def _read_claims(tree: Mapping[str, Any]) -> _Claims:
    require_known_fields(tree, _FIELDS, "the certificate")
    origin, sha256, architecture, params = read_certificate_model(tree)
    read_choice(tree, "backend", ("own",))
    lengths = read_field(tree, "lengths", list)
    if not 1 <= len(lengths) <= _MOST_LENGTHS:
        raise UserError(
            f"a certificate for every length has 1 to {_MOST_LENGTHS} lengths, not {len(lengths)}"
        )
    return _Claims(
        origin,
        sha256,
        architecture,
        params,
        read_addition(tree),
        read_choice(tree, "arithmetic", ARITHMETICS),
        read_choice(tree, "verdict", VERDICTS),
        _read_window(tree["window"]),
        lengths,
    )


def _read_window(given: object) -> tuple[int, int] | None:
    if given is None:
        return None
    below, above = (require_integer(item, "window") for item in require_list(given, 2, "window"))
    if not (0 <= below <= _MOST_LENGTHS and 1 <= above <= _MOST_LENGTHS):
        raise UserError("window of the certificate must be two numbers of columns, the second at least 1")
    return below, above


def _count_needed_digits(window: tuple[int, int] | None) -> int | None:
    """Digits of the numbers that stand for all longer ones."""
    return None if window is None else sum(window) + 2


def _check_model_form(claims: _Claims) -> None:
    """One layer attends, its scores depend on columns alone, and no position has a vector."""
    attention, relation = _find_attention(claims.architecture)
    if not claims.task.is_any_length:
        raise ClaimError(f"the layout {claims.task.layout} is for numbers of one length")
    if not isinstance(claims.architecture.position, NoPosition) or claims.architecture.position_dims:
        raise ClaimError("the model has position vectors, and so a longest number")
    if not isinstance(attention.q, ZeroProjection) or not isinstance(attention.k, ZeroProjection):
        raise ClaimError("scores of the model depend on tokens, not on columns alone")
    require_room(claims.architecture, claims.task)
    if relation.columns != claims.task.digits + _MARK_AND_PADDING:
        raise ClaimError(f"{relation.columns} columns do not fit numbers of {claims.task.digits} digits")


def _find_attention(architecture: Architecture) -> tuple[Attention, ColumnRelation]:
    found = [layer.attention for layer in architecture.layers if layer.attention]
    if len(found) != 1 or not isinstance(found[0].relation, ColumnRelation):
        raise ClaimError("a model for every length has one layer that attends, by columns")
    return found[0], found[0].relation


def _check_window(claims: _Claims) -> Fraction:
    """That no key outside of the window has weight; the share that all have at most, in real numbers."""
    assert claims.window
    attention, relation = _find_attention(claims.architecture)
    if any(relation.bias(head, attention.heads, m) for head in range(attention.heads) for m in (0, 1)):
        raise ClaimError("keys of the query's own column, or of the next, are masked")
    precision, shares = claims.architecture.precision, list[Fraction]()
    for sharpness, peak in _list_column_parameters(claims):
        shares.append(_bound_far_weights(sharpness, peak, claims.window, precision))
    return max(shares) * _FAR_KEYS[1 if claims.task.does.second == 0 else 2]


def _list_column_parameters(claims: _Claims) -> list[tuple[Fraction, Fraction]]:
    """Sharpness and peak of every head, exactly."""
    attending = [layer.attention is not None for layer in claims.architecture.layers].index(True)
    name = f"{format_layer_prefix(claims.architecture, attending)}attn.relation"
    params = untie_parameters(claims.architecture, claims.params)
    both = np.stack([params[f"{name}.sharpness"], params[f"{name}.peak"]]).astype(np.float64)
    if not np.isfinite(both).all():
        raise ClaimError("a parameter of the columns is not finite")
    return [(Fraction(float(c)), Fraction(float(mu))) for c, mu in both.T]


def _bound_far_weights(
    sharpness: Fraction, peak: Fraction, window: tuple[int, int], precision: str
) -> Fraction:
    """What one key per column outside of the window weighs at most, in real numbers, the best key being 1."""
    below, above = window
    if sharpness <= 0 or not -below - 1 < peak < above + 1:
        raise ClaimError("scores do not fall from the window's edges outwards")
    off, best = _SCORE_UNITS * _UNIT[precision], sharpness * min(peak**2, (1 - peak) ** 2)
    total = Fraction(0)
    for away in (above + 1 - peak, below + 1 + peak):
        score = sharpness * away**2
        if (1 - off) * score < _VANISHING[precision] + (1 + off) * best:
            raise ClaimError(f"a key outside of the window of {below} columns down and {above} up has weight")
        falls = sharpness * (2 * away + 1)  # to the next column, by exp(-falls) <= 1 / (1 + falls)
        bits = min(int(_BITS * (score - best)), _MOST_BITS)
        total += Fraction(1, 2**bits) * (1 + falls) / falls
    return total


def _measure_mix_slack(share: Fraction, tables: PremixTables) -> float:
    """How far a mix of longer numbers can be from one of these: each gives up to that share to far keys."""
    if not share:
        return 0.0
    longest = max(
        float(np.sqrt((np.asarray(bound_magnitude(head.values.over), np.float64) ** 2).sum(0).max()))
        for head in tables.heads
    )
    return 2 * float(share) * 2 * longest * _ROOM


def _read_length(tree: Mapping[str, Any], claims: _Claims, digits: int) -> Certificate:
    """The certificate of one length, with the model as it is for that length."""
    given = claims.lengths[digits - 1]
    if not isinstance(given, Mapping):
        raise UserError(f"length {digits} of the certificate must be a table")
    if format_canonical(given.get("task")) != format_canonical({**tree["task"], "digits": digits}):
        raise ClaimError(f"length {digits} of the certificate has another task")
    architecture = _stretch_architecture(claims.architecture, read_addition(given))
    model = {
        **tree["model"],
        "architecture": to_tree(architecture),
        "sha256": hash_model(architecture, claims.params),
    }
    shared = {name: tree[name] for name in ("format", "made_with", "arithmetic", "backend", "digest")}
    if doubled := [name for name in (*shared, "model") if name in given]:
        raise UserError(f"length {digits} of the certificate says {doubled[0]} again")
    return read_adder_certificate({**given, **shared, "model": model})


def _stretch_architecture(architecture: Architecture, task: Addition) -> Architecture:
    """The same layers with as many columns as the task's numbers have."""
    columns = task.digits + _MARK_AND_PADDING
    layers = tuple(
        replace(layer, attention=_stretch_attention(layer.attention, columns))
        for layer in architecture.layers
    )
    return replace(architecture, context=task.written().length - 1, layers=layers)


def _stretch_attention(attention: Attention | None, columns: int) -> Attention | None:
    if attention is None or not isinstance(attention.relation, ColumnRelation):
        return attention
    return replace(attention, relation=replace(attention.relation, columns=columns))


def _check_outcomes(tree: Mapping[str, Any], claims: _Claims, found: list[Certificate]) -> None:
    """All lengths but the last are proved, and the last says what is said of all."""
    if tree["inputs"] != "all":
        raise ClaimError(f"the certificate is about all inputs, not {str(tree['inputs'])[:60]}")
    for certificate in found[:-1]:
        if certificate.verdict != "proved":
            raise ClaimError(f"numbers of {certificate.task.digits} digits are {certificate.verdict}")
    last, needed = found[-1].verdict, _count_needed_digits(claims.window)
    is_enough = needed is not None and len(found) >= needed
    outcome = last if last != "proved" else "proved" if is_enough else "undecided"
    if claims.verdict != outcome:
        raise ClaimError(f"the lengths of the certificate add up to {outcome}, not to {claims.verdict}")
    _check_counterexample(tree["counterexample"], found[-1])
    _check_margins(tree, found, claims.verdict == "proved")


def _check_counterexample(given: object, last: Certificate) -> None:
    """It is that of the last length, and says which length that is."""
    own = last.tree["counterexample"]
    expected = None if own is None else {**own, "digits": last.task.digits}
    if format_canonical(given) != format_canonical(expected):
        raise ClaimError("the counterexample is not that of the last length")


def _check_margins(tree: Mapping[str, Any], found: list[Certificate], is_proved: bool) -> None:
    """The smallest of all lengths."""
    for name in ("smallest_margin", "margin_bound"):
        claimed = read_number_or_null(tree, name, is_proved)
        least = min(getattr(one, name) for one in found) if is_proved else None
        if claimed != least:
            raise ClaimError(f"{name} is {claimed}, but the smallest of all lengths is {least}")


def _make_result(tree: Mapping[str, Any], claims: _Claims, found: list[Certificate]) -> CheckResult:
    return CheckResult(
        True,
        f"every claim holds: {claims.verdict}",
        0.0,
        verdict=claims.verdict,
        task=describe_addition(claims.task, is_every_length=True),
        inputs="all",
        arithmetic=claims.arithmetic,
        backend="own",
        smallest_margin=tree["smallest_margin"],
        margin_bound=tree["margin_bound"],
        counterexample=None if tree["counterexample"] is None else dict(tree["counterexample"]),
        problem=name_failed_problem(claims.task, tree["counterexample"]),
        sha256=claims.sha256,
        origin=claims.origin,
    )
