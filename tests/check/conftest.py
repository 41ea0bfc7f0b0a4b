"""Arb's precision and silent float64 overflow, as in a check; one proved certificate for all tests."""

import copy
import hashlib
import json

import pytest

from glassformer.check.certificate import exactly_enough
from glassformer.proof.adder import prove_adder
from glassformer.proof.certificate import certificate
from glassformer.runs.load import load


@pytest.fixture
def precise():
    with exactly_enough():
        yield


def proved(name, task=None):
    """The certificate of a model of the zoo, as it comes out of its file."""
    model = load(name)
    task = task or model.addition
    return json.loads(json.dumps(certificate(prove_adder(model, task), model, task, name)))


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
