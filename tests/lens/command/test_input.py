"""Which layers, and into which folder."""

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.core.errors import UserError
from glassformer.lens.command.input import _choose_default_folder, parse_layers
from glassformer.lens.read.checkpoint import Checkpoint


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "1-2-3", "1,,2", "1_0", "99999999", "²"])
def test_layers_that_are_no_numbers_and_ranges(text):
    with pytest.raises(UserError, match="--layers must be numbers and ranges"):
        parse_layers(text)


def test_the_folder_is_inside_a_run_and_beside_the_user_otherwise(here):
    run = Checkpoint("adder", "runs/adder/params.safetensors", "glassformer", {}, {}, "")
    assert _choose_default_folder(run) == Path("adder.spectra")
    (here / "runs" / "adder").mkdir(parents=True)
    (here / "runs" / "adder" / "run.toml").write_text("")
    assert _choose_default_folder(run) == Path("runs/adder/spectra")
    assert _choose_default_folder(replace(run, name="org/name", kind="safetensors")) == Path("name.spectra")


def test_layers():
    assert parse_layers("0-2, 8,8-9") == {0, 1, 2, 8, 9}
