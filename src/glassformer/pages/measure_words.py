"""A measure of a finished run in words: a share with its interval, and with what it counts.

>>> measured = {"value": 0.5, "low": 0.4, "high": 0.6, "positions": 90}
>>> make_share_measure(measured, "of {of} sums right", "share of sums that are right")["label"]
'of 90 sums right'
"""

from collections.abc import Mapping
from typing import Any

from glassformer.pages.words import format_number, group_digits

_Content = dict[str, Any]
_INTERVAL = "95% interval"
_LOSS = "mean cross-entropy on fresh windows, in nats per token"


def make_share_measure(content: object, label: str, meaning: str) -> _Content | None:
    """A share with its interval; none where it was not measured."""
    if not isinstance(content, dict) or not is_plain_number(content.get("value")):
        return None
    low, high, of = (content.get(name) for name in ("low", "high", "positions"))
    words = f"{meaning}; {_INTERVAL} over {group_digits(of)}" if isinstance(of, int) else meaning
    label = _count_label(label, of)
    return {"label": label, "value": content["value"], "low": low, "high": high, "of": of, "meaning": words}


def make_passed_measure(score: object, label: str, meaning: str) -> _Content | None:
    """A share of a fixed list, without an interval."""
    if not isinstance(score, dict) or not score.get("total"):
        return None
    words = f"{meaning}: {group_digits(score['passed'])} of {group_digits(score['total'])}"
    value, label = score["passed"] / score["total"], _count_label(label, score["total"])
    return {"label": label, "value": value, "low": None, "high": None, "of": score["total"], "meaning": words}


def _count_label(label: str, of: object) -> str:
    """The label with the count, where that is known."""
    return label.format(of=group_digits(of) if isinstance(of, int) else "the")


def sum_scores(scores: _Content) -> _Content:
    return {key: sum(one.get(key, 0) for one in scores.values()) for key in ("passed", "total")}


def make_loss_measure(measures: Mapping[str, Any], meaning: str = _LOSS) -> _Content | None:
    """With the least loss that any model with this window can have."""
    value, floor = measures.get("loss"), measures.get("entropy_floor")
    if not is_plain_number(value):
        return None
    if is_plain_number(floor) and floor is not None:
        meaning += f"; no model with this window has an expected loss below {format_number(floor)}"
    return {"label": "loss", "value": value, "low": None, "high": None, "of": None, "meaning": meaning}


def is_plain_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
