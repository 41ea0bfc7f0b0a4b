"""A model's parameters as one vector, and back.

>>> flat = FlatLayout({"a": (2,), "b": (1, 2)})
>>> flat.pack({"a": np.array([1.0, 2.0]), "b": np.array([[3.0, 4.0]])}).tolist()
[1.0, 2.0, 3.0, 4.0]
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.models.ops import Value
from glassformer.models.parameter import Parameter

_Entries = tuple[tuple[int, float], ...]  # of one array: entry, counted row by row, and its value


@dataclass(frozen=True)
class FlatLayout:
    """Where each named array lies in the vector; the order is that of the architecture."""

    shapes: dict[str, tuple[int, ...]]
    fixed: dict[str, _Entries] = field(default_factory=dict)  # entries that the vector does not hold

    @property
    def size(self) -> int:
        return sum(len(self.free(name)) for name in self.shapes)

    def free(self, name: str) -> Int[np.ndarray, " free"]:
        """Which entries of an array, counted row by row, are in the vector."""
        size = math.prod(self.shapes[name])
        return np.setdiff1d(np.arange(size), [at for at, _ in self.fixed.get(name, ())])

    def places(self) -> Iterator[tuple[str, slice, tuple[int, ...]]]:
        start = 0
        for name, shape in self.shapes.items():
            stop = start + len(self.free(name))
            yield name, slice(start, stop), shape
            start = stop

    def unpack(self, vector: Value) -> dict[str, Value]:
        """Views of `... n` as named arrays, leading axes kept; what is fixed is filled in."""
        return {
            name: self.filled(name, vector[..., place]).reshape((*vector.shape[:-1], *shape))
            for name, place, shape in self.places()
        }

    def filled(self, name: str, free: Value) -> Value:
        """Free entries and fixed ones, each at its index."""
        entries = self.fixed.get(name, ())
        if not entries:
            return free
        xp = np if isinstance(free, np.ndarray) else jnp
        values = np.array([value for _, value in entries], free.dtype)
        both = xp.concatenate([free, xp.broadcast_to(values, (*free.shape[:-1], len(entries)))], -1)
        return both[..., np.argsort([*self.free(name), *(at for at, _ in entries)])]

    def pack(self, params: dict[str, np.ndarray]) -> np.ndarray:
        return np.concatenate([np.ravel(params[name])[self.free(name)] for name in self.shapes])


def make_flat_layout(model: Architecture) -> FlatLayout:
    kept = list_parameters(model)
    fixed = {
        name: tuple((_compute_flat_index(place, one.shape), value) for place, value in one.fixed)
        for name, one in kept.items()
        if one.fixed
    }
    return FlatLayout({name: one.shape for name, one in kept.items()}, fixed)


def _compute_flat_index(place: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Which entry that is, counted row by row: (1, 0) of 2 x 3 is entry 3."""
    return int(np.ravel_multi_index(place, shape)) if shape else 0


def sample_first_values(model: Architecture, key: PRNGKeyArray) -> Float[Array, " n"]:
    """The starting vector of one seed; each array depends on the key and its own name only."""
    dtype = jnp.dtype(model.precision)
    drawn = [
        _sample_first_array(p, jax.random.fold_in(key, zlib.crc32(name.encode())), dtype)
        for name, p in list_parameters(model).items()
    ]
    flat = make_flat_layout(model)
    return jnp.concatenate(
        [jnp.ravel(array)[flat.free(name)] for name, array in zip(flat.shapes, drawn, strict=True)]
    )


def _sample_first_array(parameter: Parameter, key: PRNGKeyArray, dtype: jnp.dtype) -> Array:
    """First values by the parameter's law."""
    if parameter.law == "constant":
        return jnp.full(parameter.shape, parameter.scale, dtype)
    if parameter.law == "normal":
        return parameter.scale * jax.random.normal(key, parameter.shape, dtype)
    if parameter.law == "gram":
        rows, columns = parameter.shape[0] + 1, parameter.shape[1]
        weight = jax.random.uniform(key, (rows, columns), dtype, minval=-1.0)
        return parameter.scale * jnp.matmul(weight.T, weight, precision="highest")
    return parameter.scale * jax.random.uniform(key, parameter.shape, dtype, minval=-1.0)
