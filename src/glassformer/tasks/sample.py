"""Sequences that follow a rule, in JAX: position first, batch last, on whatever device there is.

The one module of the rule tasks that imports JAX:

    sequences = sample_pool(automaton, key, Sequences(2000, 20, 50))      # once
    tokens, states = cut_windows(sequences, key, (steps, batch), size=9)  # as often as needed
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int, PRNGKeyArray

from glassformer.core.errors import require_value
from glassformer.tasks.automaton import Automaton
from glassformer.tasks.prompts import Prompts
from glassformer.tasks.sequences import Sequences


class SequencePool(NamedTuple):
    """Sequences to cut windows from; every one runs to the full length, its own end is in lengths."""

    tokens: Int[Array, "pos batch"]
    states: Int[Array, "pos+1 batch"]  # before each token and after the last
    lengths: Int[Array, " batch"]


def sample_sequences(
    automaton: Automaton, key: PRNGKeyArray, count: int, length: int
) -> tuple[Int[Array, "pos batch"], Int[Array, "pos+1 batch"]]:
    """Tokens of rule-following sequences, and the state before each token and after the last."""
    cumulative = jnp.asarray(_cumulative(automaton))  # tok state
    following = jnp.asarray(automaton.next)
    start = jnp.full(count, automaton.start, following.dtype)

    def step(state: Array, key: Array) -> tuple[Array, tuple[Array, Array]]:
        chance = jax.random.uniform(key, (count,))
        token = (cumulative[:, state] <= chance).sum(axis=0, dtype=jnp.int32)
        state = following[state, token]
        return state, (token, state)

    _, (tokens, states) = jax.lax.scan(step, start, jax.random.split(key, length))
    return tokens, jnp.concatenate([start[None], states])


def sample_pool(automaton: Automaton, key: PRNGKeyArray, data: Sequences) -> SequencePool:
    """All sequences of the data, stored small."""
    key_tokens, key_lengths = jax.random.split(key)
    tokens, states = sample_sequences(automaton, key_tokens, data.count, data.max_length)
    lengths = jax.random.randint(key_lengths, (data.count,), data.min_length, data.max_length + 1)
    return SequencePool(
        tokens.astype(_smallest(len(automaton.tokens))),
        states.astype(_smallest(len(automaton.states))),
        lengths,
    )


def cut_windows(
    sequences: SequencePool, key: PRNGKeyArray, shape: tuple[int, ...], size: int
) -> tuple[Int[Array, "pos *batch"], Int[Array, "pos+1 *batch"]]:
    """Windows of random sequences from random starts, `size` tokens each, and the states around them.

    The size must not pass the shortest sequence (`Sequences.require_window`).
    """
    longest, count = sequences.tokens.shape
    require_value(1 <= size <= longest, "the window", f"between 1 and {longest} tokens", size)
    key_which, key_start = jax.random.split(key)
    which = jax.random.randint(key_which, shape, 0, count)
    start = jax.random.randint(key_start, shape, 0, sequences.lengths[which] - size + 1)
    position = start + jnp.arange(size + 1).reshape(-1, *(1 for _ in shape))  # pos+1 *shape
    return sequences.tokens[position[:-1], which], sequences.states[position, which]


def sample_windows(
    automaton: Automaton, key: PRNGKeyArray, count: int, data: Sequences, size: int
) -> tuple[Int[Array, "pos batch"], Int[Array, "pos+1 batch"]]:
    """Windows from a fresh pool: what a model sees of the data, and the states behind it."""
    data.require_window(size)
    key_pool, key_cut = jax.random.split(key)
    return cut_windows(sample_pool(automaton, key_pool, data), key_cut, (count,), size)


def sample_balanced_prompts(prompts: Prompts, key: PRNGKeyArray, count: int) -> Int[Array, "pos batch"]:
    """Prompts of a question with their answers, every answer equally likely."""
    key_answer, *keys = jax.random.split(key, 1 + len(prompts.slots))
    answer = jax.random.randint(key_answer, (count,), 0, len(prompts.shares.answers))
    state, found = jnp.zeros(count, jnp.int32), []
    for level, slot, one in zip(prompts.shares.levels, prompts.slots, keys, strict=True):
        ends = jnp.asarray(level.ends, jnp.float32)[state, answer]  # batch choice
        choice = (ends <= jax.random.uniform(one, (count, 1))).sum(1, dtype=jnp.int32)
        found.append(jnp.asarray(slot, jnp.int32)[choice])
        state = jnp.asarray(level.after, jnp.int32)[state, choice]
    return jnp.stack([*found, jnp.asarray(prompts.shares.answers, jnp.int32)[answer]])


def _cumulative(automaton: Automaton) -> Float32[np.ndarray, "tok state"]:
    """Upper ends of each token's share of [0, 1); a token without a share is never drawn.

    From the last possible token on the end is 2, above any draw, so that rounding the sums to
    float32 cannot let a draw fall behind it.
    """
    cumulative = automaton.probability.cumsum(axis=1)
    later = automaton.probability[:, ::-1].cumsum(axis=1)[:, ::-1] - automaton.probability
    cumulative[later <= 0] = 2
    return np.ascontiguousarray(cumulative.T, np.float32)


def _smallest(count: int) -> type[np.signedinteger]:
    """The smallest signed type that holds 0..count, so that large pools stay cheap to gather."""
    kinds: tuple[type[np.signedinteger], ...] = (np.int8, np.int16, np.int32)
    return next(kind for kind in kinds if count <= np.iinfo(kind).max)
