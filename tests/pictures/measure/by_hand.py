"""Attention and logits in plain NumPy, and copies of a model with other numbers."""

from dataclasses import replace

import numpy as np

from tests.pictures.conftest import subject_of


def copy_of(name, params=None):
    """A subject of its own, whose cached arrays are not shared."""
    subject = subject_of(name)
    model = subject.model if params is None else replace(subject.model, params=params)
    return replace(subject, model=model)


def weights_by_hand(params, e):
    """Attention of the last place of one context, one head, from e: `pos dim`."""
    q = e[-1] @ params["attn.q.weight"].T
    k = e @ params["attn.k.weight"].T
    scores = k @ q / np.sqrt(len(q))
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def logits_by_hand(params, context, weights=None, e=None, residual=True):
    """One context of a model with one head and no output projection."""
    p = {name: array.astype(np.float64) for name, array in params.items()}
    e = p["token.weight"][context] + p["position.weight"][: len(context)] if e is None else e
    weights = weights_by_hand(p, e) if weights is None else weights
    moved = weights @ (e @ p["attn.v.weight"].T)
    z = e[-1] + moved if residual else moved
    bent = np.maximum(p["ff.up.weight"] @ z + p["ff.up.bias"], 0)
    written = p["ff.down.weight"] @ bent + p["ff.down.bias"]
    h = z + written if residual else written
    return p["head.weight"] @ h + p["head.bias"]
