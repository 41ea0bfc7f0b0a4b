"""The package's own names: what a notebook uses."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glassformer
from glassformer.cli import verbs as cli_verbs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    options = {
        "train.held_out": 64,
        "measure.positions": "100",
        "prove.seconds": 1,
        "draw.figures": "none",
    }
    out = tmp_path_factory.mktemp("api") / "run"
    result = glassformer.run("plus_last_even", out=out, seeds=2, steps=10, options=options)
    assert result.parameters == 250
    return result.folder


def test_load_gives_a_model_with_its_task(folder):
    model = glassformer.load(folder)
    assert model.params["attn.q.weight"].shape == (2, 2)
    assert model.task.name == "plus_last_even"
    assert model.forward([4, 7, 11]).shape == (3, 12)
    both = model.forward([[4, 7, 11], [1, 2, 3]])
    np.testing.assert_allclose(both[0], model.forward([4, 7, 11]), rtol=1e-5, atol=1e-6)  # float32 rounding


def test_trace_is_in_reading_order_and_agrees_with_forward(folder):
    model = glassformer.load(folder)
    trace = model.trace([4, 7, 11])
    np.testing.assert_array_equal(trace["logits"], model.forward([4, 7, 11]))
    np.testing.assert_allclose(trace["attn.weights.0"].sum(1), 1, rtol=1e-6)  # each query's row
    assert trace["attn.weights.0"][0, 1] == 0  # no looking ahead
    np.testing.assert_array_equal(
        trace["embedded"], model.params["token.weight"][[4, 7, 11]] + model.params["position.weight"][:3]
    )


def test_two_processes_do_not_share_a_folder(folder):
    from glassformer.core.atomic import lock_folder
    from glassformer.core.errors import UserError

    with (
        lock_folder(Path(folder)),
        pytest.raises(UserError, match="another process is working in"),
        lock_folder(Path(folder)),
    ):
        pass


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        getattr(glassformer, "lod")  # noqa: B009


VERBS = (
    *(
        "add",
        "check",
        "count",
        "draw",
        "export",
        "list",
        "load",
        "page",
        "prove",
        "prove_bits",
        "prove_population",
        "prune",
    ),
    *("run", "spectra", "sweep", "test", "train", "video"),
)


def test_the_package_shows_its_verbs_and_nothing_else():
    """Also after packages of the same house were imported, which Python sets as attributes."""
    code = "import glassformer, glassformer.runs, glassformer.proofs.verdict; print(dir(glassformer))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([*VERBS])


def test_no_package_has_the_name_of_a_verb():
    root = Path(glassformer.__file__).parent
    assert {path.stem for path in root.iterdir()} & {*VERBS, *cli_verbs.VERBS} == set()


def test_every_command_is_a_function_of_the_same_name():
    functions = {name: verb.function for name, verb in cli_verbs.VERBS.items()}
    assert {name: getattr(glassformer, name) for name in functions} == functions


def test_signatures_are_typed_and_settings_have_names():
    for name in VERBS:
        signature = inspect.signature(getattr(glassformer, name))
        assert signature.return_annotation is not inspect.Signature.empty, name
        kinds = [one.kind for one in signature.parameters.values()]
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name
        assert inspect.Parameter.VAR_POSITIONAL not in kinds, name
        assert all(one.annotation not in (one.empty, Any) for one in signature.parameters.values()), name


def test_train_has_the_settings_of_run():
    assert inspect.signature(glassformer.train) == inspect.signature(glassformer.run)


def test_nothing_heavy_is_imported_with_the_package():
    heavy = ("jax", "numpy", "scipy", "matplotlib", "rich", "safetensors")
    code = f"import sys, glassformer; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_traces_of_many_contexts_are_those_of_each(folder):
    model = glassformer.load(folder)
    many = model.trace(np.array([[4, 7, 11], [1, 2, 3]]))
    for index, tokens in enumerate(([4, 7, 11], [1, 2, 3])):
        one = model.trace(tokens)
        assert set(one) == set(many)
        np.testing.assert_allclose(many["logits"][index], one["logits"], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(many["attn.query.0"][index], one["attn.query.0"])
    scale = 1 / np.sqrt(2)
    products = many["attn.query.0"] @ many["attn.key.0"].transpose(0, 2, 1) * scale
    seen = np.tril(np.ones((3, 3), bool))
    np.testing.assert_allclose(products[:, seen], many["attn.scores.0"][:, seen], rtol=1e-5, atol=1e-6)
