"""Nodes that wait for a search, and how many it takes at a time."""

from time import perf_counter

import numpy as np

from glassformer.proofs.rule_nodes import Nodes, join_nodes

_MOST = 1024  # nodes at a time: enough for NumPy
_STEP = 0.5  # seconds that a batch may take, so that a search ends in time
_HELD = 1 << 28  # bytes of waiting nodes, beyond which small ones come first


class Pace:
    """How many nodes to take, by how long the last ones took."""

    def __init__(self) -> None:
        self.count, self.last = 64, perf_counter()

    def batch(self) -> int:
        now = perf_counter()
        seconds, self.last = now - self.last, now
        self.count = int(min(max(self.count * min(_STEP / max(seconds, 1e-9), 4.0), 1), _MOST))
        return self.count


class WaitingNodes:
    """Nodes by their weights, to a power of two."""

    def __init__(self) -> None:
        self.by_rank: dict[int, list[Nodes]] = {}
        self.count = self.bytes = 0

    def push(self, nodes: Nodes) -> None:
        ranks = np.floor(np.log2(nodes.weight)).astype(int)
        for rank in np.unique(ranks).tolist():
            self.by_rank.setdefault(rank, []).append(nodes.take(np.flatnonzero(ranks == rank)))
        self.count, self.bytes = self.count + len(nodes), self.bytes + nodes.tokens.nbytes

    def pop(self, most: int, lightest: bool = False) -> Nodes:
        """Some of the heaviest; some of the lightest where that is asked for, or memory runs short."""
        parts: list[Nodes] = []
        while self.by_rank and sum(len(part) for part in parts) < most:
            rank = min(self.by_rank) if lightest or self.bytes > _HELD else max(self.by_rank)
            parts.append(self.by_rank[rank].pop())
            if not self.by_rank[rank]:
                del self.by_rank[rank]
        nodes = join_nodes(parts)
        self.count, self.bytes = self.count - len(nodes), self.bytes - nodes.tokens.nbytes
        if len(nodes) > most:
            self.push(nodes.take(np.arange(most, len(nodes))))
        return nodes.take(np.arange(min(most, len(nodes))))

    def all(self) -> list[Nodes]:
        return [part for parts in self.by_rank.values() for part in parts]

    @property
    def contexts(self) -> float:
        """How many there are in all nodes, about."""
        with np.errstate(over="ignore"):
            return float(sum(np.exp(part.extent).sum() for part in self.all()))

    @property
    def weight(self) -> float:
        return float(sum(part.weight.sum() for part in self.all()))
