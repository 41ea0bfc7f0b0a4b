"""A random model of a few heads in memory, with everything a treatment can touch, and its plain matrices."""

from dataclasses import dataclass

import numpy as np

from glassformer.lens.layout import HeadLayout, ModelLayout, RopeLayout, Vector, View
from glassformer.lens.matrix import read_map
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor
from glassformer.lens.treatments import RAW, Treatment, read_output_map, read_score_map

WIDTH, HEAD, HEADS, GROUPS = 14, 6, 4, 2
ROPE = RopeLayout((1.0, 0.3), "halves", first=1)  # dimensions 1 to 4 of 6 are turned


@dataclass
class Toy:
    checkpoint: Checkpoint
    layout: ModelLayout
    arrays: dict[str, np.ndarray]

    def plain(self, layer: int, index: int) -> tuple[np.ndarray, ...]:
        """Query, key, value and output of a head, cut by hand."""
        group = index // (HEADS // GROUPS)
        mine, shared = slice(index * HEAD, (index + 1) * HEAD), slice(group * HEAD, (group + 1) * HEAD)
        q, k, v, o = (self.arrays[f"{layer}.{name}"] for name in "qkvo")
        return q[mine], k[shared], v[shared], o[:, mine]


@dataclass
class Maps:
    """A head's four maps under a treatment, as the code reads them."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    output: np.ndarray  # transposed


def head_maps(checkpoint: Checkpoint, head: HeadLayout, treatment: Treatment = RAW) -> Maps:
    folded = treatment.is_folded
    return Maps(
        read_score_map(checkpoint, head.query, head.query_norm, folded),
        read_score_map(checkpoint, head.key, head.key_norm, folded),
        read_map(checkpoint, head.value, folded),
        read_output_map(checkpoint, head, folded),
    )


def toy(seed: int = 0, layers: int = 2, rope: RopeLayout | None = ROPE, biases: bool = True) -> Toy:
    random = np.random.default_rng(seed)
    arrays = {}
    for layer in range(layers):
        shapes = {"q": (HEADS * HEAD, WIDTH), "k": (GROUPS * HEAD, WIDTH), "v": (GROUPS * HEAD, WIDTH)}
        shapes |= {"o": (WIDTH, HEADS * HEAD), "bq": (HEADS * HEAD,), "bk": (GROUPS * HEAD,)}
        shapes |= {"gain": (WIDTH,), "post": (WIDTH,), "nq": (HEAD,), "nk": (HEAD,)}
        arrays |= {f"{layer}.{name}": random.normal(size=shape) for name, shape in shapes.items()}
    tensors = {name: make_memory_tensor(name, array) for name, array in arrays.items()}
    heads = tuple(head(layer, index, rope, biases) for layer in range(layers) for index in range(HEADS))
    layout = ModelLayout("Toy", layers, HEADS, GROUPS, HEAD, WIDTH, (), heads)
    return Toy(Checkpoint("toy", "toy", "safetensors", {}, tensors, ""), layout, arrays)


def head(layer: int, index: int, rope: RopeLayout | None, biases: bool) -> HeadLayout:
    group = index // (HEADS // GROUPS)
    mine, shared = (index * HEAD, (index + 1) * HEAD), (group * HEAD, (group + 1) * HEAD)
    gain = Vector(f"{layer}.gain", offset=1.0)

    def rows(name: str, span: tuple[int, int]) -> tuple[tuple[View, ...], ...]:
        return ((View(f"{layer}.{name}", (span,), gain=gain),),)

    return HeadLayout(
        layer,
        index,
        group,
        query=rows("q", mine),
        key=rows("k", shared),
        value=rows("v", shared),
        output=View(f"{layer}.o", columns=mine, gain_after=Vector(f"{layer}.post")),
        query_bias=Vector(f"{layer}.bq", (mine,)) if biases else None,
        key_bias=Vector(f"{layer}.bk", (shared,)) if biases else None,
        query_norm=Vector(f"{layer}.nq"),
        key_norm=Vector(f"{layer}.nk"),
        rope=rope,
    )
