"""Margins of concrete contexts: from the tables in float64, and by the model itself where that is too close.

The margin of a context is the logit of the best allowed token minus that of the best other one. The deployed
margin is off the real one by the bound of `rule_boxes` at most; that of the tables, the same operations in
float64, by no more than three times that bound, and by far less where float32 is deployed. So beyond SURE
times the bound the sign is certain. A tie breaks the rule, as everywhere.

Tables say so only where one layer attends: with more, or with none, the model itself is run, and for real
numbers its pass over numbers with bounds.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from glassformer.core.spread import map_threads
from glassformer.models.attention import AttentionSite
from glassformer.models.bounded import BoundedArray
from glassformer.models.float_format import OWN
from glassformer.models.forward import (
    finish_layer,
    format_layer_prefix,
    forward,
    ignore_record,
    read_out_logits,
)
from glassformer.models.margins import measure_margins
from glassformer.models.model import Model
from glassformer.models.ops_bounded import BoundedOps
from glassformer.models.ops_numpy import NumpyOps
from glassformer.proofs.contexts import NOTHING, Demands
from glassformer.proofs.tables import ModelTables, make_table_pass

SURE = 4.0  # bounds of rounding between a margin of the tables and 0 that make its sign certain
_LEAST_TOTAL = 1e-200  # sum of weights below which these may be no more than underflow: no margin is known
_BLOCK = 1 << 14  # contexts at a time, for the cache
_RUN = 1 << 13  # the same where the model is run
_BOUNDED = 1 << 9  # the same over numbers with bounds

Contexts = Integer[np.ndarray, "context pos"]


class MarginRange(NamedTuple):
    """Where a real margin lies; not a number where the bounds say nothing."""

    least: Float[np.ndarray, " context"]
    most: Float[np.ndarray, " context"]


@dataclass(frozen=True, eq=False)
class ContextMargins:
    """What computes margins; contexts of any length have as many columns as the model has positions."""

    model: Model
    demands: Demands
    tables: ModelTables | None  # none: not all of the model is in tables, and it is run
    real: bool = False

    def quick(
        self, contexts: Contexts, length: Int[np.ndarray, " context"], demand: Int[np.ndarray, " context"]
    ) -> Float[np.ndarray, " context"]:
        """From the tables, or by the model itself; contexts that demand nothing have none (infinite).

        Of real numbers without tables: no more than the margin is.
        """
        if self.tables is None:
            return (
                self.enclosed(contexts, length, demand).least
                if self.real
                else self.deployed(contexts, length, demand)
            )
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(contexts), _BLOCK)]
        found = [self.of_block(contexts[rows], length[rows], demand[rows]) for rows in blocks]
        return np.concatenate(found) if found else np.zeros(0)

    def of_block(self, contexts: Contexts, length: np.ndarray, demand: np.ndarray) -> np.ndarray:
        rows, position = np.arange(len(contexts)), length - 1
        logits = self.logits(contexts, position, contexts[rows, position])  # tok context
        return _compute_demand_gap(logits, self.demands.allowed[demand].T, demand)

    def logits(self, contexts: Contexts, position: np.ndarray, asking: np.ndarray) -> np.ndarray:
        tables, ops = self.tables, NumpyOps("float64")
        assert tables
        architecture = tables.model.architecture
        kept = tables.stream.centre[:, position, asking][:, None]  # dim 1 context
        name, layer = format_layer_prefix(architecture, tables.mixing), architecture.layers[tables.mixing]
        assert layer.attention
        site = AttentionSite(ops, self.params, f"{name}attn", kept, range(1))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            moved = layer.attention.write(site, self.mixes(contexts, position, asking), ignore_record)
            x = finish_layer(layer, ops, self.params, name, kept, moved, ignore_record)
            for index in range(tables.mixing + 1, len(architecture.layers)):
                after = architecture.layers[index]
                x = finish_layer(
                    after, ops, self.params, format_layer_prefix(architecture, index), x, None, ignore_record
                )
            table = tables.token_table.centre
            logits: np.ndarray = read_out_logits(architecture, ops, self.params, x, table, ignore_record)
        return logits[:, 0]

    def mixes(self, contexts: Contexts, position: np.ndarray, asking: np.ndarray) -> list[np.ndarray]:
        """Every head's mix, `dim 1 context`."""
        vocab, positions = self.demands.next.shape[1], contexts.shape[1]
        base = (position * vocab + asking) * (positions * vocab)
        found = []
        assert self.tables
        for head, table in zip(self.tables.heads, self.summands, strict=True):
            sums = np.zeros((len(contexts), table.shape[1]))
            for key in range(int(position.max(initial=-1)) + 1):
                sums += table.take(base + (key * vocab + contexts[:, key]), axis=0)
            sums[:, -1] += head.weights.rest[position, asking]
            sums[sums[:, -1] < _LEAST_TOTAL] = np.nan
            found.append((sums[:, :-1] / sums[:, -1:]).T[:, None])
        return found

    @cached_property
    def is_certain(self) -> bool:
        """Whether the tables are rounded numbers; those behind a layer that attends are ranges."""
        assert self.tables
        before = self.model.architecture.layers[: self.tables.mixing]
        return not any(layer.attention for layer in before)

    @cached_property
    def summands(self) -> list[Float[np.ndarray, "entry number"]]:
        """Weight x value, and the weight, by query position, query token, key position and key token."""
        found = []
        assert self.tables
        for head in self.tables.heads:
            weight = (head.weights.low + head.weights.high) / 2  # query asked key tok
            values = np.moveaxis(head.values.centre, 0, -1)  # key tok dim
            both = np.concatenate([weight[..., None] * values, weight[..., None]], -1)
            found.append(both.reshape(-1, both.shape[-1]))
        return found

    @cached_property
    def params(self) -> dict[str, np.ndarray]:
        assert self.tables
        return {
            name: part.centre if isinstance(part, BoundedArray) else part
            for name, part in self.tables.params.items()
        }

    def deployed(
        self, contexts: Contexts, length: Int[np.ndarray, " context"], demand: Int[np.ndarray, " context"]
    ) -> Float[np.ndarray, " context"]:
        """By the model itself."""
        found = np.full(len(contexts), np.inf)
        for size in np.unique(length):
            rows = np.flatnonzero(length == size)
            logits = self.model_logits(contexts[rows, :size])
            found[rows] = _compute_demand_gap(logits, self.demands.allowed[demand[rows]].T, demand[rows])
        return found

    def model_logits(self, contexts: Contexts) -> Float[np.ndarray, "tok context"]:
        """What the model says after contexts of one length."""
        tokens = contexts.T.astype(np.int32)

        def run(start: int) -> Float[np.ndarray, "tok context"]:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
                found: np.ndarray = self.model.logits(tokens[:, start : start + _RUN], last=1)[:, 0]
            return found

        starts = range(0, len(contexts), _RUN)
        found = [run(start) for start in starts] if len(starts) < 2 else [*map_threads(run, starts)]
        return np.concatenate(found, 1).astype(np.float64)

    def enclosed(
        self, contexts: Contexts, length: Int[np.ndarray, " context"], demand: Int[np.ndarray, " context"]
    ) -> MarginRange:
        """Bounds of the margins in real numbers, by the model's pass over numbers with bounds."""
        least, most = np.full((2, len(contexts)), np.inf)
        for size in np.unique(length):
            rows = np.flatnonzero(length == size)
            for start in range(0, len(rows), _BOUNDED):
                some = rows[start : start + _BOUNDED]
                logits = self.bounded_logits(contexts[some, :size], real=True)
                allowed = self.demands.allowed[demand[some]].T
                least[some], most[some] = _bound_demand_gap(logits, allowed)
        asks = demand != NOTHING
        return MarginRange(np.where(asks, least, np.inf), np.where(asks, most, np.inf))

    def rough(self, contexts: Contexts, length: np.ndarray, demand: np.ndarray) -> np.ndarray:
        """The quickest way: what it says guides a search, and proves nothing."""
        return (self.quick if self.tables else self.deployed)(contexts, length, demand)

    def bounded_logits(self, contexts: Contexts, real: bool) -> BoundedArray:
        """`tok context`, of contexts of one length."""
        with np.errstate(all="ignore"):
            passing = make_table_pass(self.model, BoundedOps(self.model.architecture.precision, real))
            logits: BoundedArray = forward(
                self.model.architecture, *passing, contexts.T.astype(np.int32), last=1
            )
        return logits[:, 0]

    def demand(self, contexts: Contexts, length: Int[np.ndarray, " context"]) -> Int[np.ndarray, " context"]:
        """What contexts of any lengths demand."""
        found, positions = np.zeros(len(contexts), np.int64), contexts.shape[1]
        for size in np.unique(length):
            rows = np.flatnonzero(length == size)
            found[rows] = self.demands.of(contexts[rows, :size], whole=bool(size == positions))
        return found


def _compute_demand_gap(
    logits: Float[np.ndarray, "tok context"],
    allowed: Bool[np.ndarray, "tok context"],
    demand: Int[np.ndarray, " context"],
) -> Float[np.ndarray, " context"]:
    """Best allowed logit minus best other one; infinite for contexts that demand nothing."""
    return np.where(demand == NOTHING, np.inf, measure_margins(logits, allowed))


def _bound_demand_gap(
    logits: BoundedArray, allowed: Bool[np.ndarray, "tok context"]
) -> tuple[Float[np.ndarray, " context"], Float[np.ndarray, " context"]]:
    """Of real logits: the least and the most that the best allowed one may be above the best other one."""
    low, high = logits.range()
    least = measure_margins(np.where(allowed, low, high), allowed)
    most = measure_margins(np.where(allowed, high, low), allowed)
    with np.errstate(invalid="ignore"):  # no bound is infinite, and says nothing
        return least - OWN * np.abs(least), most + OWN * np.abs(most)
