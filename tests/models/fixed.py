"""A model with fixed entries, and its first numbers."""

from dataclasses import replace
from functools import cache

import jax
import numpy as np

from glassformer.models.architecture import FixedEntry, make_reference_architecture
from glassformer.training.flat import sample_first_values
from glassformer.training.streams import make_stream_key

FREE = make_reference_architecture(vocab=5, context=3)
FIXED = (
    FixedEntry("attn.q.weight", (0, 1), 0.0),
    FixedEntry("head.bias", (2,), 1.5),
    FixedEntry("attn.q.weight", (1, 0), 0.25),
)
MODEL = replace(FREE, fixed=FIXED)


@cache
def start():
    """The first free numbers of a seed; not at import: every worker collects this file."""
    return np.asarray(jax.jit(sample_first_values, static_argnums=0)(MODEL, make_stream_key(0, "start")))
