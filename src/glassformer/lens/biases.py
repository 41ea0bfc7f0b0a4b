"""The score's four terms, kept apart: (W_Q x + b_q)' R (W_K y + b_k).

    x' W_Q' R W_K y   content: what query and key tokens say to each other
    b_q' R W_K y      key only: some keys are liked by every query
    x' W_Q' R b_k     query and position: the same for all keys at one distance; without RoPE, for all keys,
                      and softmax does not see it
    b_q' R b_k        position alone

Appended to the weights as a column, a large key bias would make every kernel look like rank 1. Sizes are
Frobenius and Euclidean norms.
"""

import numpy as np
from jaxtyping import Float

from glassformer.lens.layout import HeadLayout, Vector
from glassformer.lens.matrix import read_vector
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.results import BiasTerms
from glassformer.lens.treatments import Treatment, compute_turn

_Rows = Float[np.ndarray, "head width"]
_Bias = Float[np.ndarray, "head"]


def measure_bias_terms(
    checkpoint: Checkpoint, head: HeadLayout, treatment: Treatment, query: _Rows, key: _Rows, content: float
) -> BiasTerms | None:
    """Sizes of the four terms for treated maps whose kernel has the norm `content`; none without biases."""
    if head.query_bias is None and head.key_bias is None:
        return None
    size = query.shape[0]
    query_bias = _treat_bias(checkpoint, head.query_bias, head.query_norm, treatment, size)
    key_bias = _treat_bias(checkpoint, head.key_bias, head.key_norm, treatment, size)
    turned = compute_turn(head, treatment, size)
    between = np.eye(size) if turned is None else turned
    return BiasTerms(
        content=content,
        key_only=float(np.linalg.norm(key.T @ (between.T @ query_bias))),
        query_position=float(np.linalg.norm(query.T @ (between @ key_bias))),
        position=float(abs(query_bias @ between @ key_bias)),
    )


def _treat_bias(
    checkpoint: Checkpoint, bias: Vector | None, norm: Vector | None, treatment: Treatment, size: int
) -> _Bias:
    """A bias is added before the norm on queries or keys, so that norm's gains are folded into it too."""
    if bias is None:
        return np.zeros(size)
    stored = read_vector(checkpoint, bias)
    return stored * read_vector(checkpoint, norm) if treatment.is_folded and norm else stored
