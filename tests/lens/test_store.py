"""The folder of an analysis: whose it is, what is there, and what is not taken for it."""

from dataclasses import replace

import pytest

from glassformer.core.errors import UserError
from glassformer.lens.plan import AnalysisRequest, plan_units
from glassformer.lens.store import MANIFEST, open_store
from glassformer.lens.treatments import parse_treatments

from .small_llama import in_memory_llama

NUMBERS = {"top": 16, "device": "cpu"}


@pytest.fixture(scope="module")
def model():
    return in_memory_llama()


def opened(folder, checkpoint, numbers=NUMBERS, overwrite=False):
    folder.mkdir(exist_ok=True)  # as its lock does
    return open_store(folder, checkpoint, "llama", numbers, overwrite)


def test_the_same_analysis_goes_on(tmp_path, model):
    checkpoint, layout = model
    units = plan_units(checkpoint, layout, AnalysisRequest((0,), parse_treatments("raw")))[:2]
    store = opened(tmp_path / "a", checkpoint)
    assert store.load(units) == {}
    for record in units[0].work(checkpoint, layout):
        store.keep(record)
    assert [*opened(tmp_path / "a", checkpoint).load(units)] == list(units[0].ids)


def test_a_damaged_file_counts_as_not_there(tmp_path, model):
    checkpoint, layout = model
    units = plan_units(checkpoint, layout, AnalysisRequest((0,), parse_treatments("raw")))[:2]
    store = opened(tmp_path / "a", checkpoint)
    for unit in units:
        for record in unit.work(checkpoint, layout):
            store.keep(record)
    (store.units / f"{units[1].ids[0]}.safetensors").write_bytes(b"junk")
    assert [*store.load(units)] == list(units[0].ids)


@pytest.mark.parametrize(
    ("changes", "numbers", "sentence"),
    [
        (
            {"fingerprint": "x"},
            NUMBERS,
            r"a is about other weights of small; --out .*, --overwrite replaces it",
        ),
        (
            {"name": "big"},
            NUMBERS,
            r"a holds another analysis \(model is 'small' there and 'big' here\); --out",
        ),
        ({}, NUMBERS | {"top": 8}, r"a holds another analysis \(top is 16 there and 8 here\); --out"),
    ],
)
def test_another_model_or_other_numbers_are_refused(tmp_path, model, changes, numbers, sentence):
    checkpoint, _ = model
    opened(tmp_path / "a", checkpoint)
    other = replace(checkpoint, **changes)
    with pytest.raises(UserError, match=sentence):
        opened(tmp_path / "a", other, numbers)
    opened(tmp_path / "a", other, numbers, overwrite=True)
    opened(tmp_path / "a", other, numbers)


def test_overwriting_removes_what_an_analysis_makes_and_nothing_else(tmp_path, model):
    checkpoint, _ = model
    store = opened(tmp_path / "a", checkpoint)
    (tmp_path / "a" / "weights.csv").write_text("old")
    (tmp_path / "a" / "mine.txt").write_text("mine")
    (store.units / "x.safetensors").write_text("old")
    opened(tmp_path / "a", replace(checkpoint, fingerprint="x"), overwrite=True)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["mine.txt", MANIFEST, "units"]
    assert not list(store.units.iterdir())


def test_a_folder_of_others_and_a_damaged_manifest(tmp_path, model):
    checkpoint, _ = model
    (tmp_path / "notes.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(UserError, match=r"is not empty and holds no analysis \(it has notes.txt\)"):
            opened(tmp_path, checkpoint, overwrite=overwrite)
    store = opened(tmp_path / "a", checkpoint)
    for text in ("{", "[]", ""):
        (store.folder / MANIFEST).write_text(text)
        with pytest.raises(UserError, match=r"spectra.json is damaged; --overwrite repeats the analysis"):
            opened(tmp_path / "a", checkpoint)
    opened(tmp_path / "a", checkpoint, overwrite=True)


def test_leftovers_of_a_killed_process_are_removed(tmp_path, model):
    checkpoint, _ = model
    store = opened(tmp_path / "a", checkpoint)
    for folder in (store.folder, store.units):
        (folder / ".x.csv.12.tmp").write_text("half")
    opened(tmp_path / "a", checkpoint)
    assert not list(store.folder.rglob(".*.tmp"))
