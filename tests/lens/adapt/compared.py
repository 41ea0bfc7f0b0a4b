"""What an adapter found against the model it was written from: the list of differences, empty where it is right."""

from collections.abc import Iterator

import numpy as np

from glassformer.lens.adapt.find import find_layout
from glassformer.lens.layout import HeadLayout, Map, ModelLayout, Vector
from glassformer.lens.matrix import read_map, read_vector, view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from tests.lens.adapt.written import DIMS, EXPERTS, HEADS, KV_HEADS, LAYERS, Model, columns, rows

BEFORE, AFTER, BEFORE_MLP, AFTER_MLP = range(4)


def differences(checkpoint: Checkpoint, model: Model, has: set[str]) -> list[str]:
    """Everything that is not as in the model; `has` says which parts the family has."""
    layout = find_layout(checkpoint)
    found = {**heads(checkpoint, layout, model, has), **matrices(checkpoint, layout, model, has)}
    return [name for name, (got, wanted) in found.items() if not is_same(got, wanted)]


def is_same(got: np.ndarray | None, wanted: np.ndarray | None) -> bool:
    if got is None or wanted is None:
        return got is wanted
    return got.shape == wanted.shape and bool(np.allclose(got, wanted, rtol=1e-10, atol=1e-10))


Pairs = dict[str, tuple[np.ndarray | None, np.ndarray | None]]


def heads(checkpoint: Checkpoint, layout: ModelLayout, model: Model, has: set[str]) -> Pairs:
    places = [(head.layer, head.index) for head in layout.attention]
    assert places == [(layer, index) for layer in range(LAYERS) for index in range(HEADS)]
    return {
        f"{name} of {head.layer}.{head.index}": pair
        for head in layout.attention
        for name, pair in one_head(checkpoint, head, model, has)
    }


def one_head(
    checkpoint: Checkpoint, head: HeadLayout, model: Model, has: set[str]
) -> Iterator[tuple[str, tuple[np.ndarray | None, np.ndarray | None]]]:
    layer, index, kv_index = head.layer, head.index, head.index // (HEADS // KV_HEADS)
    q, k, v = (
        getattr(model, name)[layer, at]
        for name, at in zip(("query", "key", "value"), (index, kv_index, kv_index), strict=True)
    )

    def dense(part: Map, is_folded: bool = False) -> np.ndarray:
        return read_map(checkpoint, part, is_folded)

    gain = model.gains[layer, BEFORE] if "norms before" in has else 1.0
    yield "QK", (dense(head.query).T @ dense(head.key), q.T @ k)
    output = view_matrix(checkpoint, head.output).dense()
    yield "OV", (output @ dense(head.value), model.output[layer, index] @ v)
    yield "queries", (straight(dense(head.query), head), q)
    yield "folded", (dense(head.query, True).T @ dense(head.key, True), (q * gain).T @ (k * gain))
    yield "values", (dense(head.value, True), v * gain)
    shared = "head norms" in has
    for name, got, whole, at in (
        ("query_bias", head.query_bias, model.query_bias, index),
        ("key_bias", head.key_bias, model.key_bias, kv_index),
        ("query_norm", head.query_norm, model.query_norm, 0 if shared else index),
        ("key_norm", head.key_norm, model.key_norm, 0 if shared else kv_index),
    ):
        is_there = "biases" in has if name.endswith("bias") else shared or "whole norms" in has
        yield name, (read(checkpoint, got), whole[layer, at] if is_there else None)
    base = 25.0 if "local bases" in has and layer == 0 else 100.0
    assert head.rope and head.kv_index == kv_index
    yield "rates", (np.array(head.rope.rates), base ** (-np.arange(DIMS // 2) / (DIMS // 2)))


def straight(found: np.ndarray, head: HeadLayout) -> np.ndarray:
    """The rows of a head in the order where pairs are halves."""
    assert head.rope
    if head.rope.pairs == "halves":
        return found
    return np.concatenate([found[0::2], found[1::2]])


def read(checkpoint: Checkpoint, part: Vector | None) -> np.ndarray | None:
    return read_vector(checkpoint, part) if part else None


def matrices(checkpoint: Checkpoint, layout: ModelLayout, model: Model, has: set[str]) -> Pairs:
    """All weights, folded: with the norms before and after them."""
    wanted = dict(wanted_matrices(model, has))
    got = {
        f"{one.type} {one.layer} {one.expert}": view_matrix(checkpoint, one.view, True).dense()
        for one in layout.weights
    }
    return {name: (got.get(name), wanted.get(name)) for name in got.keys() | wanted.keys()}


def wanted_matrices(model: Model, has: set[str]) -> Iterator[tuple[str, np.ndarray]]:
    final = model.final if "final" in has else 1.0
    yield "W_E None None", model.embedding.T
    yield "W_U None None", model.unembedding * final
    for layer in range(LAYERS):
        before, after, before_mlp, after_mlp = model.gains[layer]
        read_gain, read_mlp = (before, before_mlp) if "norms before" in has else (1.0, 1.0)
        write_gain, write_mlp = (after, after_mlp) if "norms after" in has else (np.ones(1), np.ones(1))
        if "adjacent" not in has:
            yield f"W_Q {layer} None", rows(model.query[layer]) * read_gain
            yield f"W_K {layer} None", rows(model.key[layer]) * read_gain
        else:
            yield from adjacent(model, layer, read_gain)
        yield f"W_V {layer} None", rows(model.value[layer]) * read_gain
        yield f"W_O {layer} None", columns(model.output[layer]) * write_gain[:, None]
        experts = [("", expert, expert) for expert in range(EXPERTS)] if "experts" in has else [("", None, 0)]
        if "experts" in has:
            yield f"W_router {layer} None", model.router[layer] * read_mlp
        if "shared" in has:
            experts.append(("_shared", None, -1))
        for mark, expert, at in experts:
            yield f"W_gate{mark} {layer} {expert}", model.gate[layer, at] * read_mlp
            yield f"W_up{mark} {layer} {expert}", model.up[layer, at] * read_mlp
            yield f"W_down{mark} {layer} {expert}", model.down[layer, at] * write_mlp[:, None]


def adjacent(model: Model, layer: int, gain: np.ndarray | float) -> Iterator[tuple[str, np.ndarray]]:
    order = [dim for pair in zip(range(DIMS // 2), range(DIMS // 2, DIMS), strict=True) for dim in pair]
    yield f"W_Q {layer} None", rows(model.query[layer][:, order]) * gain
    yield f"W_K {layer} None", rows(model.key[layer][:, order]) * gain
