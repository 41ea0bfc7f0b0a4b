"""Margins with bounds hold what the same weights give in float64."""

import numpy as np
import pytest

from glassformer.models.model import Model
from glassformer.proofs.contexts import tabulate_demands
from glassformer.proofs.rule_margins import ContextMargins
from glassformer.tasks import make_rule, tabulate_automaton
from tests.proofs.every_context import all_contexts, drawn
from tests.proofs.stacked import stack_layer

RULE = make_rule("plus_last_even", high=3)
DEMANDS = tabulate_demands(tabulate_automaton(RULE))


@pytest.mark.parametrize("seed", range(4))
def test_real_margins_are_enclosed_closely(seed):
    model = stack_layer(drawn(RULE, seed, context=3, precision="float64"), 0.5, seed=seed)
    margins = ContextMargins(model, DEMANDS, None, real=True)
    contexts, length = all_contexts(5, 3), np.full(125, 3)
    demand = margins.demand(contexts, length)
    found, run = margins.enclosed(contexts, length, demand), margins.deployed(contexts, length, demand)
    asked = demand > 0
    assert (found.least < found.most)[asked].all() and asked.sum() > 9
    assert (found.most[asked] - found.least[asked]).max() < 1e-6
    assert (found.least - 1e-7 < run)[asked].all() and (run < found.most + 1e-7)[asked].all()
    assert np.isinf(found.least[~asked]).all()
    assert (margins.quick(contexts, length, demand) == found.least).all()


def test_what_overflows_is_enclosed_by_nothing():
    model = drawn(RULE, 0, context=3)
    huge = Model(model.architecture, {key: part * np.float32(1e30) for key, part in model.params.items()})
    margins, contexts = ContextMargins(huge, DEMANDS, None, real=True), all_contexts(5, 3)
    length = np.full(125, 3)
    least, most = margins.enclosed(contexts, length, margins.demand(contexts, length))
    asked = np.isfinite(margins.demand(contexts, length)) & (margins.demand(contexts, length) > 0)
    sure = (least > 0) | (most <= 0)
    assert not sure[asked].all()
