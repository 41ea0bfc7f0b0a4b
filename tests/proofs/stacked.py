"""Adders and rule models with one more layer of attention, before or behind their own."""

from dataclasses import replace

import numpy as np

from glassformer.models.architecture import FixedEntry, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.projection import FullProjection

SHARED = ("token", "position", "final_norm", "head")  # parts that belong to no layer


def stack_layer(model, size, behind=True, seed=0, layer=None):
    """The model with a random layer whose output is of about this size; 0: it writes nothing."""
    shape, random = model.architecture, np.random.default_rng(seed)
    assert len(shape.layers) == 1
    layer = layer or Layer(Attention(heads=1, head_size=2, value_size=2, out=FullProjection()), None)
    layers = (*shape.layers, layer) if behind else (layer, *shape.layers)
    own, other = ("layer0.", "layer1.") if behind else ("layer1.", "layer0.")
    ties = tuple(Tie(rename(tie.name, own), rename(tie.to, own)) for tie in shape.ties)
    fixed = tuple(FixedEntry(rename(one.name, own), one.place, one.value) for one in shape.fixed)
    deep = replace(shape, layers=layers, ties=ties, fixed=fixed)
    params = {rename(name, own): part for name, part in model.params.items()}
    for name, one in list_parameters(deep).items():
        if name not in params:
            assert name.startswith(other), name
            scale = size if ".out." in name or (".v." not in name and ".ff." in name) else 1.0
            params[name] = (scale * random.normal(size=one.shape)).astype(shape.precision)
    return Model(deep, params)


def rename(name, prefix):
    """A layer's own parameters carry its number where there are several."""
    return name if name.split(".")[0] in SHARED else prefix + name
