"""Sets of contexts that a search splits: each position has some open tokens, and holds any one of them.

A node has one token at its last position (the one that asks) and knows how far, from the end, its tokens have
been read to find what it demands. `? ? {1 3} +` is split into `? 4 {1 3} +`, which demands 4, and so on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from glassformer.proofs.contexts import Demands

_LIGHTEST = 1e-300  # weight of nodes that are too small for one
OPEN = -1  # the demand of a node whose contexts do not all demand the same


@dataclass(frozen=True, eq=False)
class Nodes:
    """Rows of nodes."""

    length: Int[np.ndarray, " node"]  # tokens of its contexts
    tokens: Bool[np.ndarray, "node pos tok"]  # open ones; beyond the length token 0 alone, which nobody reads
    read: Int[np.ndarray, " node"]  # what the positions read so far say (a state of `Demands`)
    count: Int[np.ndarray, " node"]  # positions read, from the end
    demand: Int[np.ndarray, " node"]
    off: Float[np.ndarray, " node"]  # by which rounding may change a margin; infinite until it is known
    least: Float[np.ndarray, " node"]  # no real margin is lower
    weight: Float[np.ndarray, " node"]  # how much the node matters

    def __len__(self) -> int:
        return len(self.length)

    def take(self, rows: np.ndarray) -> "Nodes":
        return Nodes(**{key: part[rows] for key, part in self.parts.items()})

    @property
    def parts(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def widths(self) -> Int[np.ndarray, "node pos"]:
        """Open tokens of each position."""
        found: np.ndarray = self.tokens.sum(2)
        return found

    @cached_property
    def extent(self) -> Float[np.ndarray, " node"]:
        """Logarithm of the number of contexts."""
        found: np.ndarray = np.log(self.widths).sum(1)
        return found

    @property
    def asking(self) -> Int[np.ndarray, " node"]:
        """The last token."""
        found: np.ndarray = self.tokens[np.arange(len(self)), self.length - 1].argmax(1)
        return found

    def sizes(self) -> list[int]:
        """How many contexts each node has, exactly."""
        return [prod(widths) for widths in self.widths.tolist()]


def join_nodes(parts: Sequence[Nodes]) -> Nodes:
    """Rows of several, one after the other."""
    return Nodes(
        **{field.name: np.concatenate([part.parts[field.name] for part in parts]) for field in fields(Nodes)}
    )


class Splitter:
    """What splits nodes by what they demand: which demands are still possible, by length."""

    def __init__(self, demands: Demands, context: int) -> None:
        self.demands, self.context = demands, context
        self.possible = {whole: demands.possible(context, whole) for whole in (False, True)}

    def roots(self) -> Nodes:
        """A node for every length and last token, together all contexts."""
        n, vocab = self.context, self.demands.next.shape[1]
        length, last = (part.ravel() for part in np.meshgrid(range(1, n + 1), range(vocab), indexing="ij"))
        rows, token = np.arange(len(length)), np.arange(vocab)
        tokens = np.ones((len(length), n, vocab), bool)
        tokens[np.arange(n) >= length[:, None]] = token == 0
        tokens[rows, length - 1] = token == last[:, None]
        nothing = np.zeros(len(rows), np.int64)
        far = np.full(len(rows), np.inf)
        return self.settled(Nodes(length, tokens, nothing, nothing, nothing + OPEN, far, -far, far))

    def settled(self, nodes: Nodes) -> Nodes:
        """Reads on while all open tokens say the same, and notes the demand of nodes that have one."""
        read, count, rows = nodes.read.copy(), nodes.count.copy(), np.arange(len(nodes))
        moving = rows[count < nodes.length]
        while len(moving):
            position = nodes.length[moving] - count[moving] - 1
            after = self.demands.next[read[moving]]  # node tok
            there = nodes.tokens[moving, position]
            none = len(self.demands.next)
            least, most = np.where(there, after, none).min(1), np.where(there, after, -1).max(1)
            same = least == most
            moving = moving[same]
            read[moving], count[moving] = least[same], count[moving] + 1
            moving = moving[count[moving] < nodes.length[moving]]
        return replace(nodes, read=read, count=count, demand=self.demand(nodes.length, read, count))

    def demand(self, length: np.ndarray, read: np.ndarray, count: np.ndarray) -> np.ndarray:
        """The one demand that is possible, or OPEN."""
        left, whole = length - count, length == self.context
        possible = np.where(whole[:, None], self.possible[True][left, read], self.possible[False][left, read])
        return np.where(possible.sum(1) == 1, possible.argmax(1), OPEN)

    def by_demand(self, nodes: Nodes) -> Nodes:
        """Children whose next position says one thing each, for nodes whose demand is open."""
        position, vocab = nodes.length - nodes.count - 1, self.demands.next.shape[1]
        after, states = self.demands.next[nodes.read], len(self.demands.next)  # node tok
        there = nodes.tokens[np.arange(len(nodes)), position]
        owner, token = np.nonzero(there)
        kind, child = np.unique(owner * states + after[owner, token], return_inverse=True)
        chosen = np.zeros((len(kind), vocab), bool)
        chosen[np.ravel(child), token] = True
        children = nodes.take(kind // states)
        return self.settled(_narrow_nodes(children, position[kind // states], chosen))


def weigh_by_size(nodes: Nodes) -> Nodes:
    """Weighted by their share of all contexts of their length, shorter ones less."""
    n, vocab = nodes.tokens.shape[1:]
    share = np.maximum(np.exp(nodes.extent - nodes.length * np.log(vocab)), _LIGHTEST)
    return replace(nodes, weight=np.where(nodes.length == n, share, share / n))


def _narrow_nodes(nodes: Nodes, position: np.ndarray, chosen: Bool[np.ndarray, "node tok"]) -> Nodes:
    """The nodes with other tokens at one position."""
    tokens = nodes.tokens.copy()
    tokens[np.arange(len(nodes)), position] = chosen
    return replace(nodes, tokens=tokens)


def halve_nodes(nodes: Nodes, position: np.ndarray, worth: Float[np.ndarray, "node tok"]) -> Nodes:
    """Two children of each: tokens worth more, and less, than the middle of those open at a position."""
    there = nodes.tokens[np.arange(len(nodes)), position]
    most, least = np.where(there, worth, -np.inf).max(1), np.where(there, worth, np.inf).min(1)
    is_first = np.cumsum(there, 1) == 1  # where all are worth the same, the first goes alone
    above = np.where((most > least)[:, None], worth > ((most + least) / 2)[:, None], is_first) & there
    # Rounding of the middle must leave no side empty.
    above = np.where((above.any(1) & (above != there).any(1))[:, None], above, is_first & there)
    return join_nodes([_narrow_nodes(nodes, position, above), _narrow_nodes(nodes, position, there & ~above)])


def keep_single_contexts(nodes: Nodes, contexts: Int[np.ndarray, "node pos"]) -> Nodes:
    """The nodes, with one context left in each."""
    return replace(nodes, tokens=np.arange(nodes.tokens.shape[2]) == contexts[:, :, None])


def list_node_contexts(
    nodes: Nodes,
) -> tuple[Integer[np.ndarray, "context pos"], Int[np.ndarray, " context"]]:
    """Every context of every node, and the row of its node."""
    order = np.argsort(~nodes.tokens, axis=2, kind="stable").astype(np.uint16)  # open tokens first
    sizes = np.prod(nodes.widths, axis=1)
    owner = np.repeat(np.arange(len(nodes)), sizes)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    contexts = np.empty((len(owner), order.shape[1]), np.uint16)
    for position in range(order.shape[1]):
        number, digit = np.divmod(number, nodes.widths[owner, position])
        contexts[:, position] = order[owner, position, digit]
    return contexts, owner


def draw_contexts(random: np.random.Generator, nodes: Nodes) -> Int[np.ndarray, "node pos"]:
    """One context of every node, by chance."""
    found: np.ndarray = np.where(nodes.tokens, random.random(nodes.tokens.shape), -1.0).argmax(2)
    return found


def chunk_nodes(nodes: Nodes, most: int, size: Callable[[Nodes], np.ndarray]) -> list[Nodes]:
    """Consecutive parts whose sizes sum to about `most` each."""
    total = np.cumsum(size(nodes))
    bounds = np.searchsorted(total, np.arange(most, total[-1], most)) + 1 if len(nodes) else np.zeros(0, int)
    return [nodes.take(rows) for rows in np.split(np.arange(len(nodes)), bounds) if len(rows)]
