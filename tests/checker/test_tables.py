"""The enclosures hold what NumPy computes, for every model of the zoo that has weights."""

import numpy as np
import pytest

from glassformer.checker.balls import bound_above, bound_below
from glassformer.checker.tables import make_premix_tables
from glassformer.core.errors import UserError
from glassformer.runs.load import load_model
from glassformer.tasks import add_digits
from glassformer.zoo import ZOO
from tests.models.relations import BowlRelation, SpinRelation, WindowRelation, with_relation
from tests.selection import each

PAIRS = 12


def available() -> list[str]:
    def has_weights(name: str) -> bool:
        try:
            load_model(name)
        except UserError:
            return False
        return True

    return [name for name in ZOO if has_weights(name)]


def written(task, count):
    random = np.random.default_rng(0)
    x, y = random.integers(0, 10, (2, task.digits, count), dtype=np.int32)
    return task.written().encode(x, y, add_digits(x, y, 10))[:-1]  # pos batch


def enclosed_logits(model, tables, tokens, place):
    """Balls of the logits at a place for whole contexts, `tok batch`."""
    mixes = []
    for head in range(tables.attention.heads):
        mixed = tables.mixture(head, place, tokens[place]).chosen(tokens[: place + 1])
        mixes.append(mixed[:, None])
    return tables.logits(tables.last_state(np.full(tokens.shape[1], place), tokens[place], mixes))


@pytest.mark.parametrize(
    ("name", "arithmetic"), each(3, [(name, kind) for name in available() for kind in ("deployed", "real")])
)
def test_logits_of_random_sums_lie_in_the_balls(name, arithmetic, precise):
    model = load_model(name)
    require_enclosed(model, model.addition, arithmetic)


@pytest.mark.parametrize("relation", [WindowRelation(), BowlRelation(), SpinRelation()], ids=repr)
@pytest.mark.parametrize(
    ("name", "arithmetic"), [("glass-23", "deployed"), ("glass-23", "real"), ("microadder-57", "deployed")]
)
def test_a_relation_that_the_checker_does_not_know_is_enclosed_too(name, arithmetic, relation, precise):
    """What it adds is evaluated in the checker's own balls; and it is not left out."""
    plain = load_model(name)
    model = with_relation(plain, relation)
    tokens = written(plain.addition, PAIRS)
    if arithmetic == "deployed":
        assert np.abs(model.logits(tokens) - plain.logits(tokens)).max() > 1e-3
    require_enclosed(model, plain.addition, arithmetic)


def require_enclosed(model, task, arithmetic):
    kind = model.architecture.precision if arithmetic == "deployed" else "real"
    tables = make_premix_tables(model.architecture, model.params, task, kind)
    tokens = written(task, PAIRS)
    for place in range(*task.written().predicting.indices(10**9)):
        found = enclosed_logits(model, tables, tokens, place)
        deployed = model.logits(tokens[: place + 1], last=1)[:, 0].astype(np.float64)
        outside = np.maximum(bound_below(found.over) - deployed, deployed - bound_above(found.over))
        if arithmetic == "deployed":
            assert (outside <= np.nan_to_num(found.drift(), nan=np.inf)).all()
        else:
            assert (outside <= 1e-2 * np.ptp(deployed[:10])).all()  # what float32 loses, and no more
