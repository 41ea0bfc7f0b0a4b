"""A sample of the mutants of `python -m tools.mutate_certificates`: whatever is accepted is true."""

import json
from random import Random

import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.core.errors import UserError
from tests.checker.judgement import find_false_claim
from tests.checker.leaf_changes import fit_bounds
from tests.checker.mutations import CHANGES, mutate_certificate
from tests.checker.originals import make_originals
from tests.checker.sealing import seal_certificate

SAMPLE, MORE = 60, 400
QUICK = ("one digit", "one digit, real", "two digits")  # all pairs of the others take seconds
QUICK += (
    "one digit, a layer behind",
    "one digit, a layer before",
    "one digit, run",
    "refuted, a layer behind",
)


@pytest.fixture(scope="module")
def originals():
    return make_originals()


def require_true(tree, path):
    """Refused in a sentence, not valid, or valid and true."""
    path.write_text(json.dumps(tree))
    try:
        result = check_certificate(path)
    except UserError as error:
        assert str(error).count("\n") == 0
        return False
    assert not result.valid or find_false_claim(tree) == ""
    assert result.valid or (result.verdict, result.sha256, result.inputs) == (None, None, None)
    return result.valid


def test_the_judge_knows_true_from_false(originals):
    """Every original is true; what the judge is there to find, it finds."""
    for name in QUICK:
        assert find_false_claim(originals[name]) == ""
    lies = {
        "margin": lambda tree: [row[4].__setitem__(3, row[4][3] * 9) for row in tree["rows"]],
        "hardest": lambda tree: tree["hardest"][0].update(margin=3.0),
        "bounds": lambda tree: tree["rows"][7][4].__setitem__(1, [9.0] * len(tree["rows"][7][4][1])),
        "classes": lambda tree: tree["rows"].pop(),
    }
    for words, lie in lies.items():
        tree = json.loads(json.dumps(originals["two digits"]))
        lie(tree)
        assert words in find_false_claim(seal_certificate(tree, Random(0)))


@pytest.mark.parametrize("seed", range(SAMPLE))
def test_a_mutant_is_refused_or_true(originals, seed, tmp_path):
    random = Random(seed)
    _, tree = mutate_certificate(originals[random.choice(QUICK)], random)
    require_true(tree, tmp_path / "c.json")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SAMPLE, MORE))
def test_more_mutants_are_refused_or_true(originals, seed, tmp_path):
    random = Random(seed)
    _, tree = mutate_certificate(originals[random.choice(list(originals))], random)
    require_true(tree, tmp_path / "c.json")


def test_a_weaker_claim_is_accepted_and_a_stronger_one_is_not(originals, tmp_path):
    for factor, is_valid in ((0.5, True), (1 - 1e-12, True), (1.002, False), (1e13, False)):
        tree = json.loads(json.dumps(originals["two digits"]))
        for row in tree["rows"]:
            row[4][3] *= factor
        fit_bounds(tree)
        assert require_true(seal_certificate(tree, Random(0)), tmp_path / "c.json") is is_valid


def test_changes_have_names_of_their_own():
    assert len(CHANGES) > 33
