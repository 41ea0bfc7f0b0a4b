"""When a page is written anew, and what happens where it cannot be."""

import os

from glassformer.commands import page_files as command
from glassformer.commands.run_result import read_result
from glassformer.commands.run_stages import make_page
from glassformer.runs.folder import read_stored_run
from glassformer.runs.load import load_run


def test_a_page_is_stale_where_it_is_older_than_its_run(small_run):
    folder = small_run("lucky7")
    assert command.is_stale(folder)
    (folder / "page.html").write_text("")
    os.utime(folder / "page.html", (2e9, 2e9))
    assert not command.is_stale(folder)
    os.utime(folder / "result.json", (2.1e9, 2.1e9))
    assert command.is_stale(folder)


def test_a_page_that_cannot_be_written_does_not_lose_the_run(small_run, monkeypatch, capsys):
    folder = small_run("lucky7")
    monkeypatch.setattr(command, "write_model_page", lambda *words: [][0])
    make_page(folder, read_stored_run(folder), load_run(folder))
    assert (
        capsys.readouterr().err
        == f"glassformer: {folder}/page.html was not written: list index out of range\n"
    )
    assert read_result(folder).seeds == 16
