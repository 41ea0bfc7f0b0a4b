"""docs/licences.md: every locked package is there with its licence, and no copyleft goes without a word."""

import re
import subprocess
from importlib.metadata import PackageNotFoundError, distribution

import imageio_ffmpeg
import pytest

from glassformer.core.errors import UserError
from tools import licences
from tools.licences import DEVELOPMENT, EXTRAS, PAGE, RUN_TIME, Row, find_closure, read_licence, read_locks

PROSE, _, TABLES = PAGE.read_text(encoding="utf-8").partition(licences.BEGIN)
COPYLEFT = re.compile("GPL|MPL|Mozilla")


def rows_of(title: str) -> dict[str, Row]:
    section = TABLES.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [
        line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| package")
    ]
    rows = [Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines]
    return {row.name: row for row in rows}


SECTIONS = {title: rows_of(title) for title in (RUN_TIME, EXTRAS, DEVELOPMENT)}
EVERY = [row for rows in SECTIONS.values() for row in rows.values()]


def test_every_locked_package_is_there_once_in_its_version():
    assert sorted((row.name, row.version) for row in EVERY) == sorted(read_locks().items())


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.name)
def test_every_licence_is_named_as_the_package_says(row):
    assert row.licence
    assert "unknown" not in row.licence.lower()
    try:
        package = distribution(row.name)
    except PackageNotFoundError:  # what only make bench installs
        return
    assert row.licence == read_licence(package)


def test_the_run_time_list_is_all_that_pip_would_bring():
    assert {*SECTIONS[RUN_TIME]} == find_closure(licences.read_project()["dependencies"])
    assert {title: {*rows} for title, rows in SECTIONS.items()} == licences.sort_packages(read_locks())


def test_every_package_with_copyleft_is_spoken_of():
    copyleft = {row.name for row in EVERY if COPYLEFT.search(row.licence + row.copyleft)}
    assert {"python-flint", "numpy", "scipy", "hypothesis"} <= copyleft
    assert {name for name in copyleft if f"`{name}`" not in PROSE} == set()


def test_a_requirement_brings_what_its_extras_need():
    """ray alone needs no gRPC; the client does."""
    assert "grpcio" in find_closure(["ray[client]"])
    assert "grpcio" not in find_closure(["ray"])


def test_a_requirement_for_another_system_brings_nothing():
    assert find_closure(["tomli-w; sys_platform == 'win32'"]) == set()


def test_another_version_than_the_locked_one_is_refused():
    with pytest.raises(UserError, match=r"numpy is installed as .*, but locked as 0\.1"):
        licences.make_row("numpy", "0.1")


def test_a_page_without_its_marks_is_left_alone(tmp_path):
    (tmp_path / "page.md").write_text("words", encoding="utf-8")
    with pytest.raises(UserError, match="has no place for the tables"):
        licences.fill_page(tmp_path / "page.md")


def test_the_ffmpeg_program_is_what_the_page_says(monkeypatch):
    """Its wheel's metadata names no GPL; the program itself does."""
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-version"]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    assert "--enable-gpl --enable-version3" in said
    assert "--enable-nonfree" not in said
