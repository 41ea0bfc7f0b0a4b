"""What was measured of a finished run, each share with its interval and with what it counts."""

from collections.abc import Mapping
from typing import Any

from glassformer.page.words import grouped, short
from glassformer.tasks import Rule, Task

Content = dict[str, Any]
INTERVAL = "95% interval"


def measures_part(task: Task, result: Mapping[str, Any]) -> list[Content]:
    """From result.json; nothing for a model without one."""
    measures = result.get("measures")
    if not isinstance(measures, dict):
        return []
    found = rule_measures(measures) if isinstance(task, Rule) else adder_measures(measures)
    known = [one for one in found if one is not None]
    return [one for i, one in enumerate(known) if not any(is_same(one, other) for other in known[:i])]


def is_same(one: Content, other: Content) -> bool:
    """Where the window always tells what is demanded, both ways of counting are one."""
    return one["of"] is not None and (one["of"], one["value"]) == (other["of"], other["value"])


def rule_measures(measures: Content) -> list[Content | None]:
    return [
        share(
            measures.get("argmax_accuracy"),
            "of {of} places",
            "share of fresh positions, where the rule demands something and the window tells what, at which "
            "the largest logit is of a token that may come",
        ),
        share(
            measures.get("argmax_accuracy_all"),
            "of all {of} places",
            "the same over all positions where the rule demands something, also where the window does not "
            "tell what",
        ),
        share(
            measures.get("sampled_error"),
            "wrong of {of} sampled",
            "share of such positions that break the rule in sequences that the model writes itself, drawn at "
            "temperature 1",
        ),
        loss(measures),
    ]


def adder_measures(measures: Content) -> list[Content | None]:
    hard = measures.get("distributions")
    return [
        share(
            measures.get("argmax_accuracy"), "of {of} sums right", "share of fresh random sums that are right"
        ),
        passed(
            total_of(hard) if isinstance(hard, dict) else None,
            "of {of} hard sums",
            "share of sums from seven hard distributions (runs of nines, long carries ...) that are right",
        ),
        passed(
            measures.get("board"), "of {of} board sums", "share of the community board's sums that are right"
        ),
    ]


def share(content: Any, label: str, meaning: str) -> Content | None:
    """A share with its interval; none where it was not measured."""
    if not isinstance(content, dict) or not is_number(content.get("value")):
        return None
    low, high, of = (content.get(name) for name in ("low", "high", "positions"))
    words = f"{meaning}; {INTERVAL} over {grouped(of)}" if isinstance(of, int) else meaning
    label = counted(label, of)
    return {"label": label, "value": content["value"], "low": low, "high": high, "of": of, "meaning": words}


def passed(score: Any, label: str, meaning: str) -> Content | None:
    """A share of a fixed list: it has no interval."""
    if not isinstance(score, dict) or not score.get("total"):
        return None
    words = f"{meaning}: {grouped(score['passed'])} of {grouped(score['total'])}"
    value, label = score["passed"] / score["total"], counted(label, score["total"])
    return {"label": label, "value": value, "low": None, "high": None, "of": score["total"], "meaning": words}


def counted(label: str, of: Any) -> str:
    """A share never stands without of how many, where that is known."""
    return label.format(of=grouped(of) if isinstance(of, int) else "the")


def total_of(scores: Content) -> Content:
    return {key: sum(one.get(key, 0) for one in scores.values()) for key in ("passed", "total")}


def loss(measures: Content) -> Content | None:
    """Against the least that any model with this window can have."""
    value, floor = measures.get("loss"), measures.get("entropy_floor")
    if not is_number(value):
        return None
    meaning = "mean cross-entropy on fresh windows, in nats a token"
    if is_number(floor) and floor is not None:
        meaning += f"; no model with this window can be below {short(floor)}"
    return {"label": "loss", "value": value, "low": None, "high": None, "of": None, "meaning": meaning}


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
