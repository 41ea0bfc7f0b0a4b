"""The tables are what the deployed pass computes, and the readout's errors hold what rounding does."""

import numpy as np
import pytest

from glassformer.model.forward import forward
from glassformer.model.ops_numpy import NumpyOps
from glassformer.proof.adder import prove_adder
from glassformer.proof.columns import Classes, allowed_tokens, columns_in_order, with_pins
from glassformer.proof.readout import gaps
from glassformer.proof.search import boxes_of, mix_of
from glassformer.proof.tables import NotProvableError, tabulate
from glassformer.runs.load import load
from glassformer.tasks import add
from glassformer.zoo import ZOO
from tests.proof.small import drawn
from tests.selection import each

SHIPPED = [name for name, entry in ZOO.items() if entry.build or entry.weights]
EXACT = [name for name in SHIPPED if not name.startswith("tinyadder")]


def tables_of(model, real=False):
    layout = model.addition.written()
    return tabulate(model, allowed_tokens(layout, model.architecture.vocab), layout.digits + 1, real)


@pytest.mark.parametrize("name", EXACT)
def test_scores_and_values_are_the_deployed_ones_whatever_the_batch_and_the_window(name):
    """Bit for bit: what a place computes by itself does not depend on what stands beside it."""
    model = load(name)
    layout, tables = model.addition.written(), tables_of(model)
    random = np.random.default_rng(0)
    for batch, length in ((2, 25), (3, 33), (257, 30), (2048, 33)):
        x, y = random.integers(0, 10, (2, layout.digits, batch))
        tokens = layout.encode(x, y, add(x, y))[: min(length, layout.length - 1)]
        seen = {}
        forward(
            model.architecture,
            NumpyOps(model.architecture.precision),
            model.params,
            tokens,
            last=1,
            record=seen.__setitem__,
        )
        step, keys = len(tokens) - layout.prompt_length, np.arange(len(tokens))[:, None]
        for number, head in enumerate(tables.heads):
            deployed = np.broadcast_to(seen[f"attn.scores.{number}"][0], tokens.shape)  # key batch
            assert np.array_equal(head.scores[step, tokens[-1], keys, tokens], deployed)
            values = np.broadcast_to(carried(model, number, seen), (len(head.centre), *tokens.shape))
            close = (
                5e-7 if model.architecture.layers[0].attention.reads_first else 0
            )  # read here in another order
            assert np.allclose(head.values.centre[:, keys, tokens], values, rtol=close, atol=0)
        assert np.array_equal(
            np.broadcast_to(seen["embedded"][:, -1], (model.architecture.width, batch)),
            tables.stream.centre[:, step, tokens[-1]],
        )


@pytest.mark.parametrize("name", each(2, SHIPPED))
def test_rounding_stays_within_its_bound(name):
    """Gaps of the deployed logits against those of the proof, pair by pair."""
    model = load(name)
    layout, tables = model.addition.written(), tables_of(model)
    random = np.random.default_rng(1)
    digits = random.integers(0, 10, (300, layout.digits, 2))
    classes = classes_of(layout, digits, step=random.integers(0, layout.digits + 1, 300))
    mix = mix_of(tables, classes, digits)
    with np.errstate(all="ignore"):
        found = gaps(tables, boxes_of(tables, classes, mix, mix))
    deployed = deployed_gaps(model, classes, digits)
    slack = found.middle - found.least  # how well the proof knows its own middle
    assert (np.abs(deployed - found.middle) <= 2 * found.error + slack).all()
    assert (found.error > 0).all()


def carried(model, number, seen):
    """What a head mixes, from what a pass has shown."""
    attention = model.architecture.layers[0].attention
    if attention.carries_stream(model.architecture.width):
        return seen["attn.input"]
    size = attention.values
    group = attention.group(number)
    values = seen["attn.v"][group * size : (group + 1) * size]
    if attention.reads_first:
        read = model.params["attn.out.read"][number * size : (number + 1) * size]
        return NumpyOps(model.architecture.precision).linear(read[None], values)
    return values


@pytest.mark.parametrize("name", ["rope-62", "microadder-57", "hand-4"])
def test_a_sequence_alone_gets_the_same_logits(name):
    """But for the mix, whose sums are added in another order for another batch."""
    model = load(name)
    layout = model.addition.written()
    x, y = np.random.default_rng(0).integers(0, 10, (2, layout.digits, 4))
    tokens = layout.encode(x, y, add(x, y))[:-1]
    together, alone = model.logits(tokens, last=3), model.logits(tokens[:, 2:3], last=3)
    assert alone.shape[2] == 1
    assert np.allclose(alone[:, :, 0], together[:, :, 2], rtol=1e-4, atol=0.5)


def classes_of(layout, digits, step) -> Classes:
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    tokens, column = layout.encode(x, y, add(x, y)), columns_in_order(layout)[step]
    rows, carry = np.arange(len(digits)), np.zeros((layout.digits + 1, len(digits)), int)
    for k in range(layout.digits):
        carry[k + 1] = (x[k] + y[k] + carry[k]) // 10
    total = np.where(column == layout.digits, -1, (x + y)[np.minimum(column, layout.digits - 1), rows])
    return with_pins(layout, step, tokens[layout.prompt_length + step - 1, rows], total, carry[column, rows])


def deployed_gaps(model, classes, digits):
    layout = classes.layout
    x, y = digits[:, :, 0].T, digits[:, :, 1].T
    tokens, found = layout.encode(x, y, add(x, y)), np.empty(len(digits))
    for row, step in enumerate(classes.step):
        logits = model.logits(tokens[: layout.prompt_length + step, row : row + 1], last=1)[:, 0, 0].astype(
            float
        )
        right = classes.right[row]
        found[row] = logits[right] - np.delete(logits, right).max()
    return found


def test_two_layers_that_mix_are_not_provable():
    from dataclasses import replace

    from glassformer.model.forward import parameters
    from glassformer.model.model import Model

    model, task = drawn("glass-39", 2, 0)
    shape = replace(model.architecture, layers=model.architecture.layers * 2, ties=())
    random = np.random.default_rng(0)
    numbers = {key: random.normal(size=part.shape) for key, part in parameters(shape).items()}
    deep = Model(shape, numbers)
    layout = task.written()
    with pytest.raises(NotProvableError, match="because layer0 mixes tokens as well as a later layer"):
        tabulate(deep, allowed_tokens(layout, 10), layout.digits + 1)
    proof = prove_adder(deep, task)
    assert proof.verdict == "not_applicable"
    assert "not provable by this method, because" in proof.reason


def test_no_attention_at_all():
    from dataclasses import replace

    model, task = drawn("glass-39", 2, 0)
    layer = replace(model.architecture.layers[0], attention=None)
    names = {key: part for key, part in model.params.items() if not key.startswith("attn")}
    plain = type(model)(replace(model.architecture, layers=(layer,)), names)
    assert prove_adder(plain, task).verdict == "not_applicable"
