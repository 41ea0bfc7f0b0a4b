"""A stored verdict, part by part: each must have its form, or the whole is refused with a ValueError.

Inputs must be inputs of the task, numbers finite, and `inputs` as many as there are:

>>> from glassformer.runs.load import load_model
>>> loaded = load_model("glass-29")
>>> stored = {"verdict": "proved", "inputs": str(10**20), "arithmetic": "float32", "smallest_margin": 2.5}
>>> read_verdict_form(stored, loaded).smallest_margin
2.5
>>> read_verdict_form(stored | {"inputs": "7"}, loaded)
Traceback (most recent call last):
ValueError: inputs: '7'
"""

from collections.abc import Mapping
from typing import Any

from glassformer.models.lengths import is_any_length
from glassformer.proofs.verdict import ALL_INPUTS, ARITHMETICS, OUTCOMES, Verdict, make_zero_counts
from glassformer.runs.load import LoadedModel
from glassformer.tasks import tabulate_automaton
from glassformer.tasks.strings import require_strings

_MOST_MARGIN = 1e300  # beyond it a text has no room
_MOST_WORDS = 1_000  # characters of a reason
_MOST_WORST = 10  # contexts, as a proof has them
_ROUNDING = 1e-9  # by which a weighted share may pass 1
_Content = Mapping[str, Any]


def read_verdict_form(content: _Content, loaded: LoadedModel) -> Verdict:
    """The fields of `glassformer prove --json`; those that may be missing have their defaults."""
    context = loaded.architecture.context
    details = content.get("details") or {}
    return Verdict(
        lawful=_lawful(content.get("lawful"), loaded),
        verdict=_one_of(content, "verdict", OUTCOMES),
        inputs=_one_of(content, "inputs", _list_input_counts(loaded, context)),
        arithmetic=_one_of(content, "arithmetic", ARITHMETICS),
        smallest_margin=_number(content, "smallest_margin"),
        rounding_bound=_number(content, "rounding_bound"),
        hardest=_hardest(content.get("hardest"), loaded),
        counterexample=_wrong(content.get("counterexample"), loaded),
        classes={name: _count(content.get("classes") or {}, name) for name in make_zero_counts()},
        exact_error=_error(content.get("exact_error")),
        seconds=_number(content, "seconds"),
        margin_bound=_number(content, "margin_bound"),
        reason=_words(content.get("reason", "")),
        details={
            "hardest_by_step": [_step(one, loaded) for one in details.get("hardest_by_step", ())],
            "worst": [_wrong(one or {}, loaded) for one in details.get("worst", ())[:_MOST_WORST]],
            "lawful": _one_of(details, "lawful", (*OUTCOMES, None)),
            "shorter": {str(length): _shorter(one) for length, one in (details.get("shorter") or {}).items()},
        },
        sha256=_words(content.get("sha256", "")),
    )


def _list_input_counts(loaded: LoadedModel, context: int) -> tuple[str, ...]:
    """How many inputs there are; a model for every length may also be proved on all."""
    count = str(loaded.task.count_inputs(context))
    if is_any_length(loaded.architecture, loaded.task):
        return count, ALL_INPUTS
    return (count,)


def _lawful(found: Any, loaded: LoadedModel) -> dict[str, Any] | None:
    """The verdict on contexts that the rule can produce; counts are numbers, contexts are contexts."""
    if found is None:
        return None
    inputs, errors = found["inputs"], [_count(found, name, None) for name in ("errors_low", "errors_high")]
    if not all(str(text).isdecimal() for text in (inputs, found["constrained"])) or None in errors:
        raise ValueError(f"no lawful contexts: {inputs!r}")
    wrong, outcome = _wrong(found.get("counterexample"), loaded), _one_of(found, "verdict", OUTCOMES)
    if (wrong is not None) != (outcome == "refuted") or errors[0] > errors[1]:
        raise ValueError(f"{outcome}, and the lawful counterexample is {wrong}")
    counts = {"inputs": str(inputs), "constrained": str(found["constrained"])}
    ends = dict(zip(("errors_low", "errors_high"), errors, strict=True))
    margin = {
        "smallest_margin": _number(found, "smallest_margin"),
        "hardest": _hardest(found.get("hardest"), loaded),
    }
    return {"verdict": outcome} | counts | ends | {"counterexample": wrong} | margin


def _shorter(found: _Content) -> dict[str, int]:
    """Counts of one length."""
    return {name: _count(found, name) for name in ("contexts", "constrained", "errors_low", "errors_high")}


def _one_of(content: _Content, name: str, allowed: tuple[object, ...]) -> Any:
    found = content.get(name)
    if found not in allowed:
        raise ValueError(f"{name}: {found!r}")
    return found


def _number(content: _Content, name: str) -> float | None:
    """A finite number, or none."""
    found = content.get(name)
    is_good = isinstance(found, float | int) and not isinstance(found, bool) and abs(found) < _MOST_MARGIN
    if found is not None and not is_good:
        raise ValueError(f"{name}: {found!r}")
    return found


def _count(content: _Content, name: str, default: int | None = 0) -> Any:
    """A whole number from 0 on."""
    found = content.get(name, default)
    if found is not default and (type(found) is not int or found < 0):
        raise ValueError(f"{name}: {found!r}")
    return found


def _words(found: object) -> str:
    if not isinstance(found, str) or len(found) > _MOST_WORDS:
        raise ValueError("a text that is none, or too long")
    return found


def _hardest(found: Any, loaded: LoadedModel) -> Any:
    """A context, or the step of a sum with its pair; none stays none."""
    if not found or loaded.task.family != "addition":
        return found and _read_context(found, loaded)
    # A pair that is harder with other zeros in front of it is none of the task's own length.
    is_own = found.get("digits", loaded.addition.digits) == loaded.addition.digits
    return _step(found, loaded) if is_own else None


def _wrong(found: Any, loaded: LoadedModel) -> dict[str, Any] | None:
    """The input of a counterexample alone: what the model says to it is found by running it."""
    if found is None:
        return None
    if loaded.task.family == "addition":
        pair, digits = dict(zip("ab", _read_numbers(found, loaded), strict=True)), found.get("digits")
        return pair if digits is None else pair | {"digits": _require_length(digits, loaded)}
    return {"context": _read_context(found["context"], loaded)}


def _require_length(digits: Any, loaded: LoadedModel) -> int:
    """Digits that a counterexample is written with: at most as many as the task has."""
    if type(digits) is not int or not 1 <= digits <= loaded.addition.digits:
        raise ValueError(f"digits: {digits!r}")
    return digits


def _step(found: _Content, loaded: LoadedModel) -> dict[str, Any]:
    """The hardest pair of a step of writing."""
    a, b = _read_numbers(found, loaded)
    step, margin = _count(found, "step", None), _number(found, "margin")
    if step is None or step > loaded.addition.digits or margin is None:
        raise ValueError(f"no step: {step!r}")
    return {"step": step, "a": a, "b": b, "margin": margin, "bound": _number(found, "bound")}


def _read_numbers(found: _Content, loaded: LoadedModel) -> tuple[int, int]:
    """Two numbers as long as the task has them."""
    a, b = _count(found, "a", None), _count(found, "b", None)
    end = loaded.addition.base**loaded.addition.digits
    if a is None or b is None or max(a, b) >= end:
        raise ValueError("no pair of numbers")
    return a, b


def _read_context(text: Any, loaded: LoadedModel) -> str:
    """Tokens of the task, as many as the model reads at most."""
    tokens = tabulate_automaton(require_strings(loaded.task, loaded.origin)).ids(text)
    if not 0 < len(tokens) <= loaded.architecture.context:
        raise ValueError(f"no context: {len(tokens)} tokens")
    return str(text)


def _error(found: Any) -> dict[str, Any] | None:
    """The exact share: what is said of it must be numbers; the rest is repeated as it is."""
    if found is None:
        return None
    for part in (found, found.get("weighted") or found):
        low, high = _number(part, "low"), _number(part, "high")
        if low is None or high is None or not 0 <= low <= high <= 1 + _ROUNDING:
            raise ValueError(f"no share: {low!r} to {high!r}")
    contexts, *_ = [_count(found, name, None) for name in ("contexts", "count_low", "count_high")]
    if contexts is None:
        raise ValueError("no share: of how many")
    return dict(found)
