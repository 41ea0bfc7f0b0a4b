"""What the list of the zoo says of its models is what the prover says."""

import json

import pytest

from glassformer.runs.load import load_model
from glassformer.zoo import ZOO
from tests.selection import each


def test_listed_verdicts_belong_to_the_weights(capsys):
    from glassformer.proofs.certificate import hash_model
    from glassformer.zoo.entry import VERDICTS

    stated = json.loads(VERDICTS.read_text())
    assert set(stated) == {name for name, entry in ZOO.items() if entry.build or entry.weights}
    for name, about in stated.items():
        model = load_model(name)
        assert about["sha256"] == hash_model(model.architecture, model.params)
    assert {name for name, about in stated.items() if about["verdict"] != "proved"} == {
        "nanogpt-58",
        "tinyadder-95",
    }


@pytest.mark.parametrize(
    "name",
    each(3, (name for name, entry in ZOO.items() if (entry.build or entry.weights) and name != "rope-62")),
)
def test_verdicts_are_what_the_prover_says(name):
    from glassformer.proofs.adder import prove_adder
    from glassformer.zoo.entry import VERDICTS

    model, stated = load_model(name), json.loads(VERDICTS.read_text())[name]
    proof = prove_adder(model, model.addition)
    assert proof.verdict == stated["verdict"]
    assert proof.smallest_margin == pytest.approx(stated["smallest_margin"], rel=1e-3)
