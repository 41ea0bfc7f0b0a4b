"""Matrices without an adapter: every one of them, by the pattern of its name; heads are never guessed.

>>> make_name_pattern("blocks.12.mixer.in_proj.weight")
(12, 'blocks.#.mixer.in_proj.weight')
>>> make_name_pattern("my |blocks|.3.$w$")
(3, 'my__blocks_.#._w_')
"""

import math
import re
from collections.abc import Iterable

from glassformer.lens.adapt.config import read_model_config
from glassformer.lens.layout import ModelLayout, View, Weight
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import Tensor

_STRANGE = re.compile(r"[^\w.#*/:+-]")  # in a title or a table, these would be taken for markup
_LONGEST = 80  # characters of an architecture's name


def make_unknown_layout(checkpoint: Checkpoint, architecture: str) -> ModelLayout:
    """Every matrix's spectrum, and a note that says why there is no more."""
    weights = list_pattern_weights(checkpoint.tensors.values())
    layers = {weight.layer for weight in weights if weight.layer is not None}
    name = _STRANGE.sub("_", architecture[:_LONGEST])
    note = f"{_describe_missing_adapter(checkpoint, name)}: every matrix's spectrum, but no heads"
    return ModelLayout(name or "unknown", len(layers), 0, 0, 0, 0, weights, (), (note,))


def _describe_missing_adapter(checkpoint: Checkpoint, architecture: str) -> str:
    if architecture:
        return f"no adapter for architecture '{architecture}'"
    if checkpoint.kind == "gguf":
        return "the file does not say its architecture ('general.architecture' is missing)"
    if not checkpoint.config:
        return "config.json is missing, so the architecture is not known"
    return f"{read_model_config(checkpoint).source} does not say the architecture ('model_type' is missing)"


def list_pattern_weights(tensors: Iterable[Tensor]) -> tuple[Weight, ...]:
    """The matrices among some tensors, one a leading index where there are three axes or more."""
    found = [weight for tensor in tensors if tensor.is_matrix for weight in _list_tensor_matrices(tensor)]
    return tuple(
        sorted(found, key=lambda one: (one.layer is None, one.layer or 0, one.type, one.expert or 0))
    )


def _list_tensor_matrices(tensor: Tensor) -> list[Weight]:
    """One matrix, or one per expert: more leading entries than the short side has are a convolution's."""
    layer, kind = make_name_pattern(tensor.name)
    rows, columns = tensor.shape[-2:]
    count = math.prod(tensor.shape[:-2])
    if count == 1 or count > min(rows, columns):
        return [Weight(layer, kind, View(tensor.name), "none")]
    return [
        Weight(layer, kind, View(tensor.name, spans=((index * rows, (index + 1) * rows),)), "none", index)
        for index in range(count)
    ]


def make_name_pattern(name: str) -> tuple[int | None, str]:
    """The first number among a name's parts, and the name with # instead, in plain characters."""
    parts = _STRANGE.sub("_", name).split(".")
    place = next((index for index, part in enumerate(parts) if part.isascii() and part.isdigit()), None)
    if place is None:
        return None, ".".join(parts)
    return int(parts[place]), ".".join([*parts[:place], "#", *parts[place + 1 :]])
