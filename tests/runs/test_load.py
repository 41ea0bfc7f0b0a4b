"""From targets to models, and from damaged files to sentences."""

import subprocess
import sys

import numpy as np
import pytest

from glassformer.core.atomic import write_arrays
from glassformer.core.errors import UserError
from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import open_run_folder
from glassformer.runs.load import load_model
from glassformer.runs.tree import to_tree
from glassformer.tasks import Addition
from glassformer.zoo import ZOO
from glassformer.zoo.entry import ZooEntry

RUN = CONFIGURATIONS["plus_last_even"]
PARAMS = {
    name: np.full(parameter.shape, 0.5, np.float32)
    for name, parameter in list_parameters(RUN.architecture).items()
}
ABOUT = {"task": to_tree(RUN.task), "data": to_tree(RUN.data), "model": to_tree(RUN.architecture)}


@pytest.mark.parametrize(
    "name", ["hand-6", "hand-5", "hand-4", "nanogpt-58-repaired", "tinyadder-95-repaired"]
)
def test_formulas_give_another_model_for_another_length(name):
    own, short = load_model(name), load_model(name).with_digits(7)
    assert own.with_digits(None) is own and own.with_digits(10) is own
    again = ZOO[name].at_length(10)
    assert again.architecture == own.architecture and again.task == own.addition
    assert all(np.allclose(array, own.params[key], rtol=1e-6) for key, array in again.build().items())
    assert (short.addition.digits, short.origin) == (7, name)
    assert [short.add(a, b) for a, b in ((999, 1), (57, 68), (0, 0), (499, 500))] == [1000, 125, 0, 999]


@pytest.mark.parametrize("name", ["glass-8", "hand-10", "nanogpt-58", "tinyadder-95"])
def test_other_models_have_one_length(name):
    with pytest.raises(UserError, match="made for numbers of 10 digits and has no positions for 3"):
        load_model(name).with_digits(3)


def test_formulas_have_bounds():
    with pytest.raises(UserError, match="digits must be at most 200"):
        load_model("hand-6").with_digits(201)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_says_what_it_is(here):
    write_arrays(here / "x.safetensors", PARAMS, ABOUT)
    loaded = load_model("x.safetensors")
    assert (loaded.task, loaded.data, loaded.architecture) == (RUN.task, RUN.data, RUN.architecture)
    assert loaded.origin == "x.safetensors"
    np.testing.assert_array_equal(loaded.params["head.bias"], PARAMS["head.bias"])


def test_a_run_by_its_folder_or_its_name(here):
    folder = here / "runs" / "mine"
    open_run_folder(folder, RUN)
    write_arrays(folder / "params.safetensors", PARAMS, ABOUT)
    for target in ("mine", "runs/mine", str(folder), folder):
        assert load_model(target).task == RUN.task


@pytest.mark.parametrize(
    ("params", "about", "sentence"),
    [
        (
            PARAMS,
            {},
            "x.safetensors does not say its architecture and task in its metadata; --model ID says which it has",
        ),
        (
            PARAMS | {"hed.bias": np.zeros(2)},
            ABOUT,
            "x.safetensors: no parameter of this architecture called 'hed.bias'; did you mean 'head.bias'?",
        ),
        (
            {"token.weight": np.zeros((12, 2))},
            ABOUT,
            "x.safetensors: the weights lack position.weight, which should have shape (8, 2)",
        ),
        (
            PARAMS | {"head.bias": np.zeros(3)},
            ABOUT,
            "x.safetensors: head.bias has shape (3,), but the architecture needs (12,)",
        ),
        (
            PARAMS | {"head.bias": np.zeros(12, np.int64)},
            ABOUT,
            "x.safetensors: head.bias has type int64, but the architecture needs floating-point numbers (float32)",
        ),
        (
            PARAMS | {"head.bias": np.zeros(12, bool)},
            ABOUT,
            "x.safetensors: head.bias has type bool, but the architecture needs floating-point numbers (float32)",
        ),
        (
            PARAMS | {"token.weight": np.where(np.arange(24).reshape(12, 2) == 5, np.nan, 1.0)},
            ABOUT,
            "x.safetensors: token.weight holds numbers that are not finite (nan at (2, 1))",
        ),
        (
            PARAMS | {"head.bias": np.where(np.arange(12) == 3, -np.inf, 1.0)},
            ABOUT,
            "x.safetensors: head.bias holds numbers that are not finite (-inf at (3,))",
        ),
        (
            PARAMS | {"head.bias": np.full(12, 1e300)},  # a number for float64, but not for float32
            ABOUT,
            "x.safetensors: head.bias holds numbers that are not finite (inf at (0,))",
        ),
        (PARAMS, ABOUT | {"task": {"name": "nothing"}}, "no task called 'nothing'; "),
        (PARAMS, ABOUT | {"model": 3}, "model must be a table of settings, but it is 3"),
    ],
)
def test_weights_that_do_not_fit_get_one_sentence(here, params, about, sentence):
    write_arrays(here / "x.safetensors", params, about)
    before = (here / "x.safetensors").read_bytes()
    with pytest.raises(UserError) as error:
        load_model("x.safetensors")
    assert str(error.value).startswith(sentence)
    assert (here / "x.safetensors").read_bytes() == before


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_every_floating_type_is_read_in_the_architectures_precision(here, dtype):
    write_arrays(here / "x.safetensors", {name: a.astype(dtype) for name, a in PARAMS.items()}, ABOUT)
    loaded = load_model("x.safetensors")
    assert {array.dtype.name for array in loaded.params.values()} == {"float32"}
    np.testing.assert_array_equal(loaded.params["head.bias"], PARAMS["head.bias"])  # 0.5 is exact in all


def test_model_says_what_a_file_does_not(here):
    write_arrays(here / "x.safetensors", PARAMS, {})
    assert load_model("x.safetensors", "plus_last_even").architecture == RUN.architecture
    write_arrays(here / "x.safetensors", PARAMS, ABOUT)
    for model, sentence in {
        "lucky7": "x.safetensors: token.weight has shape (12, 2), but the architecture needs",
        "plus_last_evn": "no model called 'plus_last_evn'; did you mean 'plus_last_even'? (glassformer list models)",
    }.items():
        with pytest.raises(UserError) as error:
            load_model("x.safetensors", model)
        assert str(error.value).startswith(sentence)
    with pytest.raises(UserError, match=r"^--model is for \.safetensors files; successor says its own"):
        load_model("successor", "plus_last_even")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"junk" * 100),
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(path.read_bytes()[:200]),
        lambda path: path.write_bytes(b"\x80\x04}\x94."),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["empty", "junk", "truncated", "header", "pickle", "folder"],
)
def test_files_that_are_not_safetensors(here, damage):
    path = here / "x.safetensors"
    write_arrays(path, PARAMS, ABOUT)
    damage(path)
    with pytest.raises(UserError, match=r"^x\.safetensors is damaged or not a safetensors file \(") as error:
        load_model("x.safetensors")
    assert "\n" not in str(error.value)


@pytest.fixture
def zoo(monkeypatch):
    """A zoo with one hand-built adder (it always writes 3), one with shipped weights and one without any."""
    task = Addition(digits=2)
    architecture = make_reference_architecture(width=2, context=task.written().length - 1, vocab=10)
    build = {name: np.zeros(p.shape) for name, p in list_parameters(architecture).items()}
    build["head.bias"][3] = 1.0
    entries = {
        name: ZooEntry(name, "for the tests", task, architecture, maker)
        for name, maker in {"threes": lambda: build, "shipped": None, "bare-41": None}.items()
    }
    for name, entry in entries.items():
        monkeypatch.setitem(ZOO, name, entry)
    return build


def test_a_zoo_model_is_built_or_read_from_the_package(here, zoo, monkeypatch):
    monkeypatch.setattr("glassformer.zoo.entry.WEIGHTS", here)
    write_arrays(here / "shipped.safetensors", zoo, {})
    for name in ("threes", "shipped"):
        loaded = load_model(name)
        assert (loaded.origin, loaded.task.digits) == (name, 2)
        assert loaded.params["head.bias"].dtype == np.float32
        assert loaded.add(1, 2) == 333
    with pytest.raises(UserError, match=r"^'bare-41' has no weights here yet: glassformer run bare-41$"):
        load_model("bare-41")


def test_a_zoo_model_without_weights_is_found_among_the_runs(here, zoo):
    task = Addition(digits=2)
    run = Run("bare-41", task=task, model=ZOO["bare-41"].architecture)
    open_run_folder(here / "runs" / "bare-41", run)
    about = {"task": to_tree(task), "model": to_tree(run.architecture)}
    write_arrays(here / "runs" / "bare-41" / "params.safetensors", zoo, about)
    assert load_model("bare-41").origin == "runs/bare-41/params.safetensors"


def test_an_adder_adds_and_a_rule_model_says_that_it_cannot(here, zoo):
    with pytest.raises(UserError, match=r"^a must be an integer between 0 and 99, but it is 100$"):
        load_model("threes").add(100, 1)
    write_arrays(here / "x.safetensors", PARAMS, ABOUT)
    with pytest.raises(UserError, match=r"^x\.safetensors cannot add: it was made for plus_last_even$"):
        load_model("x.safetensors").add(1, 2)


def test_loading_a_zoo_model_starts_without_jax(here):
    code = "import sys, glassformer, glassformer.zoo as zoo\n"
    code += "for name in [name for name, entry in zoo.ZOO.items() if entry.build]: glassformer.load(name)\n"
    code += "glassformer.load; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_targets_that_are_nothing(here):
    (here / "weights.pt").write_bytes(b"x")
    open_run_folder(here / "runs" / "begun", RUN)
    (here / "empty").mkdir()
    for target, sentence in {
        "none.safetensors": "no file none.safetensors",
        "empty": "empty holds no run (there is no run.toml in it)",
        "plus_last_even": "'plus_last_even' was not trained here yet: glassformer run plus_last_even",
        "plus_last_evn": "no model, run or weights file called 'plus_last_evn'; did you mean 'plus_last_even'?",
        "weights.pt": "weights.pt is neither a run folder nor a .safetensors file",
        "begun": "runs/begun is not finished; glassformer run runs/begun/run.toml --out runs/begun",
    }.items():
        with pytest.raises(UserError) as error:
            load_model(target)
        assert str(error.value).startswith(sentence)
