"""A process that is killed between a file and its seal: whatever it was about, the next command makes good."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.commands.page import page
from glassformer.commands.run_stages import draw_figures, make_page
from glassformer.core.atomic import write_json
from glassformer.runs.folder import read_stored_run
from glassformer.runs.load import load_run
from glassformer.runs.seal import digest_files, is_sealed, read_digests, replace_sealed_files

SMALL = Path(__file__).parent.parent / "pictures" / "runs" / "lucky7"
CAPTIONS = "figures/captions.md"


@pytest.fixture
def run(tmp_path):
    """A finished run with a seal on every file."""
    folder = Path(shutil.copytree(SMALL, tmp_path / "runs" / "one"))
    result = json.loads((folder / "result.json").read_text())
    write_json(folder / "result.json", result | {"digests": digest_files(folder)})
    return folder


@pytest.fixture
def config(run):
    config = read_stored_run(run)
    return replace(config, draw=replace(config.draw, figures="05"))


def unseal(folder, name):
    """As a process that is killed before it seals what it wrote."""
    with pytest.raises(KeyboardInterrupt), replace_sealed_files(folder, name):
        raise KeyboardInterrupt


def test_captions_that_a_killed_process_did_not_reach(run, config):
    draw_figures(run, config, load_run(run), False)
    whole, figure = digest_files(run), run / "figures" / "05_token_embeddings.png"
    drawn = figure.stat().st_mtime_ns
    unseal(run, "figures/")
    (run / CAPTIONS).unlink()
    draw_figures(run, config, load_run(run), False)
    assert read_digests(run) == digest_files(run) == whole
    assert figure.stat().st_mtime_ns == drawn  # it was there


def test_a_page_that_was_not_sealed_is_written_again_by_run(run, config):
    make_page(run, config, load_run(run))
    unseal(run, "page.html")
    make_page(run, config, load_run(run))
    assert read_digests(run) == digest_files(run)


def test_a_page_that_was_not_sealed_is_written_again_with_the_index(run):
    page(run)
    unseal(run, "page.html")
    assert page(run.parent).files == [str(run.parent / "index.html"), str(run / "page.html")]
    assert read_digests(run) == digest_files(run)
    assert page(run.parent).files == [str(run.parent / "index.html")]


def test_what_is_sealed(run):
    assert is_sealed(run, "params.safetensors")
    assert not is_sealed(run, "page.html")
    (run / "page.html").write_text("half")
    assert not is_sealed(run, "page.html")
    (run / "params.safetensors").write_bytes(b"half")
    assert not is_sealed(run, "params.safetensors")
    shutil.copy(SMALL / "result.json", run)  # of an older version, without seals
    assert is_sealed(run, "page.html") and not is_sealed(run, "none.html")


def test_a_seal_never_makes_a_result_younger(run, monkeypatch):
    """Not even for the moment in which the process may be killed."""
    times, real = [], Path.replace

    def note_time(path, target):
        times.append(path.stat().st_mtime_ns)
        return real(path, target)

    before = (run / "result.json").stat().st_mtime_ns
    monkeypatch.setattr("pathlib.Path.replace", note_time)
    with replace_sealed_files(run, "page.html"):
        pass
    assert times == [before, before]
