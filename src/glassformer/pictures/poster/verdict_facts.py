"""What a verdict rests on, in sentences: classes, margins, rounding, random pairs, a window of columns."""

from glassformer.core.words import format_significant
from glassformer.pictures.picture import Data


def list_verdict_facts(data: Data) -> list[str]:
    """What the verdict rests on, one sentence per fact; the last one is its source."""
    lines, classes = [], data["classes"]
    random = float(data["random"][:, 0].min())
    digits = _count_digits_apart(data["smallest"] if data["verdict"] == "proved" else None, random)
    if classes.get("total"):
        parts = [f"{classes[key]:,} {key}" for key in ("proved", "refuted", "undecided") if classes[key]]
        lines.append(f"{classes['total']:,} classes of pairs{_describe_lengths(data)}: {', '.join(parts)}.")
    if data["verdict"] == "proved" and data["smallest"] is not None:
        lines.append(f"Smallest margin of all pairs: {format_significant(data['smallest'], digits)}.")
        if data["rounding"]:
            lines.append(
                f"{data['arithmetic']} rounding changes a logit gap by at most "
                f"{format_significant(2 * data['rounding'], 2)}."
            )
    measured = f"{data['sums'] - data['wrong']:,} of {data['sums']:,}"
    lines.append(_describe_random_pairs(data, measured, format_significant(random, digits)))
    undecided = [f"Why: {data['reason']}."] if data["verdict"] not in ("proved", "refuted") else []
    return [*lines, *undecided, f"Source: {data['source']}."]


def _describe_random_pairs(data: Data, measured: str, margin: str) -> str:
    """The proof's margins are those of real numbers: rounding may bring one of a random pair below them."""
    exact = data["smallest"] if data["verdict"] == "proved" else None
    if exact is not None and data["random"][:, 0].min() < exact:
        return f"{measured} random pairs are right, by {margin} or more in {data['arithmetic']}."
    return f"Right on {measured} random pairs; their smallest margin is {margin}."


def _describe_lengths(data: Data) -> str:
    """Which numbers were decided one length after the other."""
    return f" of 1 to {data['window'][2]} digits" if data["window"] else ""


def describe_longer_sums(data: Data) -> str:
    """Why these are enough."""
    if not data["window"]:
        return ""
    below, above, _ = data["window"]
    return f"Longer sums repeat these steps: a query sees {below} columns down and {above} up."


def _count_digits_apart(first: float | None, second: float) -> int:
    """As many digits as tell two numbers apart, 3 to 5: 4.4436 and 4.4449 are 4.444 and 4.445.

    >>> _count_digits_apart(4.4436, 4.4449), _count_digits_apart(1.0, 2.0)
    (4, 3)
    >>> _count_digits_apart(1.0, 1.0), _count_digits_apart(None, 2.0)
    (3, 3)
    """
    if first is None:
        return 3
    return next(
        (
            digits
            for digits in (3, 4, 5)
            if format_significant(first, digits) != format_significant(second, digits)
        ),
        3,
    )
