"""A tiny random decoder as plain arrays, head by head, and the comparison with what an adapter reads of it.

Writers pack the arrays into an architecture's tensors; they know nothing of the adapter.
"""

from dataclasses import dataclass, field

import numpy as np

from glassformer.lens.layout import ModelLayout, Weight
from glassformer.lens.matrix import read_map, read_vector, view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor

VOCABULARY, PLACES, HIDDEN = 11, 9, 10
Arrays = dict[str, np.ndarray]


@dataclass
class Layer:
    """Queries `head dim width`, keys and values `group dim width`, outputs `head width dim`, and the rest."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    o: np.ndarray
    bq: np.ndarray  # head dim
    bk: np.ndarray
    bv: np.ndarray
    up: np.ndarray
    down: np.ndarray
    gain: np.ndarray  # before attention
    mlp_gain: np.ndarray


@dataclass
class Tiny:
    heads: int = 4
    groups: int = 4
    dims: int = 3
    width: int = 12
    count: int = 2
    seed: int = 0
    value_dims: int = 0
    layers: list[Layer] = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.value_dims = self.value_dims or self.dims
        self.layers = [self.layer() for _ in range(self.count)]
        self.tokens, self.places = self.draw(VOCABULARY, self.width), self.draw(PLACES, self.width)
        self.head, self.last_gain, self.first_gain = (
            self.draw(VOCABULARY, self.width),
            self.draw(self.width),
            self.draw(self.width),
        )

    def draw(self, *shape: int) -> np.ndarray:
        return self.random.normal(size=shape)

    def layer(self) -> Layer:
        heads, groups, dims, values, width = self.heads, self.groups, self.dims, self.value_dims, self.width
        return Layer(
            q=self.draw(heads, dims, width),
            k=self.draw(groups, dims, width),
            v=self.draw(groups, values, width),
            o=self.draw(heads, width, values),
            bq=self.draw(heads, dims),
            bk=self.draw(groups, dims),
            bv=self.draw(groups, values),
            up=self.draw(HIDDEN, width),
            down=self.draw(width, HIDDEN),
            gain=self.draw(width),
            mlp_gain=self.draw(width),
        )


def stacked(parts: np.ndarray) -> np.ndarray:
    """`head dim ...` as rows, one head after another."""
    return parts.reshape(-1, *parts.shape[2:])


def side_by_side(parts: np.ndarray) -> np.ndarray:
    """`head width dim` as the columns of one matrix."""
    return np.concatenate(list(parts), axis=1)


def in_blocks(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """All queries, all keys, all values; and so the biases."""
    weights = np.concatenate([stacked(layer.q), stacked(layer.k), stacked(layer.v)])
    return weights, np.concatenate([layer.bq.ravel(), layer.bk.ravel(), layer.bv.ravel()])


def in_groups(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """For each key head its queries, then itself, then its value."""
    weights, biases = [], []
    share = len(layer.q) // len(layer.k)
    for group in range(len(layer.k)):
        for head in range(group * share, (group + 1) * share):
            weights.append(layer.q[head])
            biases.append(layer.bq[head])
        weights += [layer.k[group], layer.v[group]]
        biases += [layer.bk[group], layer.bv[group]]
    return np.concatenate(weights), np.concatenate(biases)


def checkpoint(arrays: Arrays, config: dict, kind: str = "safetensors") -> Checkpoint:
    tensors = {name: make_memory_tensor(name, np.asarray(array)) for name, array in arrays.items()}
    return Checkpoint("tiny", "tiny", kind, config, tensors, "")  # type: ignore[arg-type]


def compare_heads(stored: Checkpoint, layout: ModelLayout, tiny: Tiny, biased: bool = True) -> None:
    """Every head's maps, kernels, gains and biases against the plain arrays."""
    sizes = layout.layers, layout.heads, layout.kv_heads, layout.head_dim, layout.width
    assert sizes == (tiny.count, tiny.heads, tiny.groups, tiny.dims, tiny.width)
    assert [(head.layer, head.index) for head in layout.attention] == [
        (layer, index) for layer in range(tiny.count) for index in range(tiny.heads)
    ]
    for head in layout.attention:
        layer, group = tiny.layers[head.layer], head.index * tiny.groups // tiny.heads
        query, key, value = (read_map(stored, part) for part in (head.query, head.key, head.value))
        output = view_matrix(stored, head.output).dense()
        assert head.kv_index == group
        np.testing.assert_allclose(query.T @ key, layer.q[head.index].T @ layer.k[group])
        np.testing.assert_allclose(output @ value, layer.o[head.index] @ layer.v[group])
        np.testing.assert_allclose(query, layer.q[head.index])
        for part, plain in ((head.query, layer.q[head.index]), (head.key, layer.k[group])):
            np.testing.assert_allclose(read_map(stored, part, is_folded=True), plain * layer.gain)
        np.testing.assert_allclose(read_map(stored, head.value, is_folded=True), layer.v[group] * layer.gain)
        if biased:
            np.testing.assert_allclose(read_vector(stored, head.query_bias), layer.bq[head.index])
            np.testing.assert_allclose(read_vector(stored, head.key_bias), layer.bk[group])
        else:
            assert head.query_bias is head.key_bias is None


def compare_weights(stored: Checkpoint, layout: ModelLayout, tiny: Tiny) -> None:
    """Every layer's matrices against the plain arrays, raw and with the gains before them."""
    for index, layer in enumerate(tiny.layers):
        plain = {
            "W_Q": (stacked(layer.q), layer.gain),
            "W_K": (stacked(layer.k), layer.gain),
            "W_V": (stacked(layer.v), layer.gain),
            "W_O": (side_by_side(layer.o), 1.0),
            "W_up": (layer.up, layer.mlp_gain),
            "W_down": (layer.down, 1.0),
        }
        found = {weight.type: weight for weight in layout.weights if weight.layer == index}
        assert set(found) == set(plain)
        for name, (matrix, gain) in plain.items():
            compare_weight(stored, found[name], matrix, matrix * gain)
            assert found[name].stream == ("out" if name in ("W_O", "W_down") else "in")


def compare_weight(stored: Checkpoint, weight: Weight, raw: np.ndarray, folded: np.ndarray) -> None:
    np.testing.assert_array_equal(view_matrix(stored, weight.view).dense(), raw)
    np.testing.assert_allclose(view_matrix(stored, weight.view, is_folded=True).dense(), folded)


def one(layout: ModelLayout, kind: str, layer: int | None = None) -> Weight:
    """The only weight of a type."""
    (found,) = [weight for weight in layout.weights if (weight.type, weight.layer) == (kind, layer)]
    return found
