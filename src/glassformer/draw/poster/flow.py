"""A model as boxes along its stream: what each part is made of, and how many numbers it stores."""

from typing import Any, NamedTuple

from glassformer.draw.poster.words import counted
from glassformer.model.architecture import Architecture
from glassformer.model.forward import all_parameters, prefix
from glassformer.model.norm import NoNorm

Sizes = dict[str, int]  # stored numbers by parameter
Rows = list[tuple[str, str]]  # what a part is made of, and how many numbers


class Block(NamedTuple):
    """One box of the flow."""

    title: str
    stage: str
    rows: Rows
    numbers: int
    norm: str  # before it; empty: none
    kind: str  # ends, or what it does to the stream: adds, replaces


def blocks(shape: Architecture, sizes: Sizes, noun: str = "digits") -> list[Block]:
    """From the tokens, which are called `noun`, to the logits."""
    found = [
        Block(
            "embedding",
            "digits",
            embedding_rows(shape, sizes, noun),
            under(sizes, "token", "position"),
            "",
            "ends",
        )
    ]
    for index, layer in enumerate(shape.layers):
        name, which = prefix(shape, index), f" {index}" if len(shape.layers) > 1 else ""
        kind = "adds" if layer.residual else "replaces"
        if layer.attention:
            norm = norm_words(layer.attention_norm, f"{name}attn_norm", sizes)
            rows = attention_rows(layer.attention, f"{name}attn", shape, sizes)
            count = under(sizes, f"{name}attn")
            found.append(Block(f"attention{which}", "attention", rows, count, norm, kind))
        if layer.feedforward:
            norm = norm_words(layer.feedforward_norm, f"{name}ff_norm", sizes)
            rows = feedforward_rows(layer.feedforward, f"{name}ff", shape, sizes)
            found.append(
                Block(f"feed-forward{which}", "feed-forward", rows, under(sizes, f"{name}ff"), norm, kind)
            )
    norm = norm_words(shape.final_norm, "final_norm", sizes)
    return [*found, Block("head", "head", head_rows(shape, sizes), under(sizes, "head"), norm, "ends")]


def under(sizes: Sizes, *names: str) -> int:
    """How many numbers these parts store.

    >>> under({"attn.q.weight": 4, "attn_norm.gain": 2, "head": 1}, "attn", "head")
    5
    """
    return sum(
        size
        for name, size in sizes.items()
        if any(name == part or name.startswith(f"{part}.") for part in names)
    )


def embedding_rows(shape: Architecture, sizes: Sizes, noun: str) -> Rows:
    places = f"places: {shape.position.kind}"
    dims = f"{shape.token_dims} + {shape.position_dims}" if shape.position_dims else str(shape.width)
    return [
        (f"{dims} dimensions", ""),
        (f"{noun}: {shape.token.kind}", str(under(sizes, "token"))),
        (places, str(under(sizes, "position"))),
    ]


def attention_rows(attention: Any, name: str, shape: Architecture, sizes: Sizes) -> Rows:
    rows = [(f"{counted(attention.heads, 'head')} of {attention.head_size}", ""), (attention.softmax, "")]
    for key in ("q", "k", "v", "out"):
        if part := getattr(attention, key):
            rows.append(part_row(key, part.kind, f"{name}.{key}", shape, sizes))
    for key in ("qk_norm", "k_norm"):
        part = getattr(attention, key)
        if part and not isinstance(part, NoNorm):
            rows.append(part_row(key.replace("_", " "), part.kind, f"{name}.{key}", shape, sizes))
    if attention.relation.kind != "none":
        rows.append((f"places: {attention.relation.kind}", "0"))
    return rows


def feedforward_rows(part: Any, name: str, shape: Architecture, sizes: Sizes) -> Rows:
    rows = [(f"{counted(part.units(shape.width), 'unit')}, {part.bend}", "")]
    for key in ("gate", "up", "down"):
        if projection := getattr(part, key):
            rows.append(part_row(key, projection.kind, f"{name}.{key}", shape, sizes))
    return rows


def head_rows(shape: Architecture, sizes: Sizes) -> Rows:
    rows = [(counted(shape.vocab, "token"), ""), (shape.head.kind, "")]
    if weight := getattr(shape.head, "weight", None):
        rows.append(part_row("weight", weight.kind, "head", shape, sizes))
    elif stored := under(sizes, "head"):
        rows.append(("coefficients", str(stored)))
    return rows


def part_row(label: str, kind: str, name: str, shape: Architecture, sizes: Sizes) -> tuple[str, str]:
    """How a weight is made, and how many numbers it stores; a tied one says whose they are."""
    tied = [tie for tie in shape.ties if tie.name.startswith(f"{name}.")]
    free = [one for one in all_parameters(shape) if one.startswith(f"{name}.") and one in sizes]
    if tied and not free:
        return f"{label} = {tied[0].to.removesuffix('.weight').replace('.weight.T', 'ᵀ')}", "0"
    return f"{label}: {kind}", str(under(sizes, name))


def norm_words(norm: Any, name: str, sizes: Sizes) -> str:
    """What is written on the way from the stream to a part; empty where there is no norm."""
    if isinstance(norm, NoNorm):
        return ""
    return f"norm · {under(sizes, name)}"
