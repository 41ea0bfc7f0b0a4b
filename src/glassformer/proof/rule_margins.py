"""Margins of concrete contexts: from the tables in float64, and by the model itself where that is too close.

The margin of a context is the logit of the best allowed token minus that of the best other one. The deployed
margin is off the real one by the bound of `rule_boxes` at most; that of the tables, the same operations in
float64, by no more than three times that bound, and by far less where float32 is deployed. So beyond SURE
times the bound the sign is certain. A tie breaks the rule, as everywhere.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.model.attention import Site
from glassformer.model.bounded import Bounded
from glassformer.model.forward import ignore, prefix, read_out, settle
from glassformer.model.ops_numpy import NumpyOps
from glassformer.proof.contexts import NOTHING, Demands
from glassformer.proof.tables import Tables

SURE = 4.0  # bounds of rounding between a margin of the tables and 0 that make its sign certain
BLOCK = 1 << 14  # contexts at a time, for the cache

Contexts = Int[np.ndarray, "context pos"]


@dataclass(frozen=True, eq=False)
class Margins:
    """What computes margins; contexts have as many columns as the model has places, whatever their length."""

    tables: Tables
    demands: Demands

    def quick(
        self, contexts: Contexts, length: Int[np.ndarray, " context"], demand: Int[np.ndarray, " context"]
    ) -> Float[np.ndarray, " context"]:
        """From the tables; contexts that demand nothing have none (infinite)."""
        blocks = [slice(start, start + BLOCK) for start in range(0, len(contexts), BLOCK)]
        found = [self.of_block(contexts[rows], length[rows], demand[rows]) for rows in blocks]
        return np.concatenate(found) if found else np.zeros(0)

    def of_block(self, contexts: Contexts, length: np.ndarray, demand: np.ndarray) -> np.ndarray:
        rows, place = np.arange(len(contexts)), length - 1
        logits = self.logits(contexts, place, contexts[rows, place])  # tok context
        return gap(logits, self.demands.allowed[demand].T, demand)

    def logits(self, contexts: Contexts, place: np.ndarray, asking: np.ndarray) -> np.ndarray:
        tables, ops = self.tables, NumpyOps("float64")
        architecture = tables.model.architecture
        kept = tables.stream.centre[:, place, asking][:, None]  # dim 1 context
        name, layer = prefix(architecture, tables.mixing), architecture.layers[tables.mixing]
        assert layer.attention
        site = Site(ops, self.params, f"{name}attn", kept, range(1))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            moved = layer.attention.write(site, self.mixes(contexts, place, asking), ignore)
            x = settle(layer, ops, self.params, name, kept, moved, ignore)
            for index in range(tables.mixing + 1, len(architecture.layers)):
                after = architecture.layers[index]
                x = settle(after, ops, self.params, prefix(architecture, index), x, None, ignore)
            table = tables.token_table.centre
            logits: np.ndarray = read_out(architecture, ops, self.params, x, table, ignore)
        return logits[:, 0]

    def mixes(self, contexts: Contexts, place: np.ndarray, asking: np.ndarray) -> list[np.ndarray]:
        """Every head's mix, `dim 1 context`."""
        vocab, places = self.demands.next.shape[1], contexts.shape[1]
        base = (place * vocab + asking) * (places * vocab)
        found = []
        for head, table in zip(self.tables.heads, self.summands, strict=True):
            sums = np.zeros((len(contexts), table.shape[1]))
            for key in range(int(place.max(initial=-1)) + 1):
                sums += table.take(base + (key * vocab + contexts[:, key]), axis=0)
            sums[:, -1] += head.weights.rest[place, asking]
            found.append((sums[:, :-1] / sums[:, -1:]).T[:, None])
        return found

    @cached_property
    def summands(self) -> list[Float[np.ndarray, "entry number"]]:
        """For every query place, query token, key place and key token: weight x value, and the weight."""
        found = []
        for head in self.tables.heads:
            weight = (head.weights.low + head.weights.high) / 2  # place asked key tok
            values = np.moveaxis(head.values.centre, 0, -1)  # key tok dim
            both = np.concatenate([weight[..., None] * values, weight[..., None]], -1)
            found.append(both.reshape(-1, both.shape[-1]))
        return found

    @cached_property
    def params(self) -> dict[str, np.ndarray]:
        return {
            name: part.centre if isinstance(part, Bounded) else part
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
            found[rows] = gap(logits, self.demands.allowed[demand[rows]].T, demand[rows])
        return found

    def model_logits(self, contexts: Contexts) -> Float[np.ndarray, "tok context"]:
        """What the model says after contexts of one length."""
        tokens = contexts.T.astype(np.int32)
        blocks = [slice(start, start + BLOCK) for start in range(0, len(contexts), BLOCK)]
        found = [self.tables.model.logits(tokens[:, rows], last=1)[:, 0] for rows in blocks]
        return np.concatenate(found, 1).astype(np.float64)

    def demand(self, contexts: Contexts, length: Int[np.ndarray, " context"]) -> Int[np.ndarray, " context"]:
        """What contexts of any lengths demand."""
        found, places = np.zeros(len(contexts), np.int64), contexts.shape[1]
        for size in np.unique(length):
            rows = np.flatnonzero(length == size)
            found[rows] = self.demands.of(contexts[rows, :size], whole=bool(size == places))
        return found


def gap(
    logits: Float[np.ndarray, "tok context"],
    allowed: Bool[np.ndarray, "tok context"],
    demand: Int[np.ndarray, " context"],
) -> Float[np.ndarray, " context"]:
    """Best allowed logit minus best other one; infinite for contexts that demand nothing."""
    with np.errstate(invalid="ignore"):
        found = np.where(allowed, logits, -np.inf).max(0) - np.where(allowed, -np.inf, logits).max(0)
    return np.where(demand == NOTHING, np.inf, found)
