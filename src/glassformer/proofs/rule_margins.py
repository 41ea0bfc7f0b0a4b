"""Margins of concrete contexts: from the tables in float64, and by the model itself where that is too close.

The margin of a context is the logit of the best allowed token minus that of the best other one. The deployed
margin is off the real one by the bound of `rule_boxes` at most; that of the tables, the same operations in
float64, by no more than three times that bound, and by far less where float32 is deployed. So beyond SURE
times the bound the sign is certain. A tie breaks the rule, as everywhere.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from glassformer.models.attention import AttentionSite
from glassformer.models.bounded import BoundedArray
from glassformer.models.forward import finish_layer, format_layer_prefix, ignore_record, read_out_logits
from glassformer.models.margins import measure_margins
from glassformer.models.ops_numpy import NumpyOps
from glassformer.proofs.contexts import NOTHING, Demands
from glassformer.proofs.tables import ModelTables

SURE = 4.0  # bounds of rounding between a margin of the tables and 0 that make its sign certain
_LEAST_TOTAL = 1e-200  # sum of weights below which these may be no more than underflow: no margin is known
_BLOCK = 1 << 14  # contexts at a time, for the cache

Contexts = Integer[np.ndarray, "context pos"]


@dataclass(frozen=True, eq=False)
class ContextMargins:
    """What computes margins; contexts of any length have as many columns as the model has positions."""

    tables: ModelTables
    demands: Demands

    def quick(
        self, contexts: Contexts, length: Int[np.ndarray, " context"], demand: Int[np.ndarray, " context"]
    ) -> Float[np.ndarray, " context"]:
        """From the tables; contexts that demand nothing have none (infinite)."""
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(contexts), _BLOCK)]
        found = [self.of_block(contexts[rows], length[rows], demand[rows]) for rows in blocks]
        return np.concatenate(found) if found else np.zeros(0)

    def of_block(self, contexts: Contexts, length: np.ndarray, demand: np.ndarray) -> np.ndarray:
        rows, position = np.arange(len(contexts)), length - 1
        logits = self.logits(contexts, position, contexts[rows, position])  # tok context
        return _compute_demand_gap(logits, self.demands.allowed[demand].T, demand)

    def logits(self, contexts: Contexts, position: np.ndarray, asking: np.ndarray) -> np.ndarray:
        tables, ops = self.tables, NumpyOps("float64")
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
        before = self.tables.model.architecture.layers[: self.tables.mixing]
        return not any(layer.attention for layer in before)

    @cached_property
    def summands(self) -> list[Float[np.ndarray, "entry number"]]:
        """Weight x value, and the weight, by query position, query token, key position and key token."""
        found = []
        for head in self.tables.heads:
            weight = (head.weights.low + head.weights.high) / 2  # query asked key tok
            values = np.moveaxis(head.values.centre, 0, -1)  # key tok dim
            both = np.concatenate([weight[..., None] * values, weight[..., None]], -1)
            found.append(both.reshape(-1, both.shape[-1]))
        return found

    @cached_property
    def params(self) -> dict[str, np.ndarray]:
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
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(contexts), _BLOCK)]
        found = [self.tables.model.logits(tokens[:, rows], last=1)[:, 0] for rows in blocks]
        return np.concatenate(found, 1).astype(np.float64)

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
