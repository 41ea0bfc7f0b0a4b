"""A measure of a finished run in words: a share with its interval, and with what it counts.

>>> measured = {"value": 0.5, "low": 0.4, "high": 0.6, "positions": 90}
>>> share_measure(measured, "of {of} sums right", "share of sums that are right")["label"]
'of 90 sums right'
"""

from collections.abc import Mapping
from typing import Any

from glassformer.page.words import grouped, short

Content = dict[str, Any]
INTERVAL = "95% interval"
LOSS = "mean cross-entropy on fresh windows, in nats a token"


def share_measure(content: Any, label: str, meaning: str) -> Content | None:
    """A share with its interval; none where it was not measured."""
    if not isinstance(content, dict) or not is_number(content.get("value")):
        return None
    low, high, of = (content.get(name) for name in ("low", "high", "positions"))
    words = f"{meaning}; {INTERVAL} over {grouped(of)}" if isinstance(of, int) else meaning
    label = _count_label(label, of)
    return {"label": label, "value": content["value"], "low": low, "high": high, "of": of, "meaning": words}


def passed_measure(score: Any, label: str, meaning: str) -> Content | None:
    """A share of a fixed list: it has no interval."""
    if not isinstance(score, dict) or not score.get("total"):
        return None
    words = f"{meaning}: {grouped(score['passed'])} of {grouped(score['total'])}"
    value, label = score["passed"] / score["total"], _count_label(label, score["total"])
    return {"label": label, "value": value, "low": None, "high": None, "of": score["total"], "meaning": words}


def _count_label(label: str, of: Any) -> str:
    """A share never stands without of how many, where that is known."""
    return label.format(of=grouped(of) if isinstance(of, int) else "the")


def total_of(scores: Content) -> Content:
    return {key: sum(one.get(key, 0) for one in scores.values()) for key in ("passed", "total")}


def loss_measure(measures: Mapping[str, Any], meaning: str = LOSS) -> Content | None:
    """Against the least that any model with this window can have."""
    value, floor = measures.get("loss"), measures.get("entropy_floor")
    if not is_number(value):
        return None
    if is_number(floor) and floor is not None:
        meaning += f"; no model with this window can be below {short(floor)}"
    return {"label": "loss", "value": value, "low": None, "high": None, "of": None, "meaning": meaning}


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
