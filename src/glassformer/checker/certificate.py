"""The check of a certificate: small, exact, and independent of how the certificate was found.

It shares with the search only the model's definition and the task. Tables, bounds and logits are enclosed
anew, in Arb's balls; sums over classes are maximised in whole numbers; pairs said to be wrong are run.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
from flint import ctx

from glassformer.checker.axes import is_orthonormal, require_axes
from glassformer.checker.balls import BITS
from glassformer.checker.bounds import ClaimError, ProvedPart, bound_parts, find_query_position
from glassformer.checker.claims import (
    check_classes,
    check_counts,
    check_integrity,
    check_margins,
    check_setting,
    list_claimed_leaves,
)
from glassformer.checker.concrete import check_counterexample, check_hardest, check_refuted
from glassformer.checker.cores import map_on_cores
from glassformer.checker.every_length import check_every_length, is_every_length
from glassformer.checker.every_pair import check_run_pairs
from glassformer.checker.reading import (
    Certificate,
    Proved,
    Run,
    is_adder_certificate,
    read_adder_certificate,
    read_certificate_tree,
)
from glassformer.checker.readout import MarginBoxes, require_margins
from glassformer.checker.result import CheckResult, make_addition_result, make_strings_result
from glassformer.checker.rule import check_strings_certificate
from glassformer.checker.tables import PremixTables, make_premix_tables
from glassformer.models.model import Model

_ROUNDING_ROOM = 4.0  # times the rounding that the checker finds itself: more is no bound worth its name


def check_certificate(source: str | Path | Mapping[str, object]) -> CheckResult:
    """The certificate, checked from its file; a file that is none at all is an error."""
    begin, tree = time.perf_counter(), read_certificate_tree(source)
    try:
        with set_check_precision():
            found = _check_addition(tree) if is_adder_certificate(tree) else _check_strings(tree)
    except ClaimError as claim:
        return CheckResult(False, str(claim), time.perf_counter() - begin)
    return replace(found, seconds=time.perf_counter() - begin)


@contextmanager
def set_check_precision() -> Iterator[None]:
    """Arb's precision for the check; bounds of float64 that overflow are infinite, and so are no bounds."""
    before, ctx.prec = ctx.prec, BITS
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        ctx.prec = before


def _check_addition(tree: Mapping[str, object]) -> CheckResult:
    """What an adder's certificate proves, where every claim holds."""
    if is_every_length(tree):
        return check_every_length(tree, _check_claims)
    certificate = read_adder_certificate(tree)
    check_integrity(certificate)
    _check_claims(certificate, lambda tables: 0.0)
    return make_addition_result(certificate)


def _check_strings(tree: Mapping[str, object]) -> CheckResult:
    """What the certificate of a rule or a question proves."""
    return make_strings_result(tree, check_strings_certificate(tree))


def _check_claims(certificate: Certificate, measure_slack: Callable[[PremixTables], float]) -> None:
    """Every claim about numbers of one length, the cheap ones first; mixes may be off by the slack."""
    check_setting(certificate)
    check_classes(certificate)
    check_counts(certificate)
    found = list_claimed_leaves(certificate)
    proved = [ProvedPart(one, here, leaf) for one, here, leaf in found if isinstance(leaf, Proved)]
    check_margins(certificate, found)
    model = Model(certificate.architecture, certificate.params)
    check_counterexample(model, certificate)
    check_refuted(model, certificate, found)
    if any(isinstance(leaf, Run) for _, _, leaf in found):
        check_run_pairs(model, certificate, found)
    if not proved:
        _check_nothing_bounded(certificate)
        return
    if certificate.mixing is None:
        raise ClaimError("classes are bounded, but the layer of their mix is not named")
    tables = make_premix_tables(
        certificate.architecture,
        certificate.params,
        certificate.task,
        certificate.arithmetic,
        certificate.any_backend,
        certificate.mixing,
    )
    _check_axes(tables, certificate, proved)
    check_hardest(tables, certificate)
    _check_proved_parts(tables, certificate, proved, measure_slack(tables))


def _check_nothing_bounded(certificate: Certificate) -> None:
    """A certificate without bounds speaks of no layer and of no axes."""
    if certificate.mixing is not None or certificate.axes:
        raise ClaimError("no class is bounded, but a layer or axes of the mix are named")


def _check_axes(tables: PremixTables, certificate: Certificate, proved: list[ProvedPart]) -> None:
    """One set of axes per head, of its size; as many bounds as axes, each low one below its high one."""
    sizes, given = (
        [head.values.shape[0] for head in tables.heads],
        [len(one.centre) for one in certificate.axes],
    )
    if sizes != given:
        raise ClaimError(f"the heads carry {sizes} numbers, but the axes are for {given}")
    for head, along in zip(tables.heads, certificate.axes, strict=True):
        require_axes(head.values, tables.allowed, along, tables.attention.extra > 0)
    heads = np.repeat(np.arange(len(sizes)), [len(one.axes) for one in certificate.axes])
    for part in proved:
        _check_part_shape(part, heads)


def _check_part_shape(part: ProvedPart, heads: np.ndarray) -> None:
    """A low and a high bound for each axis, in order; a turn mixes the axes of one head only."""
    low, high, turn = part.leaf.low, part.leaf.high, part.leaf.turn
    if not len(heads) or (len(low), len(high)) != (len(heads), len(heads)):
        raise ClaimError(f"{part.one} has {len(low)} low and {len(high)} high bounds for {len(heads)} axes")
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise ClaimError(f"{part.one} has a low bound above its high bound")
    if turn and [len(row) for row in turn] != [len(heads)] * len(heads):
        raise ClaimError(f"{part.one} turns its {len(heads)} coordinates by a matrix of another size")
    if turn and (np.array(turn)[heads[:, None] != heads] != 0).any():
        raise ClaimError(f"{part.one} turns coordinates of different heads into each other")
    if turn and not is_orthonormal(np.array(turn)):
        raise ClaimError(f"{part.one} turns its coordinates by a matrix that is no turn")


def _check_proved_parts(
    tables: PremixTables, certificate: Certificate, proved: list[ProvedPart], slack: float
) -> None:
    """The bounds and margins of every proved part, a step at a time, and the rounding that all share."""
    rounding = certificate.rounding_bound
    limit = float("inf") if rounding is None else rounding
    ordered = sorted(proved, key=lambda part: part.one.step)
    steps = [list(group) for _, group in groupby(ordered, key=lambda part: part.one.step)]
    found = map_on_cores(lambda parts: _check_step(tables, certificate, parts, limit, slack), steps)
    for _, said in found:
        if said:
            raise ClaimError(said)
    most = max((most for most, _ in found), default=0.0)
    if rounding is not None and rounding > _limit_rounding(tables, certificate, most):
        raise ClaimError(
            f"rounding is said to move a logit by up to {rounding:.6g}, but all that is found is {most:.6g}"
        )


def _limit_rounding(tables: PremixTables, certificate: Certificate, most: float) -> float:
    """The largest rounding bound that is taken, given what is found.

    A prover may count all that another attention layer varies by as rounding, so there the margin that was
    just confirmed is allowed too; real numbers are never rounded.
    """
    is_loose = tables.has_other_attention and not tables.ops.rules.is_real
    confirmed = certificate.margin_bound if is_loose else None
    return max(_ROUNDING_ROOM * most, confirmed or 0.0)


def _check_step(
    tables: PremixTables, certificate: Certificate, parts: list[ProvedPart], limit: float, slack: float
) -> tuple[float, str]:
    """How far rounding moves a logit over the parts of one step, and why they cannot be confirmed, if so."""
    try:
        boxes = _make_margin_boxes(tables, certificate, parts, slack)
        return require_margins(tables, certificate.axes, parts, boxes, limit), ""
    except ClaimError as claim:
        return 0.0, str(claim)


def _make_margin_boxes(
    tables: PremixTables, certificate: Certificate, parts: list[ProvedPart], slack: float
) -> MarginBoxes:
    """The box of each part, certain to hold its mixes, and the margin that is claimed there."""
    bounds = bound_parts(tables, certificate.task, certificate.axes, parts)
    if slack:
        ends = np.nextafter(bounds.low - slack, -np.inf), np.nextafter(bounds.high + slack, np.inf)
        bounds = replace(bounds, low=ends[0], high=ends[1])
    ones, position = [part.one for part in parts], find_query_position(certificate.task, parts[0].one.step)
    return MarginBoxes(
        part=np.arange(len(parts)),
        position=np.full(len(parts), position),
        previous=np.array([one.previous for one in ones]),
        right=np.array([one.right for one in ones]),
        margin=np.array([part.leaf.margin for part in parts]),
        bounds=bounds,
    )
