"""The words of a verdict: a summary's line, the failure, the exact share, a page's sentence, an export's.

>>> from glassformer.proofs.verdict import ANY_BACKEND, Verdict
>>> from glassformer.tasks import make_task
>>> task = make_task("modular", p=113)
>>> print(describe_verdict(Verdict(verdict="proved", inputs="12769", arithmetic="float32"), task))
proved right on all 12,769 prompts, in float32 arithmetic
>>> wrong = {"context": "100 20 =", "expected": ["7"], "got": "6"}
>>> print(describe_verdict(Verdict(verdict="refuted", inputs="12769", counterexample=wrong), task))
refuted: after 100 20 = the right token is 7, the model says 6
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from glassformer.core.words import format_large_count, format_percent
from glassformer.models.architecture import Architecture
from glassformer.models.lengths import is_any_length
from glassformer.proofs.lawful_words import count_all_errors, describe_count, describe_rule_verdict
from glassformer.proofs.verdict import ALL_INPUTS, ANY_BACKEND, Verdict
from glassformer.tasks import Task

_EVERY_LENGTH = "numbers of every length"
_UNKNOWN = "some inputs are answered wrongly"  # where no input that fails is known

_format_exact_percent = partial(format_percent, decimals=4)


@dataclass(frozen=True)
class NumberFormats:
    """How a reader's other numbers are written, so that a sentence agrees with what stands beside it."""

    margin: Callable[[float], str] = "{:.4g}".format
    share: Callable[[float], str] = _format_exact_percent


_PLAIN = NumberFormats()


def describe_verdict(verdict: Verdict, task: Task) -> str:
    """One line, for the summary of a run and for `glassformer prove`."""
    if verdict.lawful and task.family == "rule":
        return describe_rule_verdict(verdict)
    if verdict.verdict == "proved":
        whose = " of any backend" if verdict.backend == ANY_BACKEND else ""
        return f"proved right on {_name_all_inputs(verdict, task)}, in {verdict.arithmetic} arithmetic{whose}"
    if verdict.verdict == "refuted":
        return f"refuted: {_describe_failure(verdict, task)}"
    if verdict.verdict == "undecided":
        left = f"{verdict.classes['undecided']:,} classes are left; a longer --time may decide them"
        return f"undecided ({verdict.reason or left})"
    return verdict.reason


def _name_all_inputs(verdict: Verdict, task: Task) -> str:
    """`all 10^20 inputs`, or what has no number."""
    if verdict.inputs == ALL_INPUTS:
        return _EVERY_LENGTH
    return f"all {format_large_count(verdict.inputs)} {task.words.inputs}"


def _describe_failure(verdict: Verdict, task: Task) -> str:
    """The input that fails, what is right, and what the model says."""
    wrong = verdict.counterexample
    if not wrong:
        return _UNKNOWN
    if "context" not in wrong:
        problem = task.write_problem(wrong["a"], wrong["b"])
        return f"{problem} = {wrong['expected']}, the model says {wrong['got']}"
    said = f"the model says {wrong['got']}"
    if wrong.get("tie"):
        said = "but a wrong token has an equally large logit"
    return f"after {wrong['context']} the right token is {' or '.join(wrong['expected'])}, {said}"


def describe_error_shares(verdict: Verdict, task: Task, numbers: NumberFormats = _PLAIN) -> list[str]:
    """The exact share of inputs that fail: of all, and of a rule also as its sequences have them."""
    error, words = verdict.exact_error, task.words
    if not error:
        return []
    every = error["contexts"]
    noun = f" of all {every:,} {words.counted}"
    if error.get("count_low") is None:
        lines = [f"{_format_error_share(error, numbers)}{noun} {words.fails}"]
    else:
        said = describe_count(
            error["count_low"], error["count_high"], every, words.fails, numbers.share, noun
        )
        lines = [f"exactly {said}" if error["count_low"] == error["count_high"] > 0 else said]
    if task.family == "rule" and error.get("weighted"):
        share = _format_error_share(error["weighted"], numbers)
        lines.append(f"weighted by how often the task produces them: {share} of contexts do")
    return lines


def _format_error_share(error: Mapping[str, Any], numbers: NumberFormats = _PLAIN) -> str:
    """One share, two that it lies between, or the low one, where the high one says nothing.

    >>> _format_error_share({"low": 0.25, "high": 0.25}), _format_error_share({"low": 0.0117, "high": 1.0})
    ('25.0000%', 'at least 1.1700%')
    """
    low, high = numbers.share(error["low"]), numbers.share(error["high"])
    if low == high:
        return low
    return f"between {low} and {high}" if error["high"] <= 2 * error["low"] else f"at least {low}"


def format_hardest_input(verdict: Verdict, task: Task) -> str:
    """The hardest input in a sentence: `57 + 68`, `4 7 +`."""
    hardest = verdict.hardest
    return hardest if isinstance(hardest, str) else task.write_problem(hardest["a"], hardest["b"])


def describe_page_verdict(verdict: Verdict, task: Task, context: int, numbers: NumberFormats) -> str:
    """Proved on which inputs, in what arithmetic, by what margin; or where it fails, or why it is open."""
    if verdict.lawful and task.family == "rule" and verdict.verdict != "proved":
        return _write_sentence(describe_rule_verdict(verdict))
    named = task.name_inputs(format_large_count(verdict.inputs), context)
    named, every = (_EVERY_LENGTH, "") if verdict.inputs == ALL_INPUTS else (named, "all ")
    if verdict.verdict == "proved":
        margin = verdict.smallest_margin
        rest = f"; the smallest margin is {numbers.margin(margin)}" if margin is not None else ""
        # A context that demands nothing is right whatever the model says.
        right = "right wherever the rule demands something, in" if task.family == "rule" else "right on"
        return f"Proved: {right} {every}{named}, in {verdict.arithmetic}{rest}."
    if verdict.verdict == "refuted":
        return f"Refuted: {_describe_failure(verdict, task)}.{_share_sentence(verdict, task, numbers)}"
    if verdict.verdict == "undecided":
        return f"Undecided over {named}: {describe_undecided(verdict)}. No input that was tried fails."
    return f"No proof: {verdict.reason.rstrip('.')}. No input that was tried fails."


def describe_undecided(verdict: Verdict) -> str:
    """Why nothing was decided."""
    classes = verdict.classes
    left = f"{classes['undecided']:,} of {classes['total']:,} classes of inputs are left"
    return verdict.reason or left


def describe_badge(verdict: Verdict, task: Task, count: str, numbers: NumberFormats) -> tuple[str, str]:
    """Two short lines for a picture: the verdict, and what it is about; `count` as the picture writes it."""
    if verdict.verdict == "proved":
        margin = verdict.smallest_margin
        known = "" if margin is None else f"; smallest margin {numbers.margin(margin)}"
        what = f"proved on all {count} {task.words.input}s"
        if verdict.inputs == ALL_INPUTS:
            what = f"proved for {_EVERY_LENGTH}"
        return what, f"in {verdict.arithmetic} arithmetic{known}"
    if verdict.lawful and task.family == "rule":
        return _describe_rule_badge(verdict, numbers)
    if verdict.verdict == "refuted":
        return "refuted", f"{_format_failed_input(verdict, task)} comes out wrong"
    return ("undecided" if verdict.verdict == "undecided" else "not proved"), describe_undecided(verdict)


def _describe_rule_badge(verdict: Verdict, numbers: NumberFormats) -> tuple[str, str]:
    """Of a rule that is not proved on all contexts: first the lawful ones."""
    own = verdict.lawful or {}
    low, high = count_all_errors(verdict)
    share = numbers.share(low / int(verdict.inputs))
    others = f"{'' if low == high else 'at least '}{share} of all contexts break it"
    if verdict.main_verdict == "proved":
        return f"proved on all {format_large_count(own['inputs'])} lawful contexts", others
    if verdict.main_verdict == "refuted":
        return "refuted on lawful contexts", f"{(own['counterexample'] or {}).get('context')} comes out wrong"
    return "undecided on lawful contexts", others if low else describe_undecided(verdict)


def _format_failed_input(verdict: Verdict, task: Task) -> str:
    """`0 + 9000`, or a context as it is typed."""
    pair = verdict.wrong_pair
    return task.write_problem(*pair) if pair else verdict.wrong_input or "some input"


def describe_exported_verdict(verdict: Verdict | None, task: Task, is_ours: bool) -> str:
    """For the head of an exported file, which rounds in its own order; `is_ours`: the zoo says it."""
    if verdict is None:
        return "No proof of these parameters is stored (glassformer prove makes one)."
    all_inputs = _name_all_inputs(verdict, task)
    words = {
        "proved": f"Proved right on {all_inputs} in {verdict.arithmetic}",
        "refuted": f"Refuted: not right on {all_inputs}, in {verdict.arithmetic}",
    }.get(verdict.verdict, f"Verdict of `glassformer prove`: {verdict.verdict}")
    if verdict.lawful and task.family == "rule" and verdict.verdict != "proved":
        words = _write_sentence(describe_rule_verdict(verdict)).removesuffix(".")
    margin = verdict.smallest_margin
    if verdict.verdict == "proved" and margin is not None:
        words += f", with a margin of at least {margin:.3g} between the right token and the next"
    said = "" if is_ours else ", according to its run's files (glassformer check verifies a certificate)"
    return f"{words}. This holds for glassformer's own pass{said}; this file rounds in a different order."


def describe_proved_inputs(task: Task, architecture: Architecture) -> str:
    """What is said of a seed, or of several.

    >>> from glassformer.zoo import ZOO
    >>> describe_proved_inputs(ZOO["glass-8"].task, ZOO["glass-8"].architecture)
    'proved right on every pair'
    >>> describe_proved_inputs(ZOO["any-8"].task, ZOO["any-8"].architecture)
    'proved right on numbers of every length'
    """
    every = _EVERY_LENGTH if is_any_length(architecture, task) else f"every {task.words.input}"
    return f"proved right on {every}"


def _share_sentence(verdict: Verdict, task: Task, numbers: NumberFormats) -> str:
    """How many inputs fail, where that is known."""
    lines = describe_error_shares(verdict, task, numbers)
    return f" {_write_sentence(lines[0])}" if lines else ""


def _write_sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
