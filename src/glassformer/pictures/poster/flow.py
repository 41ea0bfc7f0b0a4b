"""A model as boxes along its stream: what each part is made of, and how many parameters it has."""

from typing import Any, NamedTuple

from glassformer.core.words import format_count
from glassformer.models.architecture import Architecture
from glassformer.models.forward import format_layer_prefix, list_all_parameters
from glassformer.models.norm import NoNorm

_Sizes = dict[str, int]  # stored values by parameter
_Rows = list[tuple[str, str]]  # what a part is made of, and how many parameters


class FlowBlock(NamedTuple):
    """One box of the flow."""

    title: str
    stage: str
    rows: _Rows
    numbers: int
    norm: str  # before it; empty: none
    kind: str  # ends, or what it does to the stream: adds, replaces


def list_flow_blocks(shape: Architecture, sizes: _Sizes, noun: str = "digits") -> list[FlowBlock]:
    """From the tokens, which are called `noun`, to the logits."""
    found = [
        FlowBlock(
            "embedding",
            "digits",
            _make_embedding_rows(shape, sizes, noun),
            _count_stored_parameters(sizes, "token", "position"),
            "",
            "ends",
        )
    ]
    for index, layer in enumerate(shape.layers):
        name, which = format_layer_prefix(shape, index), f" {index}" if len(shape.layers) > 1 else ""
        kind = "adds" if layer.residual else "replaces"
        if layer.attention:
            norm = _describe_norm(layer.attention_norm, f"{name}attn_norm", sizes)
            rows = _make_attention_rows(layer.attention, f"{name}attn", shape, sizes)
            count = _count_stored_parameters(sizes, f"{name}attn")
            found.append(FlowBlock(f"attention{which}", "attention", rows, count, norm, kind))
        if layer.feedforward:
            norm = _describe_norm(layer.feedforward_norm, f"{name}ff_norm", sizes)
            rows = _make_feedforward_rows(layer.feedforward, f"{name}ff", shape, sizes)
            found.append(
                FlowBlock(
                    f"feed-forward{which}",
                    "feed-forward",
                    rows,
                    _count_stored_parameters(sizes, f"{name}ff"),
                    norm,
                    kind,
                )
            )
    norm = _describe_norm(shape.final_norm, "final_norm", sizes)
    return [
        *found,
        FlowBlock(
            "head",
            "head",
            _make_head_rows(shape, sizes),
            _count_stored_parameters(sizes, "head"),
            norm,
            "ends",
        ),
    ]


def _count_stored_parameters(sizes: _Sizes, *names: str) -> int:
    """How many numbers these parts store.

    >>> _count_stored_parameters({"attn.q.weight": 4, "attn_norm.gain": 2, "head": 1}, "attn", "head")
    5
    """
    return sum(
        size
        for name, size in sizes.items()
        if any(name == part or name.startswith(f"{part}.") for part in names)
    )


def _make_embedding_rows(shape: Architecture, sizes: _Sizes, noun: str) -> _Rows:
    places = f"positions: {shape.position.kind}"
    dims = f"{shape.token_dims} + {shape.position_dims}" if shape.position_dims else str(shape.width)
    return [
        (f"{dims} dimensions", ""),
        (f"{noun}: {shape.token.kind}", str(_count_stored_parameters(sizes, "token"))),
        (places, str(_count_stored_parameters(sizes, "position"))),
    ]


def _make_attention_rows(attention: Any, name: str, shape: Architecture, sizes: _Sizes) -> _Rows:
    rows = [
        (f"{format_count(attention.heads, 'head')} of {attention.head_size}", ""),
        (attention.softmax, ""),
    ]
    for key in ("q", "k", "v", "out"):
        if part := getattr(attention, key):
            rows.append(_make_weight_row(key, part.kind, f"{name}.{key}", shape, sizes))
    for key in ("qk_norm", "k_norm"):
        part = getattr(attention, key)
        if part and not isinstance(part, NoNorm):
            rows.append(_make_weight_row(key.replace("_", " "), part.kind, f"{name}.{key}", shape, sizes))
    if attention.relation.kind != "none":
        stored = _count_stored_parameters(sizes, f"{name}.relation")
        rows.append((f"positions: {attention.relation.kind}", str(stored)))
    return rows


def _make_feedforward_rows(part: Any, name: str, shape: Architecture, sizes: _Sizes) -> _Rows:
    rows = [(f"{format_count(part.units(shape.width), 'unit')}, {part.bend}", "")]
    for key in ("gate", "up", "down"):
        if projection := getattr(part, key):
            rows.append(_make_weight_row(key, projection.kind, f"{name}.{key}", shape, sizes))
    return rows


def _make_head_rows(shape: Architecture, sizes: _Sizes) -> _Rows:
    rows = [(format_count(shape.vocab, "token"), ""), (shape.head.kind, "")]
    if weight := getattr(shape.head, "weight", None):
        rows.append(_make_weight_row("weight", weight.kind, "head", shape, sizes))
    elif stored := _count_stored_parameters(sizes, "head"):
        rows.append(("coefficients", str(stored)))
    return rows


def _make_weight_row(label: str, kind: str, name: str, shape: Architecture, sizes: _Sizes) -> tuple[str, str]:
    """How a weight is made, and how many parameters it has; a tied one says whose they are."""
    tied = [tie for tie in shape.ties if tie.name.startswith(f"{name}.")]
    free = [one for one in list_all_parameters(shape) if one.startswith(f"{name}.") and one in sizes]
    if tied and not free:
        return f"{label} = {tied[0].to.removesuffix('.weight').replace('.weight.T', 'ᵀ')}", "0"
    return f"{label}: {kind}", str(_count_stored_parameters(sizes, name))


def _describe_norm(norm: object, name: str, sizes: _Sizes) -> str:
    """What is written on the way from the stream to a part; empty where there is no norm."""
    if isinstance(norm, NoNorm):
        return ""
    return f"norm · {_count_stored_parameters(sizes, name)}"
