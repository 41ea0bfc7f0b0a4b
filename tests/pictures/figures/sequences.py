"""A pass over a sequence from the raw weights: plain NumPy, none of the code under test."""

from dataclasses import replace

import numpy as np

from glassformer.pictures.measure.subject import Subject

CLOSE = {"rtol": 2e-4, "atol": 2e-4}  # float32 sums of numbers up to a thousand, in another order


def raw_pass(subject: Subject, tokens: np.ndarray) -> dict[str, np.ndarray]:
    """One context through one layer, in float64, straight from the stored arrays."""
    w = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    residual = subject.model.architecture.layers[0].residual
    heads, size, count = subject.attention.heads, subject.attention.head_size, len(tokens)
    e = w["token.weight"][tokens] + w["position.weight"][:count]
    q, k, v = (e @ w[f"attn.{kind}.weight"].T for kind in "qkv")
    scores, weights, mixed, messages = [], [], [], []
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        products = q[:, part] @ k[:, part].T / np.sqrt(size)
        masked = np.where(np.tri(count, dtype=bool), products, -np.inf)
        powers = np.exp(masked - masked.max(1, keepdims=True))
        scores.append(products)
        weights.append(powers / powers.sum(1, keepdims=True))
        mixed.append(weights[-1] @ v[:, part])
        out = w["attn.out.weight"][:, part] if "attn.out.weight" in w else np.eye(heads * size)[:, part]
        messages.append(v[:, part] @ out.T)
    output = np.concatenate(mixed, 1)
    output = output @ w["attn.out.weight"].T if "attn.out.weight" in w else output
    z = output + residual * e
    moved = (
        np.maximum(z @ w["ff.up.weight"].T + w["ff.up.bias"], 0) @ w["ff.down.weight"].T + w["ff.down.bias"]
    )
    h = moved + residual * z
    logits = h @ w["head.weight"].T + w["head.bias"]
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return {
        "e": e, "q": q, "k": k, "scores": np.stack(scores), "weights": np.stack(weights), "messages": np.stack(messages),
        "output": output, "z": z, "h": h, "logits": logits, "probabilities": shares / shares.sum(1, keepdims=True),
    }  # fmt: skip


def nudged(subject: Subject, name: str) -> Subject:
    """The same subject with one weight matrix changed."""
    params = dict(subject.model.params)
    params[name] = params[name] * np.float32(1.25) + np.float32(0.01)
    return replace(subject, model=replace(subject.model, params=params))
