"""The forward pass written out from the raw weights."""

from dataclasses import replace
from functools import cache

import numpy as np

from glassformer.pictures.measure.subject import Subject
from tests.pictures.conftest import subject_of

CLOSE = {"rtol": 2e-3, "atol": 2e-3}  # the model's numbers are single, those here double


def weights(subject: Subject) -> dict[str, np.ndarray]:
    return {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}


def fold(subject: Subject, middle: np.ndarray) -> np.ndarray:
    """h for states z."""
    p = weights(subject)
    hidden = np.maximum(middle @ p["ff.up.weight"].T + p["ff.up.bias"], 0)
    written = hidden @ p["ff.down.weight"].T + p["ff.down.bias"]
    return middle + written if subject.model.architecture.layers[-1].residual else written


def chances(subject: Subject, final: np.ndarray) -> np.ndarray:
    p = weights(subject)
    logits = final @ p["head.weight"].T + p["head.bias"]
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def by_hand(subject: Subject, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """e, attention's weights, every place's message, z, h and the probabilities, for the last place."""
    p, heads = weights(subject), subject.heads
    e = p["token.weight"][tokens] + p["position.weight"][: len(tokens)]
    size = p["attn.q.weight"].shape[0] // heads
    q, k, v = (e @ p[f"attn.{name}.weight"].T for name in "qkv")
    out = p.get("attn.out.weight", np.eye(heads * size))
    shares, messages = [], []
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        scores = k[:, own] @ q[-1, own] / np.sqrt(size)
        powers = np.exp(scores - scores.max())
        shares.append(powers / powers.sum())
        messages.append(v[:, own] @ out[:, own].T)
    moved = np.einsum("hp,hpd->d", shares, messages)
    z = e[-1] + moved if subject.model.architecture.layers[-1].residual else moved
    h = fold(subject, z)
    found = {
        "e": e[-1],
        "weights": shares,
        "messages": messages,
        "z": z,
        "h": h,
        "chances": chances(subject, h),
    }
    return {name: np.asarray(array) for name, array in found.items()}


@cache
def computed(module, name: str) -> dict:
    return module.compute(subject_of(name))


def nudged(subject: Subject, name: str) -> Subject:
    """The same subject with one weight changed."""
    params = dict(subject.model.params)
    params[name] = np.asarray(params[name]).copy()
    params[name].flat[0] += 0.5
    return replace(subject, model=replace(subject.model, params=params))
