"""A model: an architecture and its parameters, run on NumPy in the precision that it was trained in.

Here axes are in reading order, `batch pos tok`; inside the pass they are dimension first, batch last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Integer

from glassformer.core.errors import UserError, make_unknown_error
from glassformer.models.architecture import Architecture
from glassformer.models.forward import forward, list_parameters
from glassformer.models.ops import Value
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.parameter import Parameter

_Tokens = Integer[np.ndarray, "*batch pos"] | Sequence[int] | Sequence[Sequence[int]]

_BLOCK = 4096  # contexts at a time: large enough for NumPy, small enough for the cache and for memory


@dataclass(frozen=True, eq=False)
class Model:
    """What `glassformer.load` gives; `params` is a flat dict with dotted names."""

    architecture: Architecture
    params: Mapping[str, np.ndarray]

    def __post_init__(self) -> None:
        """Numbers of another precision are rounded to the architecture's, which is what it runs in."""
        check_params(self.architecture, self.params)
        precision = np.dtype(self.architecture.precision)
        if any(np.asarray(array).dtype != precision for array in self.params.values()):
            rounded = {name: np.asarray(array, precision) for name, array in self.params.items()}
            object.__setattr__(self, "params", rounded)

    def forward(self, tokens: _Tokens, last: int | None = None) -> Float[np.ndarray, "*batch shown tok"]:
        """Logits after each position (or after the `last` ones) of one context or of many."""
        contexts = np.atleast_2d(np.asarray(tokens))
        blocks = [self.logits(contexts[i : i + _BLOCK].T, last) for i in range(0, len(contexts), _BLOCK)]
        logits = np.moveaxis(np.concatenate(blocks, axis=2), (0, 1, 2), (2, 1, 0))
        return logits[0] if np.ndim(tokens) == 1 else logits

    def logits(
        self, tokens: Integer[np.ndarray, "pos batch"], last: int | None = None
    ) -> Float[np.ndarray, "tok shown batch"]:
        """The pass in its own axes, all at once; what overflows is infinite, as the arithmetic has it."""
        ops, batch = NumpyOps(self.architecture.precision), tokens.shape[1]
        with np.errstate(all="ignore"):
            result: np.ndarray = forward(
                self.architecture, ops, self.params, _repeat_single_sequence(tokens), last
            )
        return result[:, :, :batch]

    def trace(self, tokens: _Tokens) -> dict[str, np.ndarray]:
        """Every named intermediate: `*batch pos dim`, and `*batch query key` for scores and weights."""
        seen: dict[str, Value] = {}
        ops, contexts = NumpyOps(self.architecture.precision), np.atleast_2d(np.asarray(tokens))
        with np.errstate(all="ignore"):
            forward(
                self.architecture,
                ops,
                self.params,
                _repeat_single_sequence(contexts.T),
                record=seen.__setitem__,
            )
        found = {name: _to_reading_order(name, value, len(contexts)) for name, value in seen.items()}
        if np.ndim(tokens) > 1:
            return found
        return {name: value[0] if seen[name].ndim == 3 else value for name, value in found.items()}


def to_float64(model: Model) -> Model:
    """The same parameters in double precision; what was fixed keeps the value that it was rounded to."""
    shape = replace(model.architecture, precision="float64", fixed=())
    return Model(shape, model.params)


def _repeat_single_sequence(tokens: Integer[np.ndarray, "pos batch"]) -> Integer[np.ndarray, "pos repeated"]:
    """A single sequence twice: a batch of 1 would pass for what all sequences share, and round otherwise."""
    return np.repeat(tokens, 2, axis=1) if tokens.shape[1] == 1 else tokens


def _to_reading_order(name: str, value: np.ndarray, batch: int) -> np.ndarray:
    """Batch first; what no token changes is the same for all of it."""
    if value.ndim < 3:
        return value
    whole = np.broadcast_to(value[..., :batch], (*value.shape[:2], batch))
    is_square = ".scores." in name or ".weights." in name
    return np.moveaxis(whole, 2, 0) if is_square else whole.transpose(2, 1, 0)


def check_params(architecture: Architecture, params: Mapping[str, np.ndarray]) -> None:
    """Names, shapes, kinds of number and finite ones, or the one sentence that says what does not fit."""
    expected = list_parameters(architecture)
    for name in params:
        if name not in expected:
            raise make_unknown_error("parameter of this architecture", name, expected)
    for name, parameter in expected.items():
        if name not in params:
            raise UserError(f"the weights lack {name}, which should have shape {parameter.shape}")
        _check_array(name, np.asarray(params[name]), parameter.shape, architecture.precision)
        _check_fixed(name, np.asarray(params[name]), parameter, architecture.precision)


def _check_fixed(name: str, array: np.ndarray, parameter: Parameter, precision: str) -> None:
    """What the architecture fixes is in the weights as it says."""
    for place, value in parameter.fixed:
        if array[place].astype(precision) != np.asarray(value, precision):
            raise UserError(f"{name} holds {array[place]} at {place}, where the architecture fixes {value}")


def _check_array(name: str, array: np.ndarray, shape: tuple[int, ...], precision: str) -> None:
    """One array against its shape; any floating-point type will do, others were never trained weights."""
    if array.shape != shape:
        raise UserError(f"{name} has shape {array.shape}, but the architecture needs {shape}")
    if not np.can_cast(array.dtype, np.float64) or array.dtype.kind in "iub":
        raise UserError(
            f"{name} has type {array.dtype}, but the architecture needs floating-point numbers ({precision})"
        )
    finite = np.isfinite(array)
    if not finite.all():
        place = tuple(int(index) for index in np.argwhere(~finite)[0])
        raise UserError(f"{name} holds numbers that are not finite ({array[place]} at {place})")
