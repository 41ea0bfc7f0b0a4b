"""A proof's outcome in one form, wherever it is written down: a result, a certificate, the zoo's list."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glassformer.errors import UserError
from glassformer.model.model import Model
from glassformer.page.examples import rule_example
from glassformer.tasks import Addition, Rule, Task

SAME = 1e-4  # relative: the margin of the same weights, summed in another order in float32
VERDICTS = ("proved", "refuted", "undecided", "not_applicable")
NO_CLASSES = {"total": 0, "proved": 0, "refuted": 0, "undecided": 0}


@dataclass(frozen=True)
class Known:
    """Inputs are texts, as a user would type them."""

    verdict: str
    inputs: str
    arithmetic: str
    smallest_margin: float | None
    rounding_bound: float | None
    seconds: float | None
    reason: str
    source: str
    classes: Mapping[str, int]
    hardest: str | None
    counterexample: str | None
    steps: tuple[Mapping[str, Any], ...] = ()  # adders: the hardest pair of every step
    worst: tuple[str, ...] = ()  # rules: contexts that break the rule
    error: dict[str, Any] | None = None  # rules: the exact share of contexts that do


def known_rule(model: Model, rule: Rule, stored: Mapping[str, Any], sha256: str) -> Known | None:
    """What a run's result says of these very weights; none where it is of others, or does not say which."""
    if stored.get("sha256") != sha256:
        return None
    try:
        found = of_result(stored, rule, "result.json of the run")
        return found if is_of(rule, model, found) else None
    except (UserError, KeyError, TypeError, ValueError, AttributeError):
        return None


def is_of(rule: Rule, model: Model, found: Known) -> bool:
    """The hardest context has the margin stated: under another rule the same weights have another one."""
    if found.hardest is None or found.smallest_margin is None:
        return found.verdict != "proved"
    margin = rule_example(model, rule, found.hardest, "")["margin"]
    return margin is not None and math.isclose(margin, found.smallest_margin, rel_tol=SAME)


def of_result(content: Mapping[str, Any], task: Task, source: str) -> Known:
    """From the fields of `glassformer prove --json`."""
    details, wrong = content.get("details") or {}, content["counterexample"]
    lawful, exact = details.get("lawful"), content["exact_error"]
    if content["verdict"] not in VERDICTS:
        raise ValueError(f"no verdict called {content['verdict']!r}")
    return Known(
        verdict=content["verdict"],
        inputs=str(int(content["inputs"])),
        arithmetic=str(content["arithmetic"]),
        smallest_margin=content["smallest_margin"],
        rounding_bound=content["rounding_bound"],
        seconds=content["seconds"],
        reason=content.get("reason", ""),
        source=source,
        classes=NO_CLASSES | content["classes"],
        hardest=input_text(content["hardest"]),
        counterexample=input_text(wrong),
        steps=tuple(step_of(one, task) for one in details.get("hardest_by_step", ())),
        worst=tuple(one["context"] for one in details.get("worst", ())),
        error=exact and exact | {"lawful": lawful},
    )


def input_text(content: Any) -> str | None:
    """`57+68`, or a context as it is written."""
    if content is None or isinstance(content, str):
        return content
    return str(content["context"]) if "context" in content else f"{content['a']}+{content['b']}"


def step_of(one: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """The hardest pair of a step of writing; column 0 is the units."""
    assert isinstance(task, Addition)
    layout = task.written()
    column = list(layout.z_places).index(layout.prompt_length + one["step"])
    pair = f"{one['a']}+{one['b']}"
    return {
        "step": one["step"],
        "column": column,
        "margin": one["margin"],
        "bound": one.get("bound"),
        "input": pair,
    }
