"""An analysis by other processes: byte for byte what the threads of this one make of it."""

import json
from pathlib import Path

import pytest

import glassformer
from glassformer.cli.program import main
from glassformer.core.errors import UserError
from glassformer.lens.adapt.opened import make_target_absolute, open_target
from glassformer.lens.plan import AnalysisRequest, plan_units
from glassformer.lens.treatments import parse_treatments
from glassformer.lens.work import compute_layer_records, group_by_layer

from .small_llama import in_memory_llama, write_llama

BAD = "model.layers.1.mlp.up_proj.weight"
MADE = (".csv", ".safetensors")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_llama(tmp_path / "llama")
    return tmp_path


def written(*targets, **words):
    """All tables and units of an analysis."""
    folder = Path("-".join(["out", *targets, *map(str, words.values())]))
    options = {"formats": ("none",), "treatments": "raw,folded", "singular_values": True}
    glassformer.spectra(*targets, out=folder, **options, **words)
    return contents(folder)


def contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.suffix in MADE)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_processes_write_the_same_bytes():
    plain = written("llama")
    assert len(plain) > 30
    assert written("llama", engine="processes", workers=2) == plain


@pytest.mark.slow
def test_of_two_models_too():
    write_llama(Path("other"), seed=1)
    plain = written("llama", "other")
    assert any(name.startswith("change") for name in plain)
    assert written("llama", "other", engine="processes", workers=1) == plain


def test_a_model_of_ours_by_the_command_line(capsys):
    words = ["nanogpt-58", "--format", "none", "--treatments", "raw,folded", "--singular-values", "--json"]
    assert main(["spectra", *words, "--out", "out", "--engine", "processes", "--workers", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["folder"] == "out"
    assert contents(Path("out")) == written("nanogpt-58")


def test_what_is_there_is_not_done_again():
    plain = written("llama")
    folder = Path("again")
    glassformer.spectra("llama", out=folder, layers="1", treatments="raw,folded", formats=("none",))
    before = {path: path.stat().st_mtime_ns for path in (folder / "units").iterdir()}
    options = {"formats": ("none",), "treatments": "raw,folded", "singular_values": True}
    glassformer.spectra("llama", out=folder, engine="processes", workers=1, **options)
    assert before
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert contents(folder) == plain


def test_an_error_says_where_and_keeps_what_is_finished(here):
    write_llama(here / "bad", bad=[BAD])
    with pytest.raises(UserError, match=r"^W_up of layer 1: .*; what is finished is kept in .*out$"):
        glassformer.spectra("bad", out="out", engine="processes", workers=1, formats=("none",))
    assert {line.partition(",")[0] for line in Path("out/heads.csv").read_text().splitlines()[1:]} >= {"0"}


def test_a_unit_is_a_layer():
    checkpoint, layout = in_memory_llama()
    units = plan_units(checkpoint, layout, AnalysisRequest((0, 1, 2), parse_treatments("raw")))
    layers = group_by_layer(units)
    assert [layer.name for layer in layers] == ["layer 0", "what belongs to no layer", "layer 1", "layer 2"]
    assert sorted(unit.ids for layer in layers for unit in layer.units) == sorted(unit.ids for unit in units)


def test_other_weights_on_a_worker_are_one_sentence():
    target = make_target_absolute("llama")
    layer = group_by_layer(plan_units(*open_target(target), AnalysisRequest((0,), parse_treatments("raw"))))[
        0
    ]
    with pytest.raises(
        UserError, match=r"/llama: a worker finds other weights there than this process does$"
    ):
        compute_layer_records((target,), "another", layer)


@pytest.mark.parametrize(
    "words, sentence",
    [
        ({"engine": "rya"}, r"^no engine called 'rya'; did you mean 'ray'\? \(see docs/clusters.md\)$"),
        ({"address": "auto"}, r"^--address is for --engine ray, but the engine is 'here'$"),
        (
            {"engine": "ray", "address": "127.0.0.1:1"},
            r"^no Ray cluster answers at 127.0.0.1:1: Connection refused",
        ),
    ],
)
def test_a_wrong_word_is_one_sentence(words, sentence):
    with pytest.raises(UserError, match=sentence):
        glassformer.spectra("llama", **words)
