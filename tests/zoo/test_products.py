"""Multipliers from formulas: right for every factor, proved for every length, and checked."""

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.models.adding import write_sum
from glassformer.models.constants import count_constants
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.proofs.every_length import prove_every_length
from glassformer.proofs.every_length_certificate import make_every_length_certificate
from glassformer.zoo.products import ENTRIES, make_product_entry

FACTORS = range(3, 10)


def make_model(entry):
    return Model(entry.architecture, entry.build())


@pytest.mark.parametrize("factor", FACTORS)
def test_products_of_long_numbers_are_right(factor):
    """Ten, 60 and 300 digits, a carry through every column among them."""
    entry, random = make_product_entry(factor), np.random.default_rng(factor)
    model = make_model(entry)
    for digits in (10, 60, 300):
        for number in (10**digits - 1, int("9" + "".join(map(str, random.integers(0, 10, digits - 1))))):
            assert write_sum(model, entry.task, number, 0, digits=digits).got == factor * number


@pytest.mark.parametrize("factor", FACTORS)
def test_a_multiplier_has_five_parameters_more_than_its_factor_and_no_chosen_constant(factor):
    shape = make_product_entry(factor).architecture
    assert sum(one.free for one in list_parameters(shape).values()) == factor + 5
    assert count_constants(shape) == 0


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_those_that_ship_are_proved_for_every_length(entry):
    proof = prove_every_length(make_model(entry), entry.task)
    assert (proof.verdict, proof.inputs, proof.arithmetic) == ("proved", "all", "float32")
    assert proof.margin_bound > 2 * proof.rounding_bound > 0


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_their_certificates_hold(entry):
    model = make_model(entry)
    proof = prove_every_length(model, entry.task)
    result = check_certificate(make_every_length_certificate(proof, model, entry.task, entry.id))
    assert result.valid, result.reason


@pytest.mark.slow
@pytest.mark.parametrize("factor", [factor for factor in FACTORS if factor > len(ENTRIES) + 2])
def test_larger_factors_are_proved_in_float64(factor):
    entry = make_product_entry(factor)
    proof = prove_every_length(make_model(entry), entry.task, seconds=600)
    assert (proof.verdict, proof.inputs, proof.arithmetic) == ("proved", "all", "float64")
