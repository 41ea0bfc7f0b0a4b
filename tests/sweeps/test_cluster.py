"""A sweep on a Ray cluster of two nodes, one of which is killed in mid-run: the same table as without."""

import threading
from functools import partial

import pytest

from glassformer.cli.program import main
from glassformer.commands import sweep_stages as command
from glassformer.scale.cluster import RayEngine
from glassformer.scale.here import LocalEngine
from glassformer.sweeps.folder import open_sweep_folder
from glassformer.sweeps.sweep import run_sweep_units
from tests.scale.jobs import open_pipe, times_begun
from tests.scale.test_cluster import STORE, kill_node, nodes, surroundings

from .jobs import FATAL_SEED, known_after_the_kill, trained_after_the_kill
from .small import QUICK_WORDS, known_result, small_sweep

__all__ = ["nodes", "surroundings"]

KEPT = ("table.csv", "seeds.csv")


@pytest.fixture
def killer(nodes, tmp_path):
    """Kills the node that a unit names, as soon as it does; there are two before."""
    if len(nodes.worker_nodes) < 2:
        nodes.add_node(num_cpus=1, object_store_memory=STORE)
    thread = threading.Thread(target=kill_node, args=(nodes, open_pipe(tmp_path / "node")))
    thread.start()
    yield
    thread.join()


def kept(folder):
    return [(folder / name).read_bytes() for name in KEPT]


@pytest.mark.slow
def test_a_node_is_killed_and_the_table_is_the_same(nodes, killer, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    job = partial(known_after_the_kill, str(tmp_path))
    ray = RayEngine(nodes.address)
    run_sweep_units(there, open_sweep_folder(there, small_sweep()), ray, job, lambda *_: None)
    run_sweep_units(
        here, open_sweep_folder(here, small_sweep()), LocalEngine(), known_result, lambda *_: None
    )
    assert times_begun(tmp_path, 1) == 3  # two units begin with that seed, and one was begun twice
    assert len(nodes.worker_nodes) == 1
    assert kept(there) == kept(here)


@pytest.mark.slow
def test_the_command_survives_the_death_of_a_node(nodes, killer, tmp_path, monkeypatch, capsys):
    """The same with real training, of the command as a whole."""
    monkeypatch.setattr(command, "make_remote_job", lambda _: partial(trained_after_the_kill, str(tmp_path)))
    words = [
        "sweep",
        "successor",
        "--seed",
        str(FATAL_SEED - 4),
        "--seeds",
        "12",
        "--block",
        "4",
        *QUICK_WORDS,
    ]
    there = ["--out", str(tmp_path / "there"), "--engine", "ray", "--address", nodes.address]
    assert main([*words, *there, "--json"]) == 0, capsys.readouterr().err
    assert main([*words, "--out", str(tmp_path / "here"), "--json"]) == 0
    assert times_begun(tmp_path, 1) == 2
    assert kept(tmp_path / "there") == kept(tmp_path / "here")
