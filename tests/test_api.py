"""The package's own names: what a notebook uses."""

import subprocess
import sys

import numpy as np
import pytest

import glassformer


@pytest.fixture
def folder(tmp_path):
    options = {
        "train.seeds": 2,
        "train.steps": 10,
        "train.held_out": 64,
        "measure.positions": "100",
        "prove.seconds": 1,
        "draw.figures": "none",
    }
    result = glassformer.run("plus_last_even", tmp_path / "run", options)
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
    from pathlib import Path

    from glassformer.errors import UserError
    from glassformer.runs.atomic import locked

    with (
        locked(Path(folder)),
        pytest.raises(UserError, match="another process is working in"),
        locked(Path(folder)),
    ):
        pass


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        getattr(glassformer, "lod")  # noqa: B009


@pytest.mark.parametrize("name", ["check", "draw", "page", "spectra", "export"])
def test_verbs_that_share_their_name_with_a_package_are_both(name):
    """In processes of their own: before and after the package was imported."""
    called = "import glassformer\ntry: glassformer.{0}('nothing')\nexcept glassformer.errors.UserError as error: print(error)"
    for first in ("import glassformer.errors", f"import glassformer.errors, glassformer.{name}"):
        code = f"{first}\n{called.format(name)}\nimport glassformer.{name}\nprint(glassformer.{name}.__path__ != [])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        said, is_package = done.stdout.splitlines()
        assert "nothing" in said
        assert is_package == "True"


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
