"""Arb's precision and silent float64 overflow, as in a check; one proved certificate for all tests."""

import copy
import hashlib
import json

import numpy as np
import pytest

from glassformer.checker.certificate import set_check_precision
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.runs.load import load_model


@pytest.fixture
def precise():
    with set_check_precision():
        yield


def proved(name, task=None):
    """The certificate of a model of the zoo, as it comes out of its file."""
    model = load_model(name)
    task = task or model.addition
    return json.loads(json.dumps(make_adder_certificate(prove_adder(model, task), model, task, name)))


@pytest.fixture(scope="session")
def glass():
    return proved("glass-23")


def altered(tree, change):
    """A copy with one thing changed and a digest that fits again."""
    found = copy.deepcopy(tree)
    change(found)
    rest = {key: value for key, value in found.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    found["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return found


def inside(here, x, y):
    """Which of many pairs are in a part."""
    carry, held = np.zeros_like(x[0]), np.ones(x.shape[1], bool)
    for column in range(len(x)):
        held &= here.columns[column, carry, x[column], y[column]]
        carry = (x[column] + y[column] + carry) // 10
    return held & here.last[carry]
