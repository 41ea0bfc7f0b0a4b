"""The result of a run in its folder: what is damaged is named."""

import shutil

import pytest

from glassformer.cli.program import main
from tests.commands.answers import SETTINGS, answer

pytestmark = pytest.mark.usefixtures("at_home")


def test_a_run_that_has_moved_says_where_it_is(capsys, home, tmp_path):
    shutil.copytree(home / "runs" / "successor", tmp_path / "moved")
    content = answer(capsys, "run", "successor", *SETTINGS.split(), "--out", str(tmp_path / "moved"))
    assert content["folder"] == str(tmp_path / "moved")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"folder": "x"}', b"\xff"])
def test_a_damaged_result_is_named_and_left(capsys, home, tmp_path, content):
    folder = tmp_path / "copy"
    shutil.copytree(home / "runs" / "successor", folder)
    (folder / "result.json").write_bytes(content)
    assert main(["run", "successor", *SETTINGS.split(), "--out", str(folder)]) == 2
    err = capsys.readouterr().err
    assert err == f"glassformer: {folder / 'result.json'} is damaged; --overwrite repeats the run\n"
    assert (folder / "result.json").read_bytes() == content
