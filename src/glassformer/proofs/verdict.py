"""The verdict on a model over all inputs: one form from the prover to the badge, for every task.

`glassformer prove --json` prints it, result.json of a run keeps it, and poster, page and export show it. Its
words are in `verdict_words.py`; `stored.py` reads it back.

>>> wrong = {"a": 0, "b": 9000, "expected": 9000, "got": 15000}
>>> undecided = Verdict(verdict="undecided", inputs="100", arithmetic="float32")
>>> refuted = undecided.refuted_by(wrong, "sums tried for a poster")
>>> refuted.verdict, refuted.wrong_input, refuted.wrong_pair
('refuted', '0+9000', (0, 9000))
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

Outcome = Literal["proved", "refuted", "undecided", "not_applicable"]
OUTCOMES: tuple[Outcome, ...] = ("proved", "refuted", "undecided", "not_applicable")
ARITHMETICS = ("float32", "float64", "real")
ALL_INPUTS = "all"  # in place of their number: numbers of every length
OWN_PASS, ANY_BACKEND = BACKENDS = ("own", "any")


def make_zero_counts() -> dict[str, int]:
    """The counts of a search that was not made."""
    return {"total": 0, "proved": 0, "refuted": 0, "undecided": 0}


@dataclass(frozen=True)
class HardestPair:
    """A pair with the smallest margin at a step of writing a sum; no pair has less than the bound there."""

    step: int
    a: int
    b: int
    margin: float
    bound: float | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether a model is right on every input, and what that rests on."""

    target: str = ""
    lawful: dict[str, Any] | None = None  # rules: the same on contexts that the rule can produce
    verdict: Outcome = "undecided"
    inputs: str = "0"  # how many, an exact integer; "all": numbers of every length
    arithmetic: str = "float32"
    backend: str = OWN_PASS  # whose arithmetic it is: our own pass's, or any backend's
    smallest_margin: float | None = None  # right logit minus the best other one, attained by `hardest`
    rounding_bound: float | None = None  # deployed arithmetic is this near to real numbers, in half gaps
    hardest: Any = None  # input with the smallest margin: a context, or an adder's step, a, b and margin
    counterexample: dict[str, Any] | None = None  # a and b, or a context; expected and got
    classes: dict[str, int] = field(default_factory=make_zero_counts)
    exact_error: dict[str, Any] | None = None  # strings: low, high and more
    seconds: float | None = None  # that the proof took; a certificate does not say it
    certificate: str | None = None  # path
    margin_bound: float | None = None  # no margin is below
    reason: str = ""  # what is undecided, or why the method does not apply
    details: dict[str, Any] = field(default_factory=dict)  # adders: hardest by step; strings: all else
    sha256: str = ""  # of the model that was looked at, as in a certificate
    source: str = ""  # where this was read, in words; not part of the JSON

    def content(self) -> dict[str, Any]:
        """Plain values, as `glassformer prove --json` prints them."""
        names = [one.name for one in fields(Verdict) if one.name != "source"]
        return {name: getattr(self, name) for name in names}

    def refuted_by(self, wrong: Mapping[str, object], source: str) -> "Verdict":
        """The same model with an input that fails."""
        return replace(self, verdict="refuted", counterexample=dict(wrong), source=source, reason="")

    @property
    def steps(self) -> tuple[HardestPair, ...]:
        """Of an adder: the hardest pair of every step of writing."""
        return tuple(HardestPair(**one) for one in self.details.get("hardest_by_step", ()))

    @property
    def hardest_step(self) -> HardestPair | None:
        """Of an adder: the step whose hardest pair has the smallest margin of all."""
        return min(self.steps, key=lambda one: one.margin, default=None)

    @property
    def hardest_input(self) -> str | None:
        """As a user would type it."""
        return _format_input(self.hardest)

    @property
    def wrong_input(self) -> str | None:
        """The counterexample, as a user would type it."""
        return _format_input(self.counterexample)

    @property
    def wrong_pair(self) -> tuple[int, int] | None:
        """The counterexample of an adder."""
        wrong = self.counterexample
        return (wrong["a"], wrong["b"]) if wrong and "a" in wrong else None

    @property
    def lawful_verdict(self) -> str | None:
        """Of strings: the verdict on those contexts alone that the rule can produce."""
        found: str | None = self.lawful["verdict"] if self.lawful else self.details.get("lawful")
        return found

    @property
    def main_verdict(self) -> str:
        """What is said first, and what an exit status follows: that on lawful contexts, where known."""
        return self.verdict if self.lawful is None else str(self.lawful["verdict"])

    @property
    def worst_contexts(self) -> tuple[str, ...]:
        """Of strings: broken contexts, those with the most negative margins first."""
        return tuple(one["context"] for one in self.details.get("worst", ()))


def _format_input(content: Any) -> str | None:
    """An input as a user would type it.

    >>> _format_input({"a": 57, "b": 68}), _format_input({"context": "4 7 +"}), _format_input("4 7 +")
    ('57+68', '4 7 +', '4 7 +')
    """
    if content is None or isinstance(content, str):
        return content
    return str(content["context"]) if "context" in content else f"{content['a']}+{content['b']}"


def decide_outcome(wrong: float, left: float) -> Outcome:
    """From how many inputs are wrong, and how many are left."""
    return "refuted" if wrong else "undecided" if left else "proved"


def choose_counterexample(wrong: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The counterexample: a context after which a wrong token is written, if there is one, or else a tie."""
    for one in sorted(wrong, key=lambda one: bool(one["tie"])):
        return {key: one[key] for key in ("context", "expected", "got", "length", "tie")}
    return None


def keep_finite(number: float) -> float | None:
    """JSON knows no infinities: a logit that overflows has no margin."""
    return number if math.isfinite(number) else None
