"""Queries, keys and scores in plain NumPy, and models of any architecture to draw."""

from dataclasses import replace

import numpy as np

from glassformer.core.theme import THEMES
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.pictures.picture import Picture
from tests.pictures.conftest import subject_of

PLAIN = ("plus_last_even", "step_back", "even_repeat_last_odd")  # one head of 2 and of 4, two of 6


def raw(subject, head=0):
    """Queries, keys and values of a head, `tok pos dim`, and the scale: the reference model by hand."""
    params = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    inputs = params["token.weight"][:, None] + params["position.weight"][None]
    size = subject.model.architecture.layers[0].attention.head_size
    rows = slice(head * size, (head + 1) * size)
    return *(inputs @ params[f"attn.{kind}.weight"][rows].T for kind in "qkv"), size**-0.5


def raw_scores(subject, head=0):
    """Every query against every key; later keys are nan."""
    q, k, _, scale = raw(subject, head)
    scores = np.einsum("tpd,uqd->tpuq", q, k) * scale
    places = np.arange(q.shape[1])
    return np.where((places[:, None] >= places)[None, :, None], scores, np.nan)


def changed(subject, name, factor=2.0):
    """The same subject with one parameter multiplied."""
    params = dict(subject.model.params)
    params[name] = params[name] * factor
    return replace(subject, model=replace(subject.model, params=params))


def with_architecture(architecture, seed=0):
    """plus_last_even's rule on another model, of random weights."""
    random = np.random.default_rng(seed)
    params = {
        name: random.normal(size=parameter.shape).astype(np.float32)
        for name, parameter in list_parameters(architecture).items()
    }
    return replace(subject_of("plus_last_even"), model=Model(architecture, params))


def drawn(module, subject, theme="light"):
    picture = Picture("X", module, "", module)
    data = picture.compute(subject)
    return data, picture.draw(data, THEMES[theme])
