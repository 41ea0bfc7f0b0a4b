"""Saved steps are read back; a step that was not saved is refused with the nearest ones."""

import numpy as np
import pytest

from glassformer.core.atomic import write_arrays
from glassformer.core.errors import UserError
from glassformer.runs.history import History, read_history, read_seed

STEPS = np.array([0, 10, 100, 1000])
HISTORY = History(STEPS, {"a": np.arange(8.0).reshape(4, 2), "b": 10.0 * np.arange(4)})


def test_a_step_is_a_model_of_its_own():
    assert [HISTORY.index_of(step) for step in STEPS] == [0, 1, 2, 3]
    here = HISTORY.at(HISTORY.index_of(100))
    assert (here["a"].tolist(), float(here["b"])) == ([4.0, 5.0], 20.0)


@pytest.mark.parametrize(("step", "nearest"), [(11, "0 and 10"), (90, "10 and 100"), (9999, "100 and 1,000")])
def test_a_step_that_was_not_saved_names_the_nearest(step, nearest):
    with pytest.raises(
        UserError,
        match=f"^step {step} was not saved; the nearest are {nearest} .4 are saved, from 0 to 1,000.$",
    ):
        HISTORY.index_of(step)


def test_the_file_of_a_folder(tmp_path):
    assert read_history(tmp_path) is None
    write_arrays(tmp_path / "history.safetensors", HISTORY.params | {"step": STEPS}, {})
    found = read_history(tmp_path)
    assert found.steps.tolist() == STEPS.tolist()
    assert {name: array.tolist() for name, array in found.params.items()} == {
        name: array.tolist() for name, array in HISTORY.params.items()
    }
    write_arrays(tmp_path / "history.safetensors", HISTORY.params, {})
    with pytest.raises(UserError, match=r"holds no steps; it was left as it is$"):
        read_history(tmp_path)


@pytest.mark.parametrize(
    ("said", "seed"),
    [
        ({"seed": 7}, 7),
        ({}, 0),
        ({"seed": -1}, 0),
        ({"seed": 2**31}, 0),
        ({"seed": True}, 0),
        ({"seed": "7"}, 0),
    ],
)
def test_the_seed_is_a_number_or_0(tmp_path, said, seed):
    write_arrays(tmp_path / "params.safetensors", {"a": np.zeros(1)}, said)
    assert read_seed(tmp_path) == seed
