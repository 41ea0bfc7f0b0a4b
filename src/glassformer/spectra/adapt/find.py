"""Which adapter reads a checkpoint: one table from the names of architectures to functions.

>>> import numpy as np
>>> from glassformer.spectra.read.tensor import in_memory
>>> stored = {"blocks.0.mix.weight": in_memory("blocks.0.mix.weight", np.eye(3))}
>>> layout = find_layout(Checkpoint("toy", "toy", "safetensors", {"model_type": "mamba"}, stored, ""))
>>> layout.notes
("no adapter for architecture 'mamba': every matrix's spectrum, but no heads",)
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module

from glassformer.spectra.adapt import families
from glassformer.spectra.adapt.config import architecture_names, plain
from glassformer.spectra.adapt.unknown import pattern_weights, unknown_layout
from glassformer.spectra.layout import Layout
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.quoted import quoted
from glassformer.spectra.read.tensor import Tensor

Adapter = Callable[[Checkpoint], Layout]

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
MASKS = (".attn.bias", ".attention.bias")


def find_layout(checkpoint: Checkpoint) -> Layout:
    """What an adapter makes of a checkpoint, and every other matrix by the pattern of its name."""
    names = architecture_names(checkpoint)
    table = GGUF_ADAPTERS if checkpoint.kind == "gguf" else ADAPTERS
    places = [table[plain(name)] for name in names if plain(name) in table]
    if not places:
        return unknown_layout(checkpoint, names[0] if names else "")
    return with_the_rest(checkpoint, load_adapter(places[0])(checkpoint))


def load_adapter(place: str) -> Adapter:
    module, function = place.split(":")
    adapter: Adapter = getattr(import_module(f"glassformer.spectra.adapt.{module}"), function)
    return adapter


def with_the_rest(checkpoint: Checkpoint, layout: Layout) -> Layout:
    """The layout, with the matrices that its adapter has no name for."""
    mapped = {weight.view.tensor for weight in layout.weights}
    others = [tensor for tensor in checkpoint.tensors.values() if tensor.name not in mapped]
    rest = pattern_weights(tensor for tensor in others if not is_mask(tensor))
    if not rest:
        return layout
    kinds = sorted({weight.type for weight in rest})
    shown = ", ".join(quoted(kind) for kind in kinds[:3]) + (" and others" if len(kinds) > 3 else "")
    note = f"matrices with no role in this architecture, by their own names: {shown} ({len(rest)} in all)"
    return replace(layout, weights=layout.weights + rest, notes=(*layout.notes, note))


def is_mask(tensor: Tensor) -> bool:
    """Whether it is a causal mask, which old files of GPT-2 and GPT-NeoX keep among the weights."""
    return tensor.name.endswith(MASKS) and tensor.shape[:2] == (1, 1) and len(tensor.shape) == 4
