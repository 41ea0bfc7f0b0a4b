"""The words of a verdict: a summary's line, the failure, the exact share, a page's sentence, an export's.

>>> from glassformer.proof.verdict import Verdict
>>> from glassformer.tasks import make_task
>>> task = make_task("modular", p=113)
>>> print(verdict_line(Verdict(verdict="proved", inputs="12769", arithmetic="float32"), task))
proved right on all 12,769 prompts, in float32 arithmetic
>>> wrong = {"context": "100 20 =", "expected": ["7"], "got": "6"}
>>> print(verdict_line(Verdict(verdict="refuted", inputs="12769", counterexample=wrong), task))
refuted: after 100 20 = comes 7, the model says 6
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from glassformer.proof.verdict import Verdict
from glassformer.tasks import Task

MANY = 7  # digits from which on a power of ten is written as one
UNKNOWN = "some inputs are answered wrongly"  # where no input that fails is known


@dataclass(frozen=True)
class Numbers:
    """How a reader's other numbers are written, so that a sentence agrees with what stands beside it."""

    margin: Callable[[float], str] = "{:.4g}".format
    share: Callable[[float], str] = "{:.4%}".format


PLAIN = Numbers()


def verdict_line(verdict: Verdict, task: Task) -> str:
    """One line, for the summary of a run and for `glassformer prove`."""
    if verdict.verdict == "proved":
        count = count_text(verdict.inputs)
        return f"proved right on all {count} {task.words.inputs}, in {verdict.arithmetic} arithmetic"
    if verdict.verdict == "refuted":
        return f"refuted: {failure_words(verdict)}"
    if verdict.verdict == "undecided":
        left = f"{verdict.classes['undecided']:,} classes are left; --time gives it longer"
        return f"undecided ({verdict.reason or left})"
    return verdict.reason


def failure_words(verdict: Verdict) -> str:
    """The input that fails, what is right, and what the model says."""
    wrong = verdict.counterexample
    if not wrong:
        return UNKNOWN
    if "context" not in wrong:
        return f"{wrong['a']} + {wrong['b']} = {wrong['expected']}, the model says {wrong['got']}"
    said = f"the model says {wrong['got']}"
    if wrong.get("tie"):
        said = "a token that may not come has the largest logit too"
    return f"after {wrong['context']} comes {' or '.join(wrong['expected'])}, {said}"


def share_lines(verdict: Verdict, task: Task, numbers: Numbers = PLAIN) -> list[str]:
    """The exact share of inputs that fail: of all, and of a rule also as its own sequences have them."""
    error, words = verdict.exact_error, task.words
    if not error:
        return []
    lines = [f"{share_text(error, numbers)} of all {error['contexts']:,} {words.counted} {words.fails}"]
    if task.family != "rule":
        return lines
    if error.get("weighted"):
        share = share_text(error["weighted"], numbers)
        lines.append(f"weighted as the task has them: {share} of contexts do")
    if verdict.verdict != "proved" and verdict.lawful == "proved":
        lines.append("no context that follows the rule itself does")
    return lines


def share_text(error: Mapping[str, Any], numbers: Numbers = PLAIN) -> str:
    """One share, or two that it lies between.

    >>> share_text({"low": 15 / 65_536, "high": 15 / 65_536, "count_low": 15, "count_high": 15})
    'exactly 15 (0.0229%)'
    """
    low, high = numbers.share(error["low"]), numbers.share(error["high"])
    if error.get("count_low") is not None and error["count_low"] == error["count_high"]:
        return f"exactly {error['count_low']:,} ({low})"
    return low if low == high else f"between {low} and {high}"


def input_text(verdict: Verdict) -> str:
    """The hardest input in a sentence: `57 + 68`, `4 7 +`."""
    hardest = verdict.hardest
    return hardest if isinstance(hardest, str) else f"{hardest['a']} + {hardest['b']}"


def page_sentence(verdict: Verdict, task: Task, context: int, numbers: Numbers) -> str:
    """Proved on which inputs, in what arithmetic, by what margin; or where it fails, or why it is open."""
    inputs = task.name_inputs(count_text(verdict.inputs), context)
    if verdict.verdict == "proved":
        margin = verdict.smallest_margin
        rest = f"; the smallest margin is {numbers.margin(margin)}" if margin is not None else ""
        # A context that demands nothing is right whatever the model says.
        right = "right wherever the rule demands something, in" if task.family == "rule" else "right on"
        return f"Proved: {right} all {inputs}, in {verdict.arithmetic}{rest}."
    if verdict.verdict == "refuted":
        return f"Refuted: {failure_words(verdict)}.{_share_sentence(verdict, task, numbers)}"
    if verdict.verdict == "undecided":
        return f"Undecided over {inputs}: {left_words(verdict)}. No input that was tried fails."
    return f"No proof: {verdict.reason.rstrip('.')}. No input that was tried fails."


def left_words(verdict: Verdict) -> str:
    """Why nothing was decided."""
    classes = verdict.classes
    left = f"{classes['undecided']:,} of {classes['total']:,} classes of inputs are left"
    return verdict.reason or left


def badge_lines(verdict: Verdict, task: Task, count: str, numbers: Numbers) -> tuple[str, str]:
    """Two short lines for a picture: the verdict, and what it is about; `count` as the picture writes it."""
    if verdict.verdict == "proved":
        margin = verdict.smallest_margin
        known = "" if margin is None else f"; smallest margin {numbers.margin(margin)}"
        return f"proved on all {count} {task.words.input}s", f"in {verdict.arithmetic} arithmetic{known}"
    if verdict.verdict == "refuted":
        return "refuted", f"{failed_input(verdict)} comes out wrong"
    return ("undecided" if verdict.verdict == "undecided" else "not proved"), left_words(verdict)


def failed_input(verdict: Verdict) -> str:
    """`0 + 9000`, or a context as it is typed."""
    return " + ".join(map(str, pair)) if (pair := verdict.wrong_pair) else verdict.wrong_input or "some input"


def export_sentence(verdict: Verdict | None, task: Task, is_ours: bool) -> str:
    """For the head of an exported file, which rounds in its own order; `is_ours`: the zoo says it."""
    if verdict is None:
        return "No proof of these numbers is written down (glassformer prove makes one)."
    all_inputs = f"all {count_text(verdict.inputs)} {task.words.inputs}"
    words = {
        "proved": f"Proved right on {all_inputs} in {verdict.arithmetic}",
        "refuted": f"Refuted: not right on {all_inputs}, in {verdict.arithmetic}",
    }.get(verdict.verdict, f"Verdict of `glassformer prove`: {verdict.verdict}")
    margin = verdict.smallest_margin
    if verdict.verdict == "proved" and margin is not None:
        words += f", with a margin of at least {margin:.3g} between the right token and the next"
    said = "" if is_ours else " by its run's files (glassformer check verifies a certificate)"
    return f"{words}. That is said of glassformer's own pass{said}; this file rounds in an order of its own."


def every_input(task: Task) -> str:
    """What is said of a seed, or of several.

    >>> from glassformer.tasks import Addition
    >>> every_input(Addition())
    'proved right on every pair'
    """
    return f"proved right on every {task.words.input}"


def count_text(count: int | str) -> str:
    """A power of ten from a million on, else the digits with commas.

    >>> count_text("100000000000000000000"), count_text(12_769)
    ('10^20', '12,769')
    """
    text = str(count)
    is_power = len(text) >= MANY and text == "1" + "0" * (len(text) - 1)
    return f"10^{len(text) - 1}" if is_power else f"{int(count):,}"


def _share_sentence(verdict: Verdict, task: Task, numbers: Numbers) -> str:
    """How many inputs fail, and whether any of the rule's own do; where that is known."""
    lines = share_lines(verdict, task, numbers)
    if not lines:
        return ""
    is_lawful = task.family == "rule" and verdict.lawful == "proved"
    return f" {lines[0].capitalize()}{'; none that itself follows the rule does' if is_lawful else ''}."
