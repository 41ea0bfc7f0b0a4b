"""The check of a certificate: small, exact, and independent of how the certificate was found.

It shares with the search only the model's definition and the task. Tables, bounds and logits are enclosed
anew, in Arb's balls; sums over classes are maximised in whole numbers; pairs said to be wrong are run.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from flint import ctx

from glassformer.check.balls import BITS
from glassformer.check.bounds import ClaimError, Part, bound_parts, place_of
from glassformer.check.claims import (
    check_classes,
    check_counts,
    check_margins,
    check_setting,
    check_whole,
    leaves,
)
from glassformer.check.concrete import check_counterexample, check_hardest, check_refuted
from glassformer.check.cores import on_all_cores
from glassformer.check.reading import Certificate, Proved, is_addition, read_certificate, read_tree
from glassformer.check.readout import Boxes, decide
from glassformer.check.rule import check_rule
from glassformer.check.tables import Tables, make_tables
from glassformer.model.model import Model


@dataclass(frozen=True)
class Checked:
    """Whether every claim of a certificate holds; if not, the first that does not, in one sentence."""

    valid: bool
    reason: str
    seconds: float


def check(source: str | Path | Mapping[str, Any]) -> Checked:
    """The certificate, checked from its file; a file that is none at all is an error."""
    begin, tree = time.perf_counter(), read_tree(source)
    try:
        with exactly_enough():
            verdict = check_addition(tree) if is_addition(tree) else check_rule(tree)
    except ClaimError as claim:
        return Checked(False, str(claim), time.perf_counter() - begin)
    return Checked(True, f"every claim holds: {verdict}", time.perf_counter() - begin)


@contextmanager
def exactly_enough() -> Iterator[None]:
    """Arb's precision for the check; bounds of float64 that overflow are infinite, and so are no bounds."""
    before, ctx.prec = ctx.prec, BITS
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        ctx.prec = before


def check_addition(tree: Mapping[str, Any]) -> str:
    """The verdict of an adder's certificate, where every claim holds."""
    certificate = read_certificate(tree)
    check_claims(certificate)
    return certificate.verdict


def check_claims(certificate: Certificate) -> None:
    """Every claim, the cheap ones first."""
    check_whole(certificate)
    check_setting(certificate)
    check_classes(certificate)
    check_counts(certificate)
    found = leaves(certificate)
    proved = [Part(one, here, leaf) for one, here, leaf in found if isinstance(leaf, Proved)]
    check_margins(certificate)
    model, task = Model(certificate.architecture, certificate.params), certificate.task
    check_counterexample(model, certificate)
    check_refuted(model, task, found)
    tables = make_tables(certificate.architecture, certificate.params, task, certificate.arithmetic)
    check_axes(tables, certificate, proved)
    check_hardest(tables, certificate)
    check_proved(tables, certificate, proved)


def check_axes(tables: Tables, certificate: Certificate, proved: list[Part]) -> None:
    """One set of axes a head, of its size; as many bounds as axes, each low one below its high one."""
    sizes, given = (
        [head.values.shape[0] for head in tables.heads],
        [len(one.centre) for one in certificate.axes],
    )
    if sizes != given:
        raise ClaimError(f"the heads carry {sizes} numbers, but the axes are for {given}")
    heads = np.repeat(np.arange(len(sizes)), [len(one.axes) for one in certificate.axes])
    for part in proved:
        check_shape(part, heads)


def check_shape(part: Part, heads: np.ndarray) -> None:
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


def check_proved(tables: Tables, certificate: Certificate, proved: list[Part]) -> None:
    """The bounds and margins of every proved part, a step at a time."""
    rounding = certificate.rounding_bound
    limit = float("inf") if rounding is None else rounding
    ordered = sorted(proved, key=lambda part: part.one.step)
    steps = [list(group) for _, group in groupby(ordered, key=lambda part: part.one.step)]
    for said in on_all_cores(lambda parts: refused(tables, certificate, parts, limit), steps):
        if said:
            raise ClaimError(said)


def refused(tables: Tables, certificate: Certificate, parts: list[Part], limit: float) -> str:
    """Why the parts of one step cannot be confirmed; empty where they are."""
    try:
        decide(tables, certificate.axes, parts, boxes_of(tables, certificate, parts), limit)
    except ClaimError as claim:
        return str(claim)
    return ""


def boxes_of(tables: Tables, certificate: Certificate, parts: list[Part]) -> Boxes:
    """The box of each part, certain to hold its mixes, and the margin that is claimed there."""
    least = certificate.margin_bound or 0.0 if certificate.verdict == "proved" else 0.0
    ones, place = [part.one for part in parts], place_of(certificate.task, parts[0].one.step)
    return Boxes(
        part=np.arange(len(parts)),
        place=np.full(len(parts), place),
        previous=np.array([one.previous for one in ones]),
        right=np.array([one.right for one in ones]),
        margin=np.array([max(part.leaf.margin, least) for part in parts]),
        bounds=bound_parts(tables, certificate.task, certificate.axes, parts),
    )
