"""Changed certificates for every length: refused in a sentence, not valid, or valid and true."""

import json
from random import Random

import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.core.errors import UserError
from glassformer.models.lengths import lengthen_adder
from glassformer.proofs.every_length import prove_every_length
from glassformer.proofs.every_length_certificate import make_every_length_certificate
from glassformer.runs.load import load_model
from tests.checker.every_length_mutations import (
    WHOLE_CHANGES,
    find_false_length_claim,
    mutate_every_length,
)
from tests.checker.sealing import seal_certificate
from tests.proofs.test_every_length import sharpen, spoil

SAMPLE, MORE = 25, 300


def make_original(model, real=False):
    """With a window of two columns three lengths are enough."""
    model, task = lengthen_adder(model, load_model("any-8").addition, 2)
    proof = prove_every_length(model, task, real)
    tree = make_every_length_certificate(proof, model, task, "original")
    return json.loads(json.dumps(tree))


@pytest.fixture(scope="module")
def originals():
    model = load_model("any-8")
    narrow = sharpen(model, 60.0)
    return {
        "proved": make_original(narrow),
        "real": make_original(narrow, real=True),
        "refuted": make_original(spoil(model, ff__up__p=0.2)),
    }


def require_true(originals, seed, path):
    random = Random(seed)
    original = originals[random.choice(list(originals))]
    _, tree = mutate_every_length(original, random)
    path.write_text(json.dumps(tree))
    try:
        result = check_certificate(path)
    except UserError as error:
        assert "\n" not in str(error)
        return
    assert not result.valid or find_false_length_claim(tree, original) == ""


def test_the_originals_are_true(originals):
    for tree in originals.values():
        assert check_certificate(tree).valid and find_false_length_claim(tree, tree) == ""
    assert [len(tree["lengths"]) for tree in originals.values()] == [3, 3, 1]


def test_the_judge_knows_lies(originals):
    lies = {
        "window": lambda tree: tree.update(window=[0, 0]),
        "verdict": lambda tree: tree["lengths"].pop(),
        "inputs": lambda tree: tree.update(inputs="1"),
        "margin": lambda tree: tree.update(smallest_margin=1e3),
        "counterexample": lambda tree: tree.update(counterexample={"a": 1}),
        "task": lambda tree: tree["lengths"].reverse(),
        "of 1 digits": lambda tree: tree["lengths"][0]["rows"].pop(),
    }
    for words, lie in lies.items():
        tree = json.loads(json.dumps(originals["proved"]))
        lie(tree)
        assert words in find_false_length_claim(seal_certificate(tree, Random(0)), originals["proved"])


@pytest.mark.parametrize("seed", range(SAMPLE))
def test_a_mutant_is_refused_or_true(originals, seed, tmp_path):
    require_true(originals, seed, tmp_path / "c.json")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SAMPLE, MORE))
def test_more_mutants_are_refused_or_true(originals, seed, tmp_path):
    require_true(originals, seed, tmp_path / "c.json")


@pytest.mark.parametrize("name", WHOLE_CHANGES)
def test_every_change_changes_something(originals, name):
    def change(seed):
        tree = json.loads(json.dumps(originals["proved"]))
        WHOLE_CHANGES[name](tree, Random(seed))
        return tree

    assert any(change(seed) != originals["proved"] for seed in range(5))
