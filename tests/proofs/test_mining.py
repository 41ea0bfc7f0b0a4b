"""What the miner finds."""

from dataclasses import replace

import numpy as np

from glassformer.models.model import Model
from glassformer.proofs.mining import MODELS, PAIRS, find_hard_digits, mine_problems
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.tasks import add_digits, to_numbers
from glassformer.tasks.board import BOARD_PAIRS, BOARD_SEED, draw_board_pairs
from glassformer.verify.addition import write_answers
from tests.proofs.several import several
from tests.proofs.small import drawn, run_all, tinyadder


def test_mined_pairs_are_the_ones_that_fail():
    """Of a model that fails on few pairs the first mined are wrong; at random they would hardly come up."""
    model, task = tinyadder(2)
    changed = Model(model.architecture, {**model.params, "layer1.attn.v.bias": np.array([-1.0])})
    share = np.any([wrong for _, wrong, _ in run_all(changed, task)], axis=0).mean()
    digits = find_hard_digits(changed, task)[:16]
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    wrong = (write_answers(changed, task, x, y) != add_digits(x, y, 10)).any(0).mean()
    assert wrong > 0.9 > 3 * share


def test_mining_a_population():
    model, everyone = several()
    finite = {key: part[:3] for key, part in everyone.items()}
    run = CONFIGURATIONS["glass-39"]
    tokens = mine_problems(run, finite)
    layout = model.addition.written()
    assert tokens.shape[0] == layout.length
    assert 0 < tokens.shape[1] <= MODELS * PAIRS
    x, y = (tokens[list(places)] for places in (layout.x_positions, layout.y_positions))
    assert np.array_equal(tokens, layout.encode(x, y, add_digits(x, y, 10)))
    mined = set(zip(to_numbers(x, 10), to_numbers(y, 10), strict=True))
    assert len(mined) > 50
    assert mined.isdisjoint(draw_board_pairs(BOARD_SEED, BOARD_PAIRS))


def test_nothing_is_mined_where_the_method_does_not_fit():
    model, task = drawn("glass-39", 4, 0)
    layer = replace(model.architecture.layers[0], attention=None)
    plain = Model(
        replace(model.architecture, layers=(layer,)),
        {key: part for key, part in model.params.items() if not key.startswith("attn")},
    )
    assert find_hard_digits(plain, task).shape == (0, 4, 2)
