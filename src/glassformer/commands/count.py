"""`glassformer count`: the parameters of a model, in every convention."""

from pathlib import Path
from typing import Any

from glassformer.core.answer import Answer, Request

_WHOLE_ZOO = "zoo"


def count(target: str | Path, *, model: str | None = None) -> dict[str, Any]:
    """Count a model's parameters: stored, unique, learned, constants, rank of the Jacobian.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name, a .safetensors file, a configuration's name,
            or `zoo` for a table of all adders
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration

    Examples:
        glassformer count plus_last_even
        glassformer count zoo       all adders in a table

    >>> counts = count("glass-8")
    >>> counts["learned"], counts["rank"]
    (8, 8)
    """
    from glassformer.commands.count_target import count_target, count_zoo, refuse_model

    if str(target) == _WHOLE_ZOO:
        refuse_model(str(target), model)
        return count_zoo()
    return count_target(str(target), model)


def answer_count(result: dict[str, Any], request: Request) -> Answer:
    """One model part by part, or a table of all."""
    from glassformer.commands.count_target import describe_counts, format_zoo_table

    is_table = request.target == _WHOLE_ZOO
    return Answer(result, format_zoo_table(result) if is_table else describe_counts(request.target, result))
