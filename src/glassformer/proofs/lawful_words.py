"""What is said of a rule's verdict: first of contexts that the rule can produce, then of all contexts.

>>> from dataclasses import replace
>>> own = {"verdict": "proved", "inputs": "142230000", "errors_low": 0, "errors_high": 0}
>>> share = {"contexts": 214358881, "count_low": 1771552, "count_high": 1771552}
>>> wrong = {"context": "7 7", "expected": ["7"], "got": "3"}
>>> found = Verdict(verdict="refuted", inputs="235794768", lawful=own, exact_error=share)
>>> found = replace(found, counterexample=wrong)
>>> print(describe_rule_verdict(found))
proved right on every context that the rule can produce (142,230,000 contexts), in float32 arithmetic; \
of all 235,794,768 contexts, lawful or not, 1,771,552 (0.7513%) break the rule, e.g. after 7 7
"""

from collections.abc import Callable

from glassformer.core.words import format_large_count, format_percent
from glassformer.proofs.verdict import Verdict

_WIDE = 2  # times the low end: beyond it two ends say nothing that a reader could use
_Share = Callable[[float], str]


def describe_count(low: int, high: int, every: int, fails: str, share: _Share, of: str = "") -> str:
    """How many fail: exactly, between two numbers that are near, or at least, and what is not decided.

    >>> describe_count(15, 15, 65_536, "fail", "{:.2%}".format)
    '15 (0.02%) fail'
    >>> describe_count(15, 40_000, 65_536, "fail", "{:.2%}".format)
    'at least 15 (0.02%) fail; 39,985 of 65,536 are not decided yet'
    >>> describe_count(0, 7, 65_536, "fail", "{:.2%}".format)
    'none is known to fail; 7 of 65,536 are not decided yet'
    """
    part = share(low / every) if every else share(0.0)
    if low == high:
        return f"{low:,} ({part}){of} {fails}" if low else f"none{of} {_to_singular(fails)}"
    if low and high <= _WIDE * low:
        return f"between {low:,} and {high:,} ({part} to {share(high / every)}){of} {fails}"
    known = f"at least {low:,} ({part}){of} {fails}" if low else f"none{of} is known to {_to_plain(fails)}"
    return f"{known}; {high - low:,} of {every:,} are not decided yet"


def _to_singular(fails: str) -> str:
    """`break the rule` of one context."""
    verb, _, rest = fails.partition(" ")
    return {"break": "breaks", "are": "is", "fail": "fails"}.get(verb, verb) + (f" {rest}" if rest else "")


def _to_plain(fails: str) -> str:
    verb, _, rest = fails.partition(" ")
    return ("be" if verb == "are" else verb) + (f" {rest}" if rest else "")


def describe_rule_verdict(verdict: Verdict) -> str:
    """One line: the lawful contexts, then all."""
    own = verdict.lawful or {}
    if verdict.verdict == "proved":
        count = format_large_count(verdict.inputs)
        rest = "those that the rule can produce and all others"
        return f"proved right on all {count} contexts, {rest}, in {verdict.arithmetic} arithmetic"
    return f"{_describe_lawful(verdict, own['verdict'])}; {_describe_all_contexts(verdict)}"


def _describe_lawful(verdict: Verdict, outcome: str) -> str:
    own = verdict.lawful or {}
    count, where = format_large_count(own["inputs"]), f"in {verdict.arithmetic} arithmetic"
    if outcome == "proved":
        return f"proved right on every context that the rule can produce ({count} contexts), {where}"
    errors = describe_count(
        own["errors_low"], own["errors_high"], int(own["inputs"]), "break it", _format_share
    )
    if outcome == "refuted":
        return f"refuted on contexts that the rule can produce: {_describe_wrong_context(own)}; {errors}"
    return f"undecided on the {count} contexts that the rule can produce: {errors}"


def _describe_wrong_context(found: dict[str, object] | None) -> str:
    """The context of a counterexample, what is right after it, and what the model says."""
    wrong = (found or {}).get("counterexample")
    if not isinstance(wrong, dict):
        return "some contexts break the rule"
    said = f"the model says {wrong['got']}"
    if wrong.get("tie"):
        said = "but a wrong token has an equally large logit"
    return f"after {wrong['context']} the right token is {' or '.join(wrong['expected'])}, {said}"


def _describe_all_contexts(verdict: Verdict, share: _Share | None = None) -> str:
    """How many contexts of all lengths break the rule, lawful or not."""
    low, high = count_all_errors(verdict)
    every, text = int(verdict.inputs), format_large_count(verdict.inputs)
    known = describe_count(low, high, every, "break the rule", share or _format_share)
    wrong = f", e.g. after {verdict.wrong_input}" if verdict.wrong_input and ";" not in known else ""
    return f"of all {text} contexts, lawful or not, {known}{wrong}"


def count_all_errors(verdict: Verdict) -> tuple[int, int]:
    """Contexts of all lengths that break the rule, at least and at most."""
    error, shorter = verdict.exact_error or {}, verdict.details.get("shorter", {}).values()
    low = (error.get("count_low") or 0) + sum(one["errors_low"] for one in shorter)
    high = (error.get("count_high") or 0) + sum(one["errors_high"] for one in shorter)
    seen = 1 if verdict.counterexample else 0
    return max(low, seen), max(high, low, seen)


def _format_share(share: float) -> str:
    return format_percent(share, decimals=4)
