"""The Ray engine on a cluster of three nodes of this machine: workers and a whole node are killed in mid-run."""

import os
import shutil
import threading
from functools import partial

import pytest

import glassformer
from glassformer.core.errors import UserError
from glassformer.scale import cluster as module
from glassformer.scale.child import make_import_path
from glassformer.scale.cluster import RayEngine
from glassformer.scale.foreman import QUIET
from glassformer.scale.here import LocalEngine
from glassformer.scale.session import make_session_folder
from tests.lens.small_llama import write_llama

from .jobs import (
    does_or_holds,
    kills_its_worker,
    kills_its_worker_once,
    open_pipe,
    read_pipe,
    refuses_three,
    squared,
    times_begun,
    waits_for_its_node_to_die,
)

UNITS = [0, 1, 2, 3, 4, 5]
STORE = 80 * 2**20  # bytes; the least that Ray takes is 75 MiB


@pytest.fixture(scope="module", autouse=True)
def surroundings(ray_token):
    """Of every process of Ray here: no noise, a token and a folder of our own, and where the jobs are."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": ray_token}
    folder = make_session_folder()
    paths = {"PYTHONPATH": make_import_path(), "RAY_TMPDIR": str(folder)}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**QUIET, **token, **paths}.items():
            patch.setenv(name, value)
        yield
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def nodes(surroundings):
    """A head that does no units, and two nodes with room for one unit each."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        made.add_node(wait=False, num_cpus=1, object_store_memory=STORE)
    made.wait_for_nodes()
    yield made
    made.shutdown()


def test_a_killed_worker_changes_nothing(nodes, tmp_path):
    job = partial(kills_its_worker_once, str(tmp_path))
    assert sorted(RayEngine(nodes.address).work(job, UNITS)) == list(LocalEngine().work(squared, UNITS))
    assert times_begun(tmp_path, 1) == 2


@pytest.mark.slow
def test_a_unit_that_no_worker_survives_is_named(nodes):
    with pytest.raises(UserError, match=r"^unit 5: 3 workers died of it, the last one by WorkerCrashedError"):
        list(RayEngine(nodes.address).work(kills_its_worker, [5]))


def test_the_error_of_a_job_is_one_sentence_and_ends_the_work(nodes):
    with pytest.raises(UserError, match=r"^three is one too many$"):
        list(RayEngine(nodes.address).work(refuses_three, [3, 1, 2]))


def test_a_unit_that_fits_no_node_is_one_sentence(nodes):
    with pytest.raises(UserError, match=r"^no node of the Ray cluster at .* has 1 CPU and 1 GPU, which"):
        list(RayEngine(nodes.address, gpus_per_unit=1).work(squared, UNITS))


def test_spectra_writes_the_same_bytes(nodes, tmp_path):
    """A unit is a layer, and the worker opens the checkpoint by its path."""
    model, words = write_llama(tmp_path / "llama"), {"formats": ("none",), "relations": "all"}
    glassformer.spectra(model, out=tmp_path / "here", **words)
    glassformer.spectra(model, out=tmp_path / "ray", engine="ray", address=nodes.address, **words)
    assert written(tmp_path / "ray") == written(tmp_path / "here")


def written(folder):
    kinds = (".csv", ".safetensors")
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.suffix in kinds}
    assert len(files) > 20
    return {name: path.read_bytes() for name, path in files.items()}


def test_a_node_is_killed_and_nothing_is_lost_or_counted_twice(nodes, tmp_path):
    """Unit 1 waits until its whole node is killed, and is done again on the other."""
    pipe = open_pipe(tmp_path / "node")
    killer = threading.Thread(target=kill_node, args=(nodes, pipe))
    killer.start()
    job = partial(waits_for_its_node_to_die, str(tmp_path))
    found = list(RayEngine(nodes.address).work(job, UNITS))
    killer.join()
    assert sorted(found) == list(LocalEngine().work(squared, UNITS))
    assert times_begun(tmp_path, 1) == 2
    assert len(nodes.worker_nodes) == 1


def kill_node(nodes, pipe):
    """The raylet of the node that is named through the pipe, without a word to it."""
    name = read_pipe(pipe)
    os.close(pipe)
    node = next(node for node in nodes.worker_nodes if node.node_id == name)
    nodes.remove_node(node, allow_graceful=False)


def test_no_units_need_no_cluster():
    assert list(RayEngine("127.0.0.1:1").work(squared, [])) == []


@pytest.mark.parametrize(
    "address, sentence",
    [
        ("127.0.0.1:1", r"^no Ray cluster answers at 127.0.0.1:1: Connection refused$"),
        ("ray://127.0.0.1:1", r"^no Ray cluster answers at ray://127.0.0.1:1: Connection refused$"),
        ("head", r"^--address must be auto, HOST:PORT or ray://HOST:PORT, but it is 'head'$"),
        (
            "http://head:1",
            r"^--address must be auto, HOST:PORT or ray://HOST:PORT, but it is 'http://head:1'$",
        ),
    ],
)
def test_an_address_where_no_cluster_is_is_one_sentence(address, sentence):
    with pytest.raises(UserError, match=sentence):
        list(RayEngine(address).work(squared, [1]))


def test_a_cluster_that_does_not_answer_in_time_is_one_sentence(monkeypatch):
    monkeypatch.setattr(module, "CONNECT", 0.0)
    with pytest.raises(UserError, match=r"^a Ray cluster on this machine did not answer within 0 seconds$"):
        list(RayEngine().work(squared, [1]))


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^--engine ray needs Ray: pip install 'glassformer\[ray\]'$"):
        list(RayEngine().work(squared, [1]))


@pytest.mark.slow
def test_a_cluster_of_this_machine_is_started_for_the_work_and_ends_with_it(tmp_path):
    pipe = open_pipe(tmp_path / "pipe")
    results = RayEngine(workers=2).work(partial(does_or_holds, str(tmp_path / "pipe")), [1, 0])
    assert next(results) == (1, 1)
    assert read_pipe(pipe) == "begun\n"
    results.close()
    assert read_pipe(pipe) == ""
    os.close(pipe)
