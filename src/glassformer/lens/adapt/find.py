"""Which adapter reads a checkpoint: one table from the names of architectures to functions.

>>> import numpy as np
>>> from glassformer.lens.read.tensor import make_memory_tensor
>>> stored = {"blocks.0.mix.weight": make_memory_tensor("blocks.0.mix.weight", np.eye(3))}
>>> layout = find_layout(Checkpoint("toy", "toy", "safetensors", {"model_type": "mamba"}, stored, ""))
>>> layout.notes
("no adapter for architecture 'mamba': every matrix's spectrum, but no heads",)
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module

from glassformer.lens.adapt import families
from glassformer.lens.adapt.config import list_architecture_names, normalize_architecture
from glassformer.lens.adapt.unknown import list_pattern_weights, make_unknown_layout
from glassformer.lens.layout import ModelLayout
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.read.tensor import Tensor

_Adapter = Callable[[Checkpoint], ModelLayout]

DECODER = "decoder:read_decoder"
ADAPTERS: Mapping[str, str] = {  # model type of config.json, plain -> module:function
    **dict.fromkeys(families.HF, DECODER),
    "gpt2": "gpt2:read_gpt2",
    "gptneox": "neox:read_neox",
    "bloom": "bloom:read_bloom",
    "falcon": "falcon:read_falcon",
    "refinedweb": "falcon:read_falcon",
    "refinedwebmodel": "falcon:read_falcon",
    "opt": "opt:read_opt",
    "bert": "bert:read_bert",
    "roberta": "bert:read_bert",
    "xlmroberta": "bert:read_bert",
    "distilbert": "bert:read_bert",
    "deepseekv2": "deepseek:read_deepseek",
    "deepseekv3": "deepseek:read_deepseek",
}
GGUF_ADAPTERS: Mapping[str, str] = {  # general.architecture -> module:function
    **dict.fromkeys(families.GGUF, DECODER),
    "gpt2": "gpt2:read_gpt2",
    "gptneox": "neox:read_neox",
    "bloom": "bloom:read_bloom",
    "falcon": "falcon:read_falcon",
    "bert": "bert:read_bert",
    "deepseek2": "deepseek:read_deepseek",
}
_MASKS = (".attn.bias", ".attention.bias")


def find_layout(checkpoint: Checkpoint) -> ModelLayout:
    """What an adapter makes of a checkpoint, and every other matrix by the pattern of its name."""
    names = list_architecture_names(checkpoint)
    table = GGUF_ADAPTERS if checkpoint.kind == "gguf" else ADAPTERS
    places = [table[normalize_architecture(name)] for name in names if normalize_architecture(name) in table]
    if not places:
        return make_unknown_layout(checkpoint, names[0] if names else "")
    return _add_unmapped_weights(checkpoint, load_adapter(places[0])(checkpoint))


def load_adapter(place: str) -> _Adapter:
    module, function = place.split(":")
    adapter: _Adapter = getattr(import_module(f"glassformer.lens.adapt.{module}"), function)
    return adapter


def _add_unmapped_weights(checkpoint: Checkpoint, layout: ModelLayout) -> ModelLayout:
    """The layout, with the matrices that its adapter has no name for."""
    mapped = {weight.view.tensor for weight in layout.weights}
    others = [tensor for tensor in checkpoint.tensors.values() if tensor.name not in mapped]
    rest = list_pattern_weights(tensor for tensor in others if not _is_causal_mask(tensor))
    if not rest:
        return layout
    kinds = sorted({weight.type for weight in rest})
    shown = ", ".join(quote_name(kind) for kind in kinds[:3]) + (" and others" if len(kinds) > 3 else "")
    note = f"matrices with no role in this architecture, by their own names: {shown} ({len(rest)} in all)"
    return replace(layout, weights=layout.weights + rest, notes=(*layout.notes, note))


def _is_causal_mask(tensor: Tensor) -> bool:
    """Whether it is a causal mask, which old files of GPT-2 and GPT-NeoX keep among the weights."""
    return tensor.name.endswith(_MASKS) and tensor.shape[:2] == (1, 1) and len(tensor.shape) == 4
