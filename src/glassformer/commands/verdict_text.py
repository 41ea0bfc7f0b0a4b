"""A verdict in words: one line for the summary of a run, a few for `glassformer prove`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glassformer.proof.outcome import ProveResult


def prove_words(result: "ProveResult", wants_file: bool = False) -> str:
    """The verdict in a line, then what it rests on; `wants_file`: a certificate was asked for by name."""
    lines = [f"{result.target}: {verdict_line(result)}"]
    if result.classes["total"]:
        counts = ", ".join(f"{count:,} {name}" for name, count in result.classes.items() if name != "total")
        lines.append(f"  {result.classes['total']:,} classes of inputs: {counts}; {result.seconds:.2f} s")
    if result.verdict == "proved" and result.hardest is not None:
        lines.append(f"  smallest margin {result.smallest_margin:.4g}, at {input_text(result.hardest)}")
        if result.rounding_bound:
            lines.append(
                f"  rounding in {result.arithmetic} moves a gap by at most {2 * result.rounding_bound:.2g}"
            )
    lines += error_lines(result)
    if result.certificate:
        lines.append(f"next: glassformer check {result.certificate}")
    elif wants_file:
        lines.append("  no certificate was written: of a rule model only a counterexample has one")
    return "\n".join(lines)


def verdict_line(result: "ProveResult") -> str:
    """One line, for the summary of a run too."""
    count, arithmetic = power_text(int(result.inputs)), f"in {result.arithmetic} arithmetic"
    if result.verdict == "proved":
        return f"proved right on all {count} inputs, {arithmetic}"
    if result.verdict == "refuted":
        assert result.counterexample
        return f"refuted: {wrong_text(result.counterexample)}"
    if result.verdict == "undecided":
        left = result.reason or f"{result.classes['undecided']:,} classes are left; --time gives it longer"
        return f"undecided ({left})"
    return result.reason


def power_text(number: int) -> str:
    """10^20, or the digits with commas."""
    text = str(number)
    is_power = len(text) > 6 and text == "1" + "0" * (len(text) - 1)
    return f"10^{len(text) - 1}" if is_power else f"{number:,}"


def wrong_text(wrong: Mapping[str, Any]) -> str:
    if "context" in wrong:
        expected = (
            " or ".join(wrong["expected"]) if isinstance(wrong["expected"], list) else wrong["expected"]
        )
        said = (
            "a token that may not come has the largest logit too"
            if wrong.get("tie")
            else f"the model says {wrong['got']}"
        )
        return f"after {wrong['context']} comes {expected}, {said}"
    return f"{wrong['a']} + {wrong['b']} = {wrong['expected']}, the model says {wrong['got']}"


def input_text(hardest: Any) -> str:
    if isinstance(hardest, dict) and "a" in hardest:
        return f"{hardest['a']} + {hardest['b']}"
    return hardest if isinstance(hardest, str) else " ".join(hardest)


def error_lines(result: "ProveResult") -> list[str]:
    """The exact share of contexts that break a rule: of all, and of those that its own sequences have."""
    error = result.exact_error
    if not error:
        return []
    lines = [f"  {share_text(error)} of all {error['contexts']:,} contexts break the rule"]
    if error["weighted"]:
        lines.append(f"  weighted as the task has them: {share_text(error['weighted'])} of contexts do")
    if result.verdict != "proved" and result.details["lawful"] == "proved":
        lines.append("  no context that follows the rule itself does")
    return lines


def share_text(error: Mapping[str, Any]) -> str:
    """One share, or two that it lies between."""
    if error.get("count_low") is not None and error["count_low"] == error["count_high"]:
        return f"exactly {error['count_low']:,} ({error['low']:.4%})"
    low, high = f"{error['low']:.4%}", f"{error['high']:.4%}"
    return low if low == high else f"between {low} and {high}"
