"""What every figure, panel and film is about: the model at one step, its task, some inputs, and its past.

Arrays over all token-position pairs are `tok pos dim`; they come from contexts that repeat one token, for
embeddings, queries, keys and values depend on their own token and position alone.
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.models.attention import Attention, AttentionSite
from glassformer.models.blocks import to_dense
from glassformer.models.forward import format_layer_prefix, ignore_record, untie_parameters
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.measure.inputs import Inputs, Pair, make_inputs
from glassformer.pictures.measure.plane import Plane, fit_plane
from glassformer.pictures.measure.trials import Trials
from glassformer.proofs.contexts import Demand
from glassformer.runs.config import Run
from glassformer.runs.history import History
from glassformer.runs.metrics import Row
from glassformer.tasks import Addition, Sequences, Task
from glassformer.tasks.addition import require_addition
from glassformer.tasks.automaton import Automaton

if TYPE_CHECKING:
    from glassformer.pictures.poster.sums import Sums

TRIALS = 4_000  # contexts that measured figures are about


@dataclass(frozen=True, eq=False)
class Past:
    """How a run came to its model."""

    history: History | None = None
    rows: list[Row] = field(default_factory=list)  # every evaluation of every seed
    best_seed: int = 0
    run: Run | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, and what is to be shown of it."""

    model: Model
    task: Task
    data: Sequences
    name: str  # of the run or model
    sequences: tuple[Int[np.ndarray, " _pos"], ...]  # inputs to follow, those of the user first
    step: int | None = None  # the training step of the weights; none: the last
    past: Past = field(default_factory=Past)
    dims: tuple[int, int] | None = None  # of the stream, for wide models; none: the two main directions
    query: tuple[int, int] | None = None  # token and position; none: the last of the first sequence
    pair: Pair | None = None  # additions: the sum that is worked through; none: the hardest that is known
    folder: Path | None = None  # of the run, where there is one
    trained_digits: int | None = None  # where the pair is longer, and the model takes every length

    @cached_property
    def inputs(self) -> Inputs:
        """What differs by the family of the task."""
        found: Inputs = make_inputs(self.task, self.context)
        return found

    @property
    def automaton(self) -> Automaton:
        found = self.inputs.automaton()
        if found is None:
            raise UserError(f"{self.name} {self.task.words.ability}: it has no rule")
        return found

    @property
    def addition(self) -> Addition:
        return require_addition(self.task, self.name)

    @cached_property
    def sums(self) -> "Sums":
        """What the poster shows of an adder: a pair, the verdict, thousands of sums."""
        from glassformer.pictures.poster.sums import make_sums

        return make_sums(self)

    @property
    def law(self) -> str:
        """What says which token comes next: the `rule`, the `task`."""
        return self.inputs.law

    @property
    def words(self) -> dict[str, str]:
        """How figures speak of the task, its inputs, its demands and of errors."""
        spoken = self.task.words
        about = {"law": self.law, "input": self.inputs.one}
        return about | {"error": spoken.error, "demand": spoken.demand}

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.task.tokens()

    @property
    def context(self) -> int:
        return self.model.architecture.context

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(f"p{place}" for place in range(self.context))

    @property
    def layer(self) -> str:
        """The prefix of the names of the last layer, which is the one drawn."""
        return format_layer_prefix(self.model.architecture, len(self.model.architecture.layers) - 1)

    @property
    def entering(self) -> str:
        """The name of the stream that enters the last layer."""
        layers = len(self.model.architecture.layers)
        return (
            "embedded" if layers == 1 else f"{format_layer_prefix(self.model.architecture, layers - 2)}stream"
        )

    @property
    def attention(self) -> Attention:
        found = self.model.architecture.layers[-1].attention
        if found is None:
            raise UserError(f"{self.name} has no attention in its last layer, so there is nothing to draw")
        return found

    @property
    def heads(self) -> int:
        return self.attention.heads

    def need_heads(self, most: int) -> None:
        """A sentence instead of a figure that has no room for so many heads."""
        if self.heads > most:
            raise UserError(f"{self.name} has {self.heads} heads, and this figure has room for {most}")

    @cached_property
    def pairs(self) -> dict[str, np.ndarray]:
        """Every intermediate for every token at every position: name to `tok pos dim`."""
        vocab = len(self.tokens)
        return self.model.trace(np.repeat(np.arange(vocab)[:, None], self.context, 1))

    @property
    def embedded(self) -> Float[np.ndarray, "tok pos dim"]:
        return self.pairs["embedded"]

    @cached_property
    def token_table(self) -> Float[np.ndarray, "tok dim"]:
        """Tokens without positions, as wide as the stream (zeros where positions are stacked under them)."""
        table = np.asarray(self.pairs["token.table"], np.float64)
        return np.pad(table, ((0, 0), (0, self.model.architecture.width - table.shape[1])))

    @cached_property
    def position_table(self) -> Float[np.ndarray, "pos dim"]:
        """What a position adds to any token."""
        found: np.ndarray = self.embedded[0].astype(np.float64) - self.token_table[0]
        return found

    @cached_property
    def messages(self) -> Float[np.ndarray, "head tok pos dim"]:
        """What a head would add to the stream if it looked at one token and position alone."""
        return np.stack([self.message(head) for head in range(self.heads)])

    def message(self, head: int) -> Float[np.ndarray, "tok pos dim"]:
        """One head's values, carried through to the stream; an output bias is left out."""
        return self.written(head, self.pairs[f"{self.layer}attn.input"])

    def written(
        self, head: int, inputs: Float[np.ndarray, "batch pos dim"]
    ) -> Float[np.ndarray, "batch pos dim"]:
        """What one head would write if it looked at one position alone, for each of attention's inputs."""
        shape, attention = self.model.architecture, self.attention
        params = untie_parameters(shape, self.model.params)
        stream = np.ascontiguousarray(inputs.transpose(2, 1, 0))  # dim pos batch
        here = AttentionSite(
            NumpyOps(shape.precision), params, f"{self.layer}attn", stream, range(stream.shape[1])
        )
        _, _, values = attention.project(here)
        carried = [attention.carried(here, other, values) for other in range(attention.heads)]
        alone = [part if other == head else part * 0 for other, part in enumerate(carried)]
        nothing = attention.write(here, [part * 0 for part in carried], ignore_record)
        return np.asarray(
            (to_dense(attention.write(here, alone, ignore_record)) - to_dense(nothing)).transpose(2, 1, 0)
        )

    @cached_property
    def attention_bias(self) -> Float[np.ndarray, " dim"]:
        """What attention adds to the stream whatever it looks at: the bias of its output projection."""
        shape, attention = self.model.architecture, self.attention
        nowhere = np.zeros((shape.width, 1, 1), shape.precision)  # dim pos batch
        params = untie_parameters(shape, self.model.params)
        here = AttentionSite(NumpyOps(shape.precision), params, f"{self.layer}attn", nowhere, range(1))
        values = attention.project(here)[2]
        nothing = [attention.carried(here, head, values) * 0 for head in range(attention.heads)]
        return np.asarray(to_dense(attention.write(here, nothing, ignore_record)), np.float64)[:, 0, 0]

    def queries(self, head: int) -> Float[np.ndarray, "tok pos dim"]:
        """As they meet the keys: normed and turned, before the scale of the scores."""
        return self.pairs[f"{self.layer}attn.query.{head}"]

    def keys(self, head: int) -> Float[np.ndarray, "tok pos dim"]:
        return self.pairs[f"{self.layer}attn.key.{head}"]

    def scores(self, head: int) -> Float[np.ndarray, "tok pos tok pos"]:
        """Every (token, position) query against every (token, position) key; later ones are not masked."""
        shape, scale = self.model.architecture, self.attention.score_scale
        products = np.einsum("tpd,uqd->tpuq", self.queries(head), self.keys(head), optimize=True) * scale
        params = untie_parameters(shape, self.model.params)
        nowhere = np.zeros((shape.width, self.context, 1))  # dim pos batch: a shift reads no stream
        here = AttentionSite(NumpyOps(), params, f"{self.layer}attn", nowhere, range(self.context))
        shift = np.asarray(self.attention.shift(here, head, self.context))
        return np.asarray(products + np.where(shift > -1e29, shift, 0.0)[None, :, None, :])

    @cached_property
    def trials(self) -> Trials:
        """Inputs whose next token the task fixes and the tokens tell."""
        return self.inputs.trials(TRIALS)

    @cached_property
    def trial_traces(self) -> dict[str, np.ndarray]:
        """Every intermediate for the trials."""
        return self.model.trace(self.trials.contexts) if len(self.trials) else {}

    def trace(self, index: int) -> dict[str, np.ndarray]:
        """Every intermediate for one of the sequences."""
        return self.model.trace(self.sequences[index])

    def labels(self, index: int) -> tuple[str, ...]:
        """The tokens of one of the sequences."""
        return tuple(self.tokens[token] for token in self.sequences[index])

    def demands(self, index: int) -> list[Demand]:
        """What must follow each position of one of the sequences, as far as the tokens up to there tell."""
        return self.inputs.demands(self.sequences[index])

    def demanded(self, index: int) -> Demand:
        """What must follow one of the sequences."""
        return self.demands(index)[-1]

    def source(self, index: int) -> int | None:
        """The position of the token that alone decides what follows one of the sequences, if there is one."""
        return self.inputs.source(self.sequences[index])

    @cached_property
    def stream_plane(self) -> Plane:
        """For everything that lives in the residual stream: e, messages, z, h and the head."""
        seen = [self.embedded.reshape(-1, self.embedded.shape[-1])]
        if len(self.trials):
            last = self.trial_traces
            names = [f"{self.layer}{part}" for part in ("mid", "stream")]
            seen += [last[name][:, -1] for name in names if name in last]
        return fit_plane(np.concatenate(seen), "stream", self.dims)

    def qk_plane(self, head: int) -> Plane:
        """For queries and keys alike, so that q . k is what is seen."""
        both = np.concatenate([self.queries(head), self.keys(head)])
        return fit_plane(both, "q, k")
