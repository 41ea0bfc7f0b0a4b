"""The cache of compiled programs: where it is, and that a place that cannot be used is no error."""

import jax
import pytest

from glassformer.errors import UserError
from glassformer.train.setup import cache_folder, set_up_jax


def test_the_variable_names_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "a" / "b"))
    assert cache_folder() == tmp_path / "a" / "b"
    assert cache_folder().is_dir()


def test_the_users_cache_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("GLASSFORMER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "glassformer" / "xla"


def test_a_place_that_cannot_be_made_is_no_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "file" / "xla"))
    assert cache_folder() is None


def test_precision_is_switched_on_and_off():
    set_up_jax("cpu", "float64")
    try:
        assert jax.numpy.zeros(1, "float64").dtype == "float64"
    finally:
        set_up_jax("cpu", "float32")
    assert jax.config.jax_enable_x64 is False


def test_a_gpu_that_is_not_there_is_said():
    with pytest.raises(UserError, match=r"train\.device is gpu, but JAX finds none here"):
        set_up_jax("gpu")
