"""The driver: every unit once, results kept as they arrive, and taken up again."""

import numpy as np
import pytest

from glassformer.errors import UserError
from glassformer.runs.load import load
from glassformer.scale.here import Here
from glassformer.scale.processes import Processes
from glassformer.sweep.folder import open_folder
from glassformer.sweep.models import save_models, write_certificates
from glassformer.sweep.reading import make_sweep
from glassformer.sweep.sweep import take_up, work_through
from glassformer.sweep.unit import UnitResult

from .small import GRID, NUMBERS, QUICK, known_result, row, small_sweep

KEPT = ("table.csv", "seeds.csv")


class Recorder:
    """A job that remembers what it was asked for, and can end in the middle."""

    def __init__(self, most=99):
        self.names, self.most = [], most

    def __call__(self, unit):
        if len(self.names) == self.most:
            raise KeyboardInterrupt
        self.names.append(unit.name)
        return known_result(unit)


def work(folder, job, sweep=None, **ways):
    return work_through(
        folder, open_folder(folder, sweep or small_sweep(), **ways), Here(), job, lambda *_: None
    )


def kept(folder):
    return [(folder / name).read_bytes() for name in KEPT]


@pytest.fixture
def whole(tmp_path):
    work(tmp_path / "whole", Recorder())
    return tmp_path / "whole"


def test_processes_make_the_same_table(tmp_path, whole):
    folder = tmp_path / "s"
    work_through(folder, open_folder(folder, small_sweep()), Processes(2), known_result, lambda *_: None)
    assert kept(folder) == kept(whole)


def test_every_unit_is_done_once(tmp_path):
    job = Recorder()
    found = work(tmp_path / "s", job)
    assert sorted(job.names) == sorted(unit.name for unit in small_sweep().units())
    assert [(line.seeds, line.reached, line.proved) for line in found.rows()] == [(5, 3, 1)] * 2
    assert found.seconds_of("successor-peak_rate-0.01") == 4.5


def test_an_interrupted_sweep_goes_on_with_the_units_that_are_left(tmp_path, whole):
    first, second = Recorder(most=2), Recorder()
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path / "s", first)
    work(tmp_path / "s", second)
    assert (len(first.names), len(second.names)) == (2, 4)
    assert not {*first.names} & {*second.names}
    assert kept(tmp_path / "s") == kept(whole)


def test_the_table_is_there_after_every_unit(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path / "s", Recorder(most=1))
    lines = (tmp_path / "s" / "table.csv").read_text().splitlines()
    assert [line.split(",")[3] for line in lines[1:]] == ["2", "0"]


def test_a_damaged_result_is_done_again(tmp_path, whole):
    name = small_sweep().units()[4].name
    (whole / "units" / f"{name}.json").write_text("{}")
    before, job = kept(whole), Recorder()
    found = work(whole, job)
    assert job.names == [name]
    assert found.notes == [f"{name}.json is damaged: the unit is done again"]
    assert kept(whole) == before


def test_results_made_elsewhere_are_taken_up(tmp_path, whole):
    (tmp_path / "s").mkdir()
    (whole / "units").rename(tmp_path / "s" / "units")
    (tmp_path / "s" / "units" / "stranger.json").write_text("{}")
    job = Recorder()
    found = work(tmp_path / "s", job)
    assert job.names == []
    assert found.notes == [
        f"{tmp_path / 's' / 'units' / 'stranger.json'} belongs to no unit of this sweep and is left alone"
    ]
    assert kept(tmp_path / "s") == kept(whole)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"seeds": 6}, "seeds is 5 there and 6 here"), ({"block": 3}, "block is 2 there and 3 here")],
)
def test_another_sweep_in_the_folder_is_refused(whole, changes, sentence):
    with pytest.raises(UserError, match=f"holds another sweep \\({sentence}\\); --overwrite replaces it"):
        open_folder(whole, small_sweep(**changes))


def test_other_settings_in_the_folder_are_refused(whole):
    other = make_sweep("successor", GRID, QUICK | {"train.steps": 9}, NUMBERS)
    with pytest.raises(UserError, match=r"successor-peak_rate-0.01: train.steps is 20 there and 9 here"):
        open_folder(whole, other)
    with pytest.raises(UserError, match="successor is only here"):
        open_folder(whole, make_sweep("successor", None, QUICK, NUMBERS))
    assert open_folder(whole, other, resume=True) == small_sweep()
    assert open_folder(whole, other, overwrite=True) == other
    assert list((whole / "units").iterdir()) == []


def test_strangers_files_are_refused_and_stay(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match=r"holds no sweep \(it has letter.txt\)"):
        open_folder(tmp_path, small_sweep(), overwrite=True)
    assert (tmp_path / "letter.txt").read_text() == "mine"


def test_a_leftover_of_a_process_killed_at_its_very_start_goes(tmp_path):
    (tmp_path / f".sweep.toml.{10**30}.tmp").write_text("")  # no process has such a number
    open_folder(tmp_path, small_sweep())
    assert {path.name for path in tmp_path.iterdir()} == {"sweep.toml", "units"}


def test_the_folder_s_own_file_is_the_same_sweep(whole):
    assert make_sweep(str(whole / "sweep.toml")) == small_sweep() == make_sweep(str(whole))


def known_adder(unit):
    """Both seeds are glass-29 as it is shipped."""
    rows = [row(seed, True, seed == 1, 0.5) for seed in (0, 1)]
    params = {name: np.stack([array, array]) for name, array in load("glass-29").params.items()}
    return UnitResult(rows, params, 1.0, {})


def test_every_proved_model_is_a_file_that_commands_take(tmp_path):
    sweep = make_sweep("glass-29", numbers={"seeds": 2})
    (path,) = save_models(tmp_path / "s", work(tmp_path / "s", known_adder, sweep))
    assert path == tmp_path / "s" / "models" / "glass-29-seed1.safetensors"
    loaded = load(path)
    assert loaded.add(57, 68) == 125
    assert all(np.array_equal(loaded.params[name], array) for name, array in load("glass-29").params.items())
    (certificate,) = write_certificates([path], 20.0)
    assert certificate.name == "glass-29-seed1.certificate.json"
    assert '"proved"' in certificate.read_text()


def test_a_moved_folder_is_taken_up(whole, tmp_path):
    moved = whole.rename(tmp_path / "moved")
    assert take_up(moved, small_sweep()).left() == []
