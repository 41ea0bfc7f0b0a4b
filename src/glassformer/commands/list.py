"""`glassformer list`: what there is."""

from typing import Any, Literal

from glassformer.core.answer import Answer, Request
from glassformer.core.errors import make_unknown_error

_KINDS = ("tasks", "models", "figures", "runs", "settings")


def list_items(
    what: Literal["all", "tasks", "models", "figures", "runs", "settings"] = "all",
) -> dict[str, list[dict[str, Any]]]:
    """List tasks, models, figures, runs and settings.

    Args:
        what (WHAT): tasks, models, figures, runs or settings (default: all except settings)

    Examples:
        glassformer list tasks

    >>> [model["parameters"] for model in list_items("models")["models"] if model["id"] == "glass-8"]
    [8]
    """
    if what not in (*_KINDS, "all"):
        raise make_unknown_error("list", what, _KINDS)
    from glassformer.commands.listings import LISTINGS

    return {kind: LISTINGS[kind]() for kind in (_KINDS[:4] if what == "all" else (what,))}


def answer_list(result: dict[str, list[dict[str, Any]]], request: Request) -> Answer:
    """One line per item, under a heading per kind."""
    from glassformer.commands.listings import format_items

    words = [line for kind, items in result.items() for line in (f"{kind}:", *format_items(items), "")]
    return Answer(result, "\n".join(words).rstrip())
