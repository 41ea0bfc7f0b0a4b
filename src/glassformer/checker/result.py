"""What a check has found: whether every claim holds, and what has been proved if it does.

Of a certificate that does not hold, only the reason is said: nothing else in it was confirmed.

>>> describe_addition(Addition(digits=1))
'addition of two 1-digit numbers, units first (layout lsb)'
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glassformer.checker.fields import format_canonical
from glassformer.checker.reading import Certificate
from glassformer.checker.rule import StringsCheck
from glassformer.tasks import Addition


@dataclass(frozen=True)
class CheckResult:
    """Whether every claim of a certificate holds; if not, the first that does not, in one sentence."""

    valid: bool
    reason: str
    seconds: float
    verdict: str | None = None  # this and all that follows was checked, and is none where a claim fails
    task: str | None = None  # in words
    inputs: str | None = None  # how many, an exact integer
    arithmetic: str | None = None
    backend: str | None = None  # own: our own pass; any: every IEEE evaluation
    smallest_margin: float | None = None  # attained by a pair, in real numbers
    margin_bound: float | None = None  # no input has a smaller one
    counterexample: dict[str, Any] | None = None
    problem: str | None = None  # of an adder's counterexample: `57 + 68`
    errors: list[int] | None = None  # strings: inputs that fail, at least and at most
    lawful: dict[str, Any] | None = None  # rules: the same of contexts that the rule can produce
    sha256: str | None = None  # of the model
    same_as: str | None = None  # a model whose weights were found to be these; none: nothing was compared
    origin: str | None = None  # what the file calls the model: not checked


def make_addition_result(certificate: Certificate) -> CheckResult:
    """Of an adder's certificate whose claims all hold."""
    wrong = certificate.tree["counterexample"]
    return CheckResult(
        True,
        f"every claim holds: {certificate.verdict}",
        0.0,
        verdict=certificate.verdict,
        task=describe_addition(certificate.task),
        inputs=certificate.inputs,
        arithmetic=certificate.arithmetic,
        backend="any" if certificate.any_backend else "own",
        smallest_margin=certificate.smallest_margin,
        margin_bound=certificate.margin_bound,
        counterexample=None if wrong is None else dict(wrong),
        problem=name_failed_problem(certificate.task, wrong),
        sha256=certificate.sha256,
        origin=certificate.origin,
    )


def name_failed_problem(task: Addition, wrong: Mapping[str, Any] | None) -> str | None:
    """What was asked, where an answer is wrong."""
    return None if wrong is None else task.write_problem(wrong["a"], wrong["b"])


def make_strings_result(tree: Mapping[str, Any], found: StringsCheck) -> CheckResult:
    """Of the certificate of a rule or a question whose claims all hold."""
    return CheckResult(
        True,
        f"every claim holds: {found.verdict}",
        0.0,
        verdict=found.verdict,
        task=_describe_settings(tree["task"]),
        inputs=found.inputs,
        arithmetic=found.arithmetic,
        backend="own",
        smallest_margin=found.smallest_margin,
        counterexample=tree["counterexample"],
        errors=None if found.errors is None else list(found.errors),
        lawful=found.lawful,
        sha256=found.sha256,
        origin=str(tree["model"].get("origin")),
    )


def describe_addition(task: Addition, is_every_length: bool = False) -> str:
    """The task in words, as far as it decides which inputs there are and what is right."""
    layout, base = task.written(), task.base
    orders = [
        "highest digit first" if highest else "units first"
        for highest in (layout.numbers_highest_first, layout.answer_highest_first)
    ]
    order = orders[0] if orders[0] == orders[1] else f"numbers {orders[0]}, {task.does.answer} {orders[1]}"
    where = "" if base == Addition.base else f" in base {base}"
    two = "two " if task.does.second else ""
    numbers = f"{two}numbers of every length" if is_every_length else f"{two}{task.digits}-digit numbers"
    return f"{task.does.noun} of {numbers}{where}, {order} (layout {task.layout})"


def _describe_settings(tree: Mapping[str, Any]) -> str:
    """A task by its name and settings; a table of its own is named by how it is written."""
    settings = [f"{name} {format_canonical(value)}" for name, value in tree.items() if name != "name"]
    return ", ".join([str(tree.get("name")), *settings])
