"""A certificate in a file: odd numbers are refused."""

import json
from contextlib import suppress
from pathlib import Path

import pytest

from glassformer.checker.file import check_file
from glassformer.core.errors import UserError
from glassformer.proofs.prove import prove_model
from glassformer.runs.load import load_model


@pytest.mark.parametrize("number", [10**400, -1, 1.5, None, "x", [], {}], ids=lambda one: str(one)[:9])
def test_a_certificate_with_odd_numbers_is_refused(tmp_path, number):
    content = json.loads((Path(__file__).parents[2] / "fuzz/runs/adder/certificate.json").read_text())
    for change in (
        {"smallest_margin": number},
        {"counterexample": number},
        {"classes": number},
        {"inputs": number},
    ):
        if change.items() <= content.items():
            continue  # null is what a refuted one has to say of its margins
        (tmp_path / "c.json").write_text(json.dumps(content | change))
        with suppress(UserError):
            assert not check_file(str(tmp_path / "c.json")).valid


def test_the_certificate_of_one_length_belongs_to_a_model_of_every_length(tmp_path):
    """Its hash is that of the model as it is for two digits, which is no other model."""
    loaded, path = load_model("any-8").with_digits(2), tmp_path / "2-digits.json"
    prove_model(loaded, loaded.task, loaded.data, "any-8", False, 60.0, path, is_one_length=True)
    assert check_file(str(path)).same_as == check_file(str(path), "any-8").same_as == "any-8"
    with pytest.raises(UserError, match="not those of any-7"):
        check_file(str(path), "any-7")
