"""Training into a folder: killed at any write, it ends with the same bytes."""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from glassformer.core.atomic import read_arrays, write_arrays
from glassformer.core.errors import UserError
from glassformer.models.architecture import make_reference_architecture
from glassformer.runs import training
from glassformer.runs.config import Run
from glassformer.runs.load import load_model
from glassformer.runs.metrics import COLUMNS, SCORES, read_metrics
from glassformer.runs.training import TrainedPopulation, train_into_folder
from glassformer.tasks import Addition, Sequences, make_rule
from glassformer.training import population, rows
from glassformer.training.objective import HeldOutScores
from glassformer.training.population import Population
from glassformer.training.settings import TrainSettings
from tests.selection import each

TRAIN = TrainSettings(
    seeds=3, steps=5, evaluate_every=2, batch=4, held_out=16, warm_up=2, polish_steps=1, polish_batch=8
)
RUN = Run(
    name="tiny",
    task=make_rule("successor", high=4),
    data=Sequences(20, 6, 8),
    model=make_reference_architecture(width=2, context=4),
    train=TRAIN,
)
PROGRAMS = {}
KEPT = ("params.safetensors", "population.safetensors", "history.safetensors", "metrics.csv")
WRITES = 1 + 4 * 3 + 3  # checkpoint 0; checkpoint, metrics and state four times; population, history, params


class Killed(BaseException):
    """Like SIGKILL, nothing catches it."""


@pytest.fixture(autouse=True)
def compiled_once_for_all(monkeypatch):
    """The same population serves all runs of this file, so that each costs milliseconds."""
    monkeypatch.setattr(training, "Population", shared_population)
    monkeypatch.setattr(population, "compile_for_rows", compile_once)


def compile_once(job, train, *lanes):
    name = getattr(job, "func", job).__qualname__, str(getattr(job, "args", ())[-1:]), train
    return PROGRAMS.setdefault(name, rows.compile_for_rows(job, train, *lanes))


@cache
def shared_population_of(train):
    source = RUN.task.sampler(RUN.data, RUN.model.context)
    return Population(RUN.architecture, source, train, np.arange(train.seeds) + train.first_seed)


def shared_population(architecture, source, train, seeds):
    assert (architecture, source.rule) == (RUN.architecture, RUN.task)
    assert seeds.tolist() == [train.first_seed + i for i in range(train.seeds)]
    return shared_population_of(train)


def train(folder: Path, run: Run = RUN) -> TrainedPopulation:
    folder.mkdir(exist_ok=True)
    return train_into_folder(folder, run, lambda step, rows: None)


def kept(folder):
    return {name: (folder / name).read_bytes() for name in KEPT}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run."""
    patch = pytest.MonkeyPatch()
    patch.setattr(training, "Population", shared_population)
    folder = tmp_path_factory.mktemp("whole")
    train(folder)
    patch.undo()
    return folder


def kill_at(monkeypatch, number, before):
    """Die just before, or just after, the given file gets its name."""
    done, real = [0], Path.replace

    def replace(path, target):
        done[0] += 1
        if done[0] == number and before:
            raise Killed
        real(path, target)
        if done[0] == number:
            raise Killed

    monkeypatch.setattr("pathlib.Path.replace", replace)


@pytest.mark.parametrize(
    ("number", "before"), each(3, [(number, bool(odd)) for number in range(1, WRITES + 1) for odd in (1, 0)])
)
def test_killed_at_any_write_it_ends_with_the_same_bytes(monkeypatch, tmp_path, whole, number, before):
    with monkeypatch.context() as patch:
        kill_at(patch, number, before)
        with pytest.raises(Killed):
            train(tmp_path)
    train(tmp_path)
    assert kept(tmp_path) == kept(whole)


def test_killed_again_and_again(monkeypatch, tmp_path, whole):
    kills = 0
    for number in np.random.default_rng(0).integers(1, 6, 40):
        with monkeypatch.context() as patch:
            kill_at(patch, int(number), before=bool(number % 2))
            try:
                train(tmp_path)
            except Killed:
                kills += 1
                continue
            break
    train(tmp_path)
    assert kills >= 4
    assert kept(tmp_path) == kept(whole)


def test_a_finished_run_is_finished_again_with_the_same_bytes(tmp_path, whole):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    train(tmp_path)
    assert kept(tmp_path) == kept(whole)


def test_progress_goes_from_where_it_was_to_the_end(monkeypatch, tmp_path):
    steps = []
    train_into_folder(tmp_path, RUN, lambda step, rows: steps.append((step, len(rows))))
    assert steps == [(0, 0), (2, 3), (4, 3), (5, 3)]
    with monkeypatch.context() as patch:
        kill_at(patch, 9, before=False)
        (tmp_path / "again").mkdir()
        with pytest.raises(Killed):
            train(tmp_path / "again")
    steps.clear()
    train_into_folder(tmp_path / "again", RUN, lambda step, rows: steps.append((step, len(rows))))
    assert steps == [(4, 3), (5, 3)]


def test_metrics_hold_every_evaluation_of_every_seed(whole):
    rows = read_metrics(whole)
    assert [(row["step"], row["seed"]) for row in rows] == [(s, i) for s in (2, 4, 5, 6) for i in range(3)]
    assert (whole / "metrics.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
    assert HeldOutScores._fields == SCORES
    assert all(0 <= row["argmax_accuracy"] <= 1 for row in rows)


def test_the_best_seed_is_kept(whole):
    last = read_metrics(whole)[-3:]
    best = max(last, key=lambda row: (row["argmax_accuracy"], row["right_probability"]))
    population, about = read_arrays(whole / "population.safetensors")
    assert population["seed"].tolist() == [0, 1, 2]
    assert about["seed"] == best["seed"]
    loaded = load_model(whole / "params.safetensors")
    assert (loaded.task, loaded.data, loaded.architecture) == (RUN.task, RUN.data, RUN.architecture)
    for name, array in loaded.params.items():
        np.testing.assert_array_equal(array, population[name][best["seed"]])


def test_only_the_best_are_polished(tmp_path, whole):
    """With one seed to polish, the best before the polish gets the bits it has when all are; others stay."""
    train(tmp_path, replace(RUN, train=replace(TRAIN, polish_seeds=1)))
    before, after = (read_metrics(tmp_path)[start : start + 3] for start in (6, 9))
    best = training.rank_seeds(before, RUN.task)[0]
    assert after[best] == read_metrics(whole)[9 + best] != before[best] | {"step": 6}
    others = [place for place in range(3) if place != best]
    assert [after[place] for place in others] == [before[place] | {"step": 6} for place in others]


def test_mined_problems_join_the_polish(tmp_path):
    """Two more rounds, each on what the miner finds in the best models as they are then; killed, they go on."""
    asked, run = [], replace(RUN, train=replace(TRAIN, mine=2))
    problem = np.array([0, 1, 2, 3, 4])[:, None]  # one window

    def miner(config, everyone):
        asked.append({name: array.copy() for name, array in everyone.items()})
        return problem

    def mined(folder, miner):
        folder.mkdir(exist_ok=True)
        return train_into_folder(folder, run, lambda step, rows: None, miner)

    mined(tmp_path / "whole", miner)
    steps = [row["step"] for row in read_metrics(tmp_path / "whole")]
    assert sorted(set(steps)) == [2, 4, 5, 6, 7, 8]
    assert len(asked) == 2
    assert any((asked[0][name] != asked[1][name]).any() for name in asked[0])

    def killed(config, everyone):
        if len(asked) == 3:
            raise Killed
        return miner(config, everyone)

    with pytest.raises(Killed):
        mined(tmp_path / "again", killed)
    assert mined(tmp_path / "again", miner).rows == mined(tmp_path / "whole", miner).rows
    assert kept(tmp_path / "again") == kept(tmp_path / "whole")
    plain = train(tmp_path / "plain")
    assert plain.rows != mined(tmp_path / "whole", miner).rows


def test_what_a_seed_is_chosen_by():
    """A rule by its places and their probability, an adder by whole sums and then by its smallest margin."""
    names = ("argmax_accuracy", "right_probability", "whole_accuracy", "smallest_margin", "loss")
    table = [
        (0.9, 0.5, 1.0, 0.1, 1.0),
        (0.9, 0.6, 1.0, 0.3, 1.0),
        (0.8, 0.9, 0.9, 9.0, 1.0),
        (1.0, 1.0, 1.0, 1.0, np.nan),
    ]
    rows = [dict(zip(names, row, strict=True)) for row in table]
    assert training.rank_seeds(rows, RUN.task) == [1, 0, 2]
    rows[0]["argmax_accuracy"] = 0.95
    assert training.rank_seeds(rows, RUN.task) == [0, 1, 2]
    assert training.rank_seeds(rows, Addition()) == [1, 0, 2]
    with pytest.raises(UserError, match="every seed diverged"):
        training.rank_seeds(rows[3:], RUN.task)


def test_history_is_every_checkpoint_of_the_best_seed(whole):
    history, _ = read_arrays(whole / "history.safetensors")
    params, _ = read_arrays(whole / "params.safetensors")
    assert history["step"].tolist() == [0, 2, 4, 5, 6]
    for name, array in params.items():
        assert history[name].shape == (5, *array.shape)
        np.testing.assert_array_equal(history[name][-1], array)
    assert not np.array_equal(history["ff.up.weight"][0], history["ff.up.weight"][-1])


def test_long_histories_are_thinned_and_keep_both_ends(monkeypatch, tmp_path, whole):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(training, "HISTORY_BYTES", 3 * 4 * shared_population_of(TRAIN).flat.size)
    train(tmp_path)
    history, _ = read_arrays(tmp_path / "history.safetensors")
    assert history["step"].tolist() == [0, 4, 6]


def test_a_run_whose_first_seed_is_another(tmp_path, whole):
    """Seed 2 alone is seed 2 of the population."""
    train(tmp_path, replace(RUN, train=replace(TRAIN, seeds=1, first_seed=2, polish_steps=0)))
    for step in (0, 2, 4, 5):
        name = f"checkpoints/{step:09d}.safetensors"
        alone, among = (read_arrays(folder / name)[0]["vectors"] for folder in (tmp_path, whole))
        np.testing.assert_array_equal(alone[0], among[2])


DAMAGES = {
    "state.safetensors": [b"", b"junk", None],
    "metrics.csv": [b"", b"step,seed\n1,2\n", b"\x00\x00", b"\xff\xfe", None],
}


@pytest.mark.parametrize(
    ("name", "content"), [(name, content) for name, every in DAMAGES.items() for content in every]
)
def test_damage_is_named_and_left_as_it_is(tmp_path, whole, name, content):
    """None: cut off in the middle."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-200] if content is None else content)
    before = path.read_bytes()
    with pytest.raises(UserError) as error:
        train(tmp_path)
    assert str(error.value).startswith(f"{path} is damaged")
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_missing_metrics_are_noticed(tmp_path, whole):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    lines = (tmp_path / "metrics.csv").read_text().splitlines(keepends=True)
    (tmp_path / "metrics.csv").write_text("".join(lines[:-3]))
    with pytest.raises(
        UserError, match=r"metrics.csv is damaged \(rows are missing\); --overwrite starts over"
    ):
        train(tmp_path)
    (tmp_path / "metrics.csv").unlink()
    with pytest.raises(UserError, match=r"metrics.csv is damaged \(.*No such file"):
        train(tmp_path)


@pytest.mark.parametrize("change", ["step", "shape", "name", "dtype"])
def test_the_state_of_another_run_is_refused(tmp_path, whole, change):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "state.safetensors"
    arrays, about = read_arrays(path)
    first = arrays["leaf.0"]
    if change == "step":
        about = {"step": 3}
    elif change == "shape":
        arrays["leaf.0"] = first[:2]
    elif change == "dtype":
        arrays["leaf.0"] = first.astype(np.float64)
    else:
        arrays["leaf.99"] = first
    write_arrays(path, arrays, about)
    with pytest.raises(UserError) as error:
        train(tmp_path)
    assert str(error.value) == f"{path} is of another run; --overwrite starts over"


def test_a_full_disk_stops_the_run_and_a_freed_one_goes_on(monkeypatch, tmp_path, whole):
    import errno
    import os

    done, real = [0], os.fsync

    def fsync(number):
        done[0] += 1
        if done[0] > 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(number)

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fsync)
        with pytest.raises(
            UserError, match=r"^cannot write .*: No space left on device; what was there is unch"
        ):
            train(tmp_path)
    assert not list(tmp_path.rglob("*.tmp"))
    train(tmp_path)
    assert kept(tmp_path) == kept(whole)
