"""Contexts that are run one by one: when that is sooner done than bounding, and where one stands for many."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from time import perf_counter

import numpy as np

from glassformer.proofs.rule_boxes import NodeMargins
from glassformer.proofs.rule_margins import ContextMargins
from glassformer.proofs.rule_nodes import Nodes
from glassformer.proofs.rule_worst import WorstContexts

_TRIED = 512  # contexts that are run to see how long one takes
_TRIAL = 2.0  # seconds of bounding after which it must decide more than running would
_HOPE = 100.0  # times the time that is left: what would take longer to run is better bounded


class RunPlan:
    """All that waits is run once that takes no longer than bounding has taken: at most twice the best way.

    It is run too where bounds decide fewer contexts than running would, if a good part can be run in time.
    """

    def __init__(self, margins: ContextMargins, has_bounds: bool) -> None:
        self.margins, self.spent, self.closed, self.is_running = margins, 0.0, 0.0, not has_bounds

    def is_due(self, contexts: float, until: float) -> bool:
        """Whether so many contexts are sooner run; from then on, and where there is no other way, always."""
        if not self.is_running and self.spent > 0:
            needed, left = contexts * self.cost, until - perf_counter()
            is_slow = self.spent > _TRIAL and self.closed * self.cost < self.spent and needed <= _HOPE * left
            self.is_running = is_slow or needed <= min(self.spent, left)
        return self.is_running

    @contextmanager
    def bounding(self) -> Iterator[None]:
        """Counts the time that bounds take."""
        begin = perf_counter()
        yield
        self.spent += perf_counter() - begin

    @cached_property
    def cost(self) -> float:
        """Seconds for one context of full length."""
        architecture = self.margins.model.architecture
        contexts = np.zeros((_TRIED, architecture.context), np.uint16)
        length, demand = np.full(_TRIED, architecture.context), np.ones(_TRIED, int)
        run = self.margins.enclosed if self.margins.real else self.margins.deployed
        begin = perf_counter()
        run(contexts, length, demand)
        return (perf_counter() - begin) / _TRIED


def judge_by_one_context(worst: WorstContexts, nodes: Nodes) -> NodeMargins:
    """Of a model without attention: what one context of a node gets, all get."""
    contexts, margins = nodes.tokens.argmax(2), worst.margins
    about = (contexts, nodes.length, nodes.demand)
    if worst.real:
        least, most = margins.enclosed(*about)
    else:
        least = most = margins.deployed(*about)
    worst.see(contexts, nodes.length, least)
    is_right = least > 0
    is_wrong = ~is_right if not worst.real else most <= 0
    nothing = know_nothing(nodes)
    return nothing._replace(least=np.nan_to_num(least, nan=-np.inf), is_right=is_right, is_wrong=is_wrong)


def know_nothing(nodes: Nodes) -> NodeMargins:
    """Of nodes that no bound says anything of."""
    far, never = np.full(len(nodes), np.inf), np.zeros(len(nodes), bool)
    return NodeMargins(-far, far, never, never.copy(), np.zeros(nodes.tokens.shape), never.copy())
