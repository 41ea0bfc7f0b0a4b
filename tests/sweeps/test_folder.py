"""Files of others in the folder of a sweep."""

import pytest

from glassformer.core.errors import UserError
from glassformer.sweeps.folder import open_sweep_folder
from tests.sweeps.small import small_sweep


def test_strangers_files_are_refused_and_stay(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match=r"holds no sweep \(it has letter.txt\)"):
        open_sweep_folder(tmp_path, small_sweep(), overwrite=True)
    assert (tmp_path / "letter.txt").read_text() == "mine"


def test_a_leftover_of_a_process_killed_at_its_very_start_goes(tmp_path):
    (tmp_path / f".sweep.toml.{10**30}.tmp").write_text("")  # no process has such a number
    open_sweep_folder(tmp_path, small_sweep())
    assert {path.name for path in tmp_path.iterdir()} == {"sweep.toml", "units"}
