"""The driver: every unit once, results kept as they arrive, and taken up again."""

import pytest

from glassformer.core.errors import UserError
from glassformer.scale.processes import ProcessEngine
from glassformer.sweeps.folder import open_sweep_folder
from glassformer.sweeps.reading import make_sweep
from glassformer.sweeps.sweep import read_sweep_progress, run_sweep_units
from tests.sweeps.small import GRID, NUMBERS, QUICK, known_result, small_sweep, work

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


def kept(folder):
    return [(folder / name).read_bytes() for name in KEPT]


@pytest.fixture
def whole(tmp_path):
    work(tmp_path / "whole", Recorder())
    return tmp_path / "whole"


def test_processes_make_the_same_table(tmp_path, whole):
    folder = tmp_path / "s"
    run_sweep_units(
        folder, open_sweep_folder(folder, small_sweep()), ProcessEngine(2), known_result, lambda *_: None
    )
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
        open_sweep_folder(whole, small_sweep(**changes))


def test_other_settings_in_the_folder_are_refused(whole):
    other = make_sweep("successor", GRID, QUICK | {"train.steps": 9}, NUMBERS)
    with pytest.raises(UserError, match=r"successor-peak_rate-0.01: train.steps is 20 there and 9 here"):
        open_sweep_folder(whole, other)
    with pytest.raises(UserError, match="successor is only here"):
        open_sweep_folder(whole, make_sweep("successor", None, QUICK, NUMBERS))
    assert open_sweep_folder(whole, other, resume=True) == small_sweep()
    assert open_sweep_folder(whole, other, overwrite=True) == other
    assert list((whole / "units").iterdir()) == []


def test_the_folder_s_own_file_is_the_same_sweep(whole):
    assert make_sweep(str(whole / "sweep.toml")) == small_sweep() == make_sweep(str(whole))


def test_a_moved_folder_is_taken_up(whole, tmp_path):
    moved = whole.rename(tmp_path / "moved")
    assert read_sweep_progress(moved, small_sweep()).left() == []
