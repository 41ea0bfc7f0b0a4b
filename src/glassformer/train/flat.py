"""A model's parameters as one vector, and back.

>>> flat = Flat({"a": (2,), "b": (1, 2)})
>>> flat.pack({"a": np.array([1.0, 2.0]), "b": np.array([[3.0, 4.0]])}).tolist()
[1.0, 2.0, 3.0, 4.0]
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from glassformer.model.architecture import Architecture
from glassformer.model.forward import parameters
from glassformer.model.ops import Value
from glassformer.model.parameter import Parameter


@dataclass(frozen=True)
class Flat:
    """Where each named array lies in the vector; the order is that of the architecture."""

    shapes: dict[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())

    def places(self) -> Iterator[tuple[str, slice, tuple[int, ...]]]:
        start = 0
        for name, shape in self.shapes.items():
            yield name, slice(start, start + math.prod(shape)), shape
            start += math.prod(shape)

    def unpack(self, vector: Value) -> dict[str, Value]:
        """Views of `... n` as named arrays, leading axes kept."""
        return {
            name: vector[..., place].reshape((*vector.shape[:-1], *shape))
            for name, place, shape in self.places()
        }

    def pack(self, params: dict[str, np.ndarray]) -> np.ndarray:
        return np.concatenate([np.ravel(params[name]) for name in self.shapes])


def flat_of(model: Architecture) -> Flat:
    return Flat({name: parameter.shape for name, parameter in parameters(model).items()})


def first_values(model: Architecture, key: PRNGKeyArray) -> Float[Array, " n"]:
    """The starting vector of one seed; each array depends on the key and its own name only."""
    dtype = jnp.dtype(model.precision)
    drawn = [
        draw(p, jax.random.fold_in(key, zlib.crc32(name.encode())), dtype)
        for name, p in parameters(model).items()
    ]
    return jnp.concatenate([jnp.ravel(array) for array in drawn])


def draw(parameter: Parameter, key: PRNGKeyArray, dtype: jnp.dtype) -> Array:
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
