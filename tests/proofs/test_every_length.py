"""Every length: what is proved holds at lengths that were not looked at; what is refuted fails at the shortest."""

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.models.adding import write_sum
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.lengths import lengthen_adder
from glassformer.models.model import Model
from glassformer.models.position import NoPosition
from glassformer.models.projection import FullProjection, ZeroProjection
from glassformer.models.relations import ColumnRelation
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.every_length import prove_every_length
from glassformer.proofs.every_length_certificate import make_every_length_certificate
from glassformer.proofs.window import find_window
from glassformer.runs.load import load_model
from glassformer.tasks import Addition, add_digits
from glassformer.verify.addition import make_hard_blocks, write_answers


@pytest.fixture(scope="module")
def model():
    return load_model("any-8")


@pytest.fixture(scope="module")
def proof(model):
    return prove_every_length(model, model.addition)


def spoil(model, **changes):
    """The same model with some parameters multiplied."""
    moved = {name.replace("__", "."): factor for name, factor in changes.items()}
    return Model(
        model.architecture,
        {name: array * np.float32(moved.get(name, 1.0)) for name, array in model.params.items()},
    )


def test_the_shipped_model_is_proved_for_every_length(proof):
    assert (proof.verdict, proof.inputs, proof.arithmetic) == ("proved", "all", "float32")
    assert len(proof.lengths) >= proof.window.longest
    assert proof.classes["total"] == sum(one.classes["total"] for one in proof.lengths)
    assert 0 < proof.margin_bound <= proof.smallest_margin


@pytest.mark.parametrize("digits", [13, 17, 40])
def test_longer_numbers_have_no_smaller_margin(model, proof, digits):
    """The prover of one length, at lengths that the proof did not look at."""
    longer = prove_adder(*lengthen_adder(model, model.addition, digits))
    assert longer.verdict == "proved"
    assert longer.smallest_margin >= proof.margin_bound


def test_hard_pairs_of_long_numbers_are_right(model):
    longer, task = lengthen_adder(model, model.addition, 150)
    x, y = next(make_hard_blocks("sums_8_to_10", task, 3, 64))
    assert np.array_equal(write_answers(longer, task, x, y), add_digits(x, y, 10))


def test_in_real_numbers_too(model, proof):
    real = prove_every_length(model, model.addition, real=True)
    assert (real.verdict, real.arithmetic) == ("proved", "real")
    assert real.smallest_margin == pytest.approx(proof.smallest_margin, rel=1e-2)
    assert real.lengths[-1].tables.slack > 0  # longer numbers have keys that these have not
    assert real.lengths[0].tables.slack == 0


def test_a_refutation_is_the_shortest(model):
    wrong = spoil(model, ff__up__p=0.2)
    found = prove_every_length(wrong, model.addition)
    assert found.verdict == "refuted"
    pair = found.counterexample
    assert not write_sum(wrong, model.addition, pair["a"], pair["b"], pair["digits"]).right
    assert pair["digits"] == len(found.lengths)
    assert all(one.verdict == "proved" for one in found.lengths[:-1])


def test_attention_without_an_end_is_undecided_or_refuted(model):
    """Scores that hardly fall: right or not, nothing is claimed for every length."""
    flat = spoil(model, attn__relation__sharpness=1e-4)
    assert prove_every_length(flat, model.addition).verdict in ("refuted", "undecided")


def test_a_margin_within_rounding_is_undecided(model):
    """A hair above 0 in numbers of 4 digits, and other orders of a sum could take that: nothing is claimed."""
    found = prove_every_length(spoil(model, head__u=1.04416504), model.addition)
    assert (found.verdict, found.smallest_margin, found.counterexample) == ("undecided", None, None)
    assert [one.verdict for one in found.lengths] == ["proved"] * 3 + ["undecided"]
    assert "numbers of 4 digits" in found.reason


def sharpen(model, sharpness):
    """The same shares of the query's own column and of the next, by another sharpness: the peak follows."""
    name, params = "attn.relation", dict(model.params)
    pull = float(params[f"{name}.sharpness"][0]) * (2 * float(params[f"{name}.peak"][0]) - 1)
    params[f"{name}.sharpness"] = np.array([sharpness], np.float32)
    params[f"{name}.peak"] = np.array([0.5 + pull / (2 * sharpness)], np.float32)
    return Model(model.architecture, params)


@pytest.mark.parametrize(("sharpness", "real"), [(1e3, False), (1e4, True)])
def test_scores_far_below_0_are_proved_too(model, sharpness, real):
    """All scores are below -89, and the exponential of 89 overflows float32; of 710, float64."""
    sharp = sharpen(model, sharpness)
    found = prove_every_length(sharp, model.addition, real=real)
    assert (found.verdict, found.window.longest) == ("proved", 3)
    assert check_certificate(make_every_length_certificate(found, sharp, model.addition, "sharp")).valid


def test_what_a_window_does_not_hold_no_bit(model):
    """The theorem's second lemma in numbers: the middle of a long sum has the logits of a short one."""
    (long, task), (short, few) = (lengthen_adder(model, model.addition, digits) for digits in (300, 8))
    window, where = find_window(long), 200  # column of the query
    x, y = np.random.default_rng(5).integers(0, 10, (2, 300, 16))
    z = add_digits(x, y, 10)
    first = where - window.below  # the short problem's column 1
    carry = (z[first] - x[first] - y[first]) % 10
    near = [np.concatenate([9 * carry[None], one[first : first + 7]]) for one in (x, y)]
    tokens = task.written().encode(x, y, z)[: 2 * 302 + where + 2]
    fewer = few.written().encode(*near, add_digits(*near, 10))[: 2 * 10 + window.below + 3]
    assert window.longest == 8
    assert np.array_equal(long.logits(tokens, last=1), short.logits(fewer, last=1))


@pytest.mark.parametrize("seed", [80, 88, 590])  # where a pass over the whole sum says otherwise
def test_a_refuting_pair_is_wrong_as_it_is_written_where_scores_undo_the_mask(seed):
    """At c mu^2 above 1e37 float32 loses the mask: one pass over a whole sum sees digits before their time."""
    task = Addition(layout="columns", digits=3, base=2)
    attention = Attention(
        heads=2, head_size=1, value_size=2, q=ZeroProjection(), k=ZeroProjection(), out=FullProjection(),
        relation=ColumnRelation(columns=5), scale=1.0,
    )  # fmt: skip
    shape = Architecture(
        vocab=2, context=task.written().length - 1, width=4, position=NoPosition(),
        layers=(Layer(attention, FeedForward(hidden=8)),),
    )  # fmt: skip
    random = np.random.default_rng(seed)
    params = {
        name: random.normal(size=one.shape).astype(np.float32) for name, one in list_parameters(shape).items()
    }
    params["attn.relation.sharpness"] = np.array([1.2e38, 8.0], np.float32)
    params["attn.relation.peak"] = np.array([0.45, 0.9], np.float32)
    model = Model(shape, params)
    wrong = prove_every_length(model, task, seconds=5.0).counterexample
    assert wrong
    assert not write_sum(*lengthen_adder(model, task, wrong["digits"]), wrong["a"], wrong["b"]).right
