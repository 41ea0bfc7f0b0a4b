"""Stored tensors by the names an adapter uses: without the prefix of a file, and with their shapes checked.

>>> import numpy as np
>>> from glassformer.lens.read.tensor import make_memory_tensor
>>> stored = {"model.norm.weight": make_memory_tensor("model.norm.weight", np.ones(4))}
>>> names = TensorNames.find(Checkpoint("toy", "toy", "safetensors", {}, stored, ""), "norm.weight")
>>> names.prefix, names.gain("norm.weight", 4)
('model.', Vector(tensor='model.norm.weight', spans=(), offset=0.0))
>>> names.matrix("norm.weight", (8, 4), "heads")
Traceback (most recent call last):
glassformer.core.errors.UserError: toy: 'model.norm.weight' is 4, but the configuration (heads) makes it 8 x 4
"""

from dataclasses import dataclass, replace

from glassformer.core.errors import UserError
from glassformer.lens.layout import Vector, View
from glassformer.lens.read.checkpoint import Checkpoint

_PREFIXES = (  # in front of the decoder's (or encoder's) own names, by what was saved and with which class
    "",
    "model.",
    "transformer.",
    "gpt_neox.",
    "model.decoder.",
    "decoder.",
    "bert.",
    "roberta.",
    "distilbert.",
    "language_model.model.",
    "model.language_model.",
    "model.language_model.model.",
    "language_model.",
    "language_model.transformer.",
    "base_model.model.model.",
)


@dataclass(frozen=True)
class TensorNames:
    """The tensors of a checkpoint, by names without `prefix`; # in a name is the layer, * the expert."""

    checkpoint: Checkpoint
    prefix: str
    layer: str = "#"
    expert: str = "*"

    @staticmethod
    def find(checkpoint: Checkpoint, example: str) -> "TensorNames":
        """The names under the first prefix that has a tensor called `example`."""
        for prefix in _PREFIXES:
            if prefix + example in checkpoint.tensors:
                return TensorNames(checkpoint, prefix)
        raise UserError(f"{checkpoint.source} has no tensor called '{example}', which its architecture needs")

    def at(self, layer: int, expert: int | None = None) -> "TensorNames":
        """The same names in one layer."""
        return replace(self, layer=str(layer), expert=self.expert if expert is None else str(expert))

    def has(self, name: str) -> bool:
        return self.full(name) in self.checkpoint.tensors

    def full(self, name: str) -> str:
        """The stored name, under the prefix or a shorter one (`lm_head.weight`)."""
        own = name.replace("#", self.layer).replace("*", self.expert)
        parts = self.prefix.split(".")[:-1]
        tried = [".".join([*parts[:count], own]) for count in range(len(parts), -1, -1)]
        return next((one for one in tried if one in self.checkpoint.tensors), self.prefix + own)

    def shape(self, name: str) -> tuple[int, ...]:
        return self.checkpoint.tensor(self.full(name)).shape

    def rows(self, name: str) -> int:
        """The first axis of a tensor."""
        return self.shape(name)[0] if self.shape(name) else 1

    def columns(self, name: str) -> int:
        """The last axis of a tensor."""
        return self.shape(name)[-1] if self.shape(name) else 1

    def matrix(self, name: str, shape: tuple[int, ...], because: str, is_transposed: bool = False) -> View:
        """All of a stored matrix, which must have that shape (as stored); `because` says what asks for it."""
        stored = self.shape(name)
        if stored != shape:
            raise self.wrong_shape(name, shape, because)
        return View(self.full(name), is_transposed=is_transposed)

    def bias(self, name: str, size: int, because: str = "its matrix") -> Vector | None:
        """A vector where it is stored, else none."""
        return self.gain(name, size, because) if self.has(name) else None

    def gain(self, name: str, size: int, because: str = "its width", offset: float = 0.0) -> Vector:
        """A vector that must be stored."""
        if self.shape(name) != (size,):
            raise self.wrong_shape(name, (size,), because)
        return Vector(self.full(name), offset=offset)

    def optional_gain(self, name: str, size: int, offset: float = 0.0) -> Vector | None:
        """A vector that must be stored where an architecture has a name for it."""
        return self.gain(name, size, offset=offset) if name else None

    def wrong_shape(self, name: str, shape: tuple[int, ...], because: str) -> UserError:
        there = f"'{self.full(name)}' is {_format_shape_sides(self.shape(name))}"
        said = f"but the configuration ({because}) makes it {_format_shape_sides(shape)}"
        return UserError(f"{self.checkpoint.source}: {there}, {said}")


def require_all_layers(names: TensorNames, pattern: str, layers: int) -> None:
    """One sentence where a layer is missing, or where there are more than the configuration says."""
    source = names.checkpoint.source
    for layer in range(layers):
        if not names.at(layer).has(pattern):
            missing = names.at(layer).full(pattern)
            raise UserError(f"{source}: layer {layer} of {layers} is incomplete, '{missing}' is missing")
    if names.at(layers).has(pattern):
        more = names.at(layers).full(pattern)
        raise UserError(f"{source}: the configuration says {layers} layers, but there is a '{more}'")


def _format_shape_sides(shape: tuple[int, ...]) -> str:
    return " x ".join(str(size) for size in shape) or "a single number"
