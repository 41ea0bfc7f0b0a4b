"""The reference model once more, in plain NumPy, and what plus_last_even asks for."""

from dataclasses import replace

import numpy as np

from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.sequence_rows import TokenKind


def with_params(subject: Subject, **changed: np.ndarray) -> Subject:
    """The same subject with some weights replaced; `head_bias` stands for `head.bias`."""
    params = dict(subject.model.params) | {name.replace("_", "."): array for name, array in changed.items()}
    return replace(subject, model=replace(subject.model, params=params))


def plain_logits(params: dict[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """The reference model with one head, written out: the logits after the last of `batch pos` tokens."""
    at = {name: np.asarray(array, np.float64) for name, array in params.items()}
    e = at["token.weight"][tokens] + at["position.weight"][: tokens.shape[1]]
    q, k, v = (e @ at[f"attn.{name}.weight"].T for name in "qkv")
    scores = np.exp(q[:, -1:] @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    z = e[:, -1] + (scores / scores.sum(-1, keepdims=True) @ v)[:, 0]
    hidden = np.maximum(0, z @ at["ff.up.weight"].T + at["ff.up.bias"])
    h = z + hidden @ at["ff.down.weight"].T + at["ff.down.bias"]
    return h @ at["head.weight"].T + at["head.bias"]


def verdicts(tokens: tuple[str, ...], given: int = 0) -> list[tuple[int, int]]:
    """plus_last_even by hand: (kind, source) of every token, the source -1 where no even one was seen."""
    found = []
    for place, token in enumerate(tokens):
        if place < max(given, 1) or tokens[place - 1] != "+":
            found.append((TokenKind.FREE, -1))
            continue
        evens = [i for i in range(place) if tokens[i] != "+" and int(tokens[i]) % 2 == 0]
        allowed = {tokens[evens[-1]]} if evens else {"0", "2", "4", "6", "8", "10"}
        found.append((TokenKind.RIGHT if token in allowed else TokenKind.WRONG, evens[-1] if evens else -1))
    return found
