"""Every use of randomness has its own stream: evaluation draws are not those of training.

Short pairs of numbers, of which there are few, may come up in both; the board's never do. All prompts of a
question may.
"""

import jax
from jaxtyping import Array, PRNGKeyArray

STREAMS = {"start": 0, "steps": 1, "pool": 2, "held_out": 3, "polish": 4, "fresh": 5, "generate": 6}


def make_stream_key(seed: int | Array, use: str) -> PRNGKeyArray:
    return jax.random.fold_in(jax.random.key(seed), STREAMS[use])
