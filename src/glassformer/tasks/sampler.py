"""Where training data come from, family by family: windows of a rule, prompts of a question, sums.

A new pool of sequences is drawn again and again while training, so that a model cannot learn one by heart;
prompts and pairs are drawn afresh at every step.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from glassformer.tasks.addition import Addition
from glassformer.tasks.automaton import tabulate_automaton
from glassformer.tasks.board import replace_board_pairs
from glassformer.tasks.hard import draw_hard_pairs
from glassformer.tasks.knowledge import tabulate_knowledge
from glassformer.tasks.pairs import draw_problems, draw_training_pairs
from glassformer.tasks.prompts import Prompts, make_prompts
from glassformer.tasks.sample import (
    cut_windows,
    sample_balanced_prompts,
    sample_pool,
    sample_sequences,
    sample_windows,
)
from glassformer.tasks.sequences import Sequences

if TYPE_CHECKING:
    from glassformer.tasks.question import Question
    from glassformer.tasks.rule import Rule
    from glassformer.tasks.strings import Strings


class HeldOutWindows(NamedTuple):
    """Windows to evaluate on: which predictions count, and which tokens are right there."""

    tokens: Int[Array, "pos+1 batch"]
    allowed: Bool[Array, "tok pos batch"]
    counted: Bool[Array, "pos batch"]


class Sampler(Protocol):
    """What the training loop asks of a task; `outputs` is how many of the last positions are predicted."""

    @property
    def size(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def vocab(self) -> int: ...

    def shared(self, key: PRNGKeyArray) -> Any: ...
    def draw(
        self, shared: Any, key: PRNGKeyArray, steps: Int[Array, " step"], batch: int
    ) -> Int[Array, "step window batch"]: ...
    def held_out(self, key: PRNGKeyArray, count: int) -> HeldOutWindows: ...


@dataclass(frozen=True)
class WindowSampler:
    """Windows of context + 1 tokens, cut from rule-following sequences; every position is predicted."""

    rule: "Rule"
    data: Sequences
    context: int

    def __post_init__(self) -> None:
        self.data.require_window(self.size)

    @property
    def size(self) -> int:
        return self.context + 1

    @property
    def outputs(self) -> int:
        return self.context

    @property
    def vocab(self) -> int:
        return len(self.rule.tokens())

    def shared(self, key: PRNGKeyArray) -> Any:
        return sample_pool(tabulate_automaton(self.rule), key, self.data)

    def draw(
        self, shared: Any, key: PRNGKeyArray, steps: Int[Array, " step"], batch: int
    ) -> Int[Array, "step window batch"]:
        tokens, _ = cut_windows(shared, jax.random.fold_in(key, steps[0]), (len(steps), batch), self.size)
        return jnp.moveaxis(tokens, 1, 0)

    def held_out(self, key: PRNGKeyArray, count: int) -> HeldOutWindows:
        """Only constrained positions that the window itself resolves are counted."""
        automaton = tabulate_automaton(self.rule)
        draw = jax.jit(lambda key: sample_windows(automaton, key, count, self.data, self.size))
        tokens, states = map(np.asarray, draw(key))
        before = states[1:-1]  # the state in which each target is chosen
        resolved = _mark_resolved(self.rule, tokens[:-1])
        allowed = np.moveaxis(automaton.allowed[before], -1, 0)
        counted = automaton.constrained[before] & resolved
        return HeldOutWindows(jnp.asarray(tokens), jnp.asarray(allowed), jnp.asarray(counted))


def _mark_resolved(rule: "Strings", tokens: Int[np.ndarray, "pos batch"]) -> Bool[np.ndarray, "pos batch"]:
    """Whether the tokens up to and with each position fix what the rule asks for next."""
    knowledge = tabulate_knowledge(tabulate_automaton(rule))
    known = np.full(tokens.shape[1], knowledge.start)
    resolved = np.empty(tokens.shape, bool)
    for position, read in enumerate(tokens):
        known = knowledge.next[known, read]
        resolved[position] = knowledge.resolved[known]
    return resolved


@dataclass(frozen=True)
class PromptSampler:
    """Whole prompts with their answers, drawn afresh; the answer alone is predicted."""

    question: "Question"

    @property
    def size(self) -> int:
        return self.question.length

    @property
    def outputs(self) -> int:
        return 1

    @property
    def vocab(self) -> int:
        return len(self.question.tokens())

    @property
    def prompts(self) -> Prompts:
        return make_prompts(tabulate_automaton(self.question))

    def shared(self, key: PRNGKeyArray) -> Any:
        return ()

    def draw(
        self, shared: Any, key: PRNGKeyArray, steps: Int[Array, " step"], batch: int
    ) -> Int[Array, "step window batch"]:
        """The first ones of each batch have all answers equally likely."""
        key_plain, key_balanced = jax.random.split(jax.random.fold_in(key, steps[0]))
        count = round(self.question.balance * batch)
        plain, _ = sample_sequences(
            tabulate_automaton(self.question), key_plain, len(steps) * (batch - count), self.size
        )
        balanced = sample_balanced_prompts(self.prompts, key_balanced, len(steps) * count)
        parts = (part.reshape(self.size, len(steps), -1) for part in (balanced, plain))
        return jnp.moveaxis(jnp.concatenate(list(parts), axis=2), 1, 0)

    def held_out(self, key: PRNGKeyArray, count: int) -> HeldOutWindows:
        """All prompts where they are few enough; else half uniform, half of every answer alike."""
        prompts, random = self.prompts, np.random.default_rng(np.asarray(jax.random.key_data(key)))
        if prompts.count <= count:
            tokens = prompts.between(0, prompts.count)
        else:
            halves = prompts.drawn(random, count - count // 2), prompts.balanced(random, count // 2)
            tokens = np.concatenate(halves, axis=1)
        return _make_held_out(np.concatenate([tokens, prompts.answers(tokens)[None]]), 1, self.vocab)


@dataclass(frozen=True)
class SumSampler:
    """Whole problems; only the answer's digits are predicted."""

    addition: Addition

    @property
    def size(self) -> int:
        return self.addition.written().length

    @property
    def outputs(self) -> int:
        return self.addition.digits + 1

    @property
    def vocab(self) -> int:
        return len(self.addition.tokens())

    def shared(self, key: PRNGKeyArray) -> Any:
        return ()

    def draw(
        self, shared: Any, key: PRNGKeyArray, steps: Int[Array, " step"], batch: int
    ) -> Int[Array, "step window batch"]:
        return draw_problems(key, steps, batch, self.addition).astype(jnp.int8)

    def held_out(self, key: PRNGKeyArray, count: int) -> HeldOutWindows:
        """Half uniform pairs of full length, as after the curriculum; half hard ones, of every kind alike."""
        late = jnp.array(
            [max(self.addition.carry_gone, *(until for until, _ in self.addition.digit_stages), 0)]
        )
        uniform = (
            np.asarray(part[0]) for part in draw_training_pairs(key, late, count - count // 2, self.addition)
        )
        random, base = np.random.default_rng(np.asarray(jax.random.key_data(key))), self.addition.base
        hard = self.addition.match_pair(*draw_hard_pairs(random, count // 2, self.addition.digits, base))
        parts = zip(uniform, replace_board_pairs(*hard, base), strict=True)
        x, y = (np.concatenate(both, axis=1) for both in parts)
        tokens = np.asarray(self.addition.written().encode(x, y, self.addition.solve_digits(x, y)), np.int8)
        return _make_held_out(tokens, self.outputs, self.vocab)


def _make_held_out(tokens: Int[np.ndarray, "window batch"], outputs: int, vocab: int) -> HeldOutWindows:
    """Windows whose last tokens count, each with its own token as the only right one."""
    targets = tokens[1:]
    counted = np.zeros(targets.shape, bool)
    counted[-outputs:] = True
    allowed = targets[None] == np.arange(vocab)[:, None, None]
    return HeldOutWindows(jnp.asarray(tokens), jnp.asarray(allowed), jnp.asarray(counted))
