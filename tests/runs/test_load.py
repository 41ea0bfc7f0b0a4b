"""From targets to models, and from damaged files to sentences."""

import numpy as np
import pytest

from glassformer.errors import UserError
from glassformer.model.forward import parameters
from glassformer.runs.atomic import write_arrays
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import open_folder
from glassformer.runs.load import load, untrained
from glassformer.runs.tree import to_tree

RUN = CONFIGURATIONS["plus_last_even"]
PARAMS = {
    name: np.full(parameter.shape, 0.5, np.float32)
    for name, parameter in parameters(RUN.architecture).items()
}
ABOUT = {"task": to_tree(RUN.task), "data": to_tree(RUN.data), "model": to_tree(RUN.architecture)}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_says_what_it_is(here):
    write_arrays(here / "x.safetensors", PARAMS, ABOUT)
    loaded = load("x.safetensors")
    assert (loaded.task, loaded.data, loaded.architecture) == (RUN.task, RUN.data, RUN.architecture)
    assert loaded.origin == "x.safetensors"
    np.testing.assert_array_equal(loaded.params["head.bias"], PARAMS["head.bias"])


def test_a_run_by_its_folder_or_its_name(here):
    folder = here / "runs" / "mine"
    open_folder(folder, RUN)
    write_arrays(folder / "params.safetensors", PARAMS, ABOUT)
    for target in ("mine", "runs/mine", str(folder), folder):
        assert load(target).task == RUN.task


@pytest.mark.parametrize(
    ("params", "about", "sentence"),
    [
        (PARAMS, {}, "x.safetensors does not say its architecture and task in its metadata"),
        (
            PARAMS | {"hed.bias": np.zeros(2)},
            ABOUT,
            "no parameter of this architecture called 'hed.bias'; did you",
        ),
        (
            {"token.weight": np.zeros((12, 2))},
            ABOUT,
            "the weights lack position.weight, which should have shape",
        ),
        (
            PARAMS | {"head.bias": np.zeros(3)},
            ABOUT,
            "head.bias has shape (3,), but the architecture needs (12,)",
        ),
        (
            PARAMS | {"head.bias": np.full(12, np.nan)},
            ABOUT,
            "head.bias holds numbers that are not finite",
        ),
        (PARAMS, ABOUT | {"task": {"name": "nothing"}}, "no task called 'nothing'; "),
        (PARAMS, ABOUT | {"model": 3}, "model must be a table of settings, but it is 3"),
    ],
)
def test_weights_that_do_not_fit_get_one_sentence(here, params, about, sentence):
    write_arrays(here / "x.safetensors", params, about)
    before = (here / "x.safetensors").read_bytes()
    with pytest.raises(UserError) as error:
        load("x.safetensors")
    assert str(error.value).startswith(sentence)
    assert (here / "x.safetensors").read_bytes() == before


def test_targets_that_are_nothing(here):
    open_folder(here / "runs" / "begun", RUN)
    (here / "empty").mkdir()
    for target, sentence in {
        "none.safetensors": "no file none.safetensors",
        "empty": "empty holds no run (there is no run.toml in it)",
        "plus_last_even": "'plus_last_even' was not trained here yet: glassformer run plus_last_even",
        "plus_last_evn": "no run, weights file or configuration called 'plus_last_evn'; did you mean",
        "begun": "runs/begun is not finished; glassformer run runs/begun/run.toml --out runs/begun",
    }.items():
        with pytest.raises(UserError) as error:
            load(target)
        assert str(error.value).startswith(sentence)


def test_untrained_models_have_the_first_values_of_their_seed():
    architecture, params, task = untrained("plus_last_even")
    assert (architecture, task) == (RUN.architecture, RUN.task)
    assert sum(array.size for array in params.values()) == 250
    assert np.std(params["token.weight"]) > 0
