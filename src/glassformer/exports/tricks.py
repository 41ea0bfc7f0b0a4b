"""What is not plain about a model, from its parts: the board asks for the tricks, and none is left out.

First how a sum is written; then every part that is not a table, a full matrix or nothing, with its pattern;
then the ties; then every number that someone chose (`models/constants.py`), so that a gain, a period or a
ramp cannot hide in a formula.
"""

from collections.abc import Iterator
from typing import Any

from glassformer.models.architecture import Architecture, Layer
from glassformer.models.constants import list_constants
from glassformer.models.forward import format_layer_prefix
from glassformer.models.projection import PatternProjection
from glassformer.models.relation import RelationPart
from glassformer.tasks import Layout

_PLAIN = ("table", "full", "none", "rms", "tied", "linear")  # kinds that need no word


def list_tricks(model: Architecture) -> list[str]:
    """One line each."""
    found = [f"{place}: {_describe_part(part)}" for place, part in _list_places(model) if _is_special(part)]
    found += [f"tied: {tie.name} = {tie.to}" for tie in model.ties]
    return found + [f"chosen, not learned: {one.name} = {one.value:.6g}" for one in list_constants(model)]


def list_layout_tricks(layout: Layout) -> list[str]:
    """What is not plain about how a sum is written.

    >>> from glassformer.tasks import make_layout
    >>> list_layout_tricks(make_layout("msb", 10, 10)), list_layout_tricks(make_layout("lsb", 10, 10))
    ([], ['layout: answer units first', 'layout: numbers units first', 'layout: marks are token 0'])
    """
    marks = {*layout.opening, *layout.plus, *layout.equals} - {*layout.own_marks}
    facts = {
        "answer units first": not layout.answer_highest_first,
        "numbers units first": not layout.numbers_highest_first,
        "marks are token 0": bool(marks),
        "every number between a mark and one more 0": layout.is_any_length,
        "the pass is told how many digits each number has": layout.is_any_length,
    }
    return [f"layout: {words}" for words, is_so in facts.items() if is_so]


def _list_places(model: Architecture) -> Iterator[tuple[str, Any]]:
    """Every part under its place."""
    yield from (("token embedding", model.token), ("positions", model.position))
    for index, layer in enumerate(model.layers):
        yield from _list_layer_places(layer, format_layer_prefix(model, index))
    yield from (("final norm", model.final_norm), ("head", model.head))
    yield "head weight", getattr(model.head, "weight", None)


def _list_layer_places(layer: Layer, prefix: str) -> Iterator[tuple[str, Any]]:
    if attention := layer.attention:
        yield f"{prefix}norms", layer.attention_norm
        for key in ("q", "k", "v", "out"):
            yield f"{prefix}attn.{key}", getattr(attention, key)
        yield f"{prefix}relation of positions", attention.relation
    if feedforward := layer.feedforward:
        yield f"{prefix}ff.up", feedforward.up
        yield f"{prefix}ff.gate", feedforward.gate
        yield f"{prefix}ff.down", feedforward.down


def _is_special(part: Any) -> bool:
    return part is not None and part.kind not in _PLAIN


def _describe_part(part: Any) -> str:
    """Its kind; of a pattern the matrix, which shows mirrors, of a relation what it adds to scores."""
    if isinstance(part, PatternProjection):
        return f"pattern ({' / '.join(part.entries)})"
    term = part.score_term if isinstance(part, RelationPart) else ""
    return f"{part.kind} ({term})" if term else str(part.kind)
