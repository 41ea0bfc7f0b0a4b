"""A certificate in a file: odd numbers are refused."""

import json
from contextlib import suppress
from pathlib import Path

import pytest

from glassformer.checker.file import check_file
from glassformer.core.errors import UserError


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
