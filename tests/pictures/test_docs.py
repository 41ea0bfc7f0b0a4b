"""The page about pictures names every figure, panel and video, as the program does."""

import re
from pathlib import Path

from glassformer.pictures.registry import FIGURES, FILMS, PANELS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "pictures.md").read_text()


def test_every_figure_panel_and_video_is_listed():
    for one in (*FIGURES, *PANELS):
        assert f"| {one.id} | {one.name} | {one.about} |" in PAGE
    for video in FILMS:
        assert f"| {video.id} | {video.about} |" in PAGE


def test_the_count_in_the_readme_is_that_of_the_set():
    text = (DOCS.parent / "README.md").read_text()
    assert re.findall(r"(\d+) figures", text) == [str(len(FIGURES))]


def test_the_gallery_shows_the_whole_set_and_nothing_that_is_not_there():
    pages = [DOCS / "gallery" / name for name in ("README.md", "page.md")]
    gallery = "".join(page.read_text() for page in pages)
    shown = re.findall(r"\]\(([^)]+)\)", gallery)
    assert all((DOCS / "gallery" / file).exists() for file in shown)
    assert {f"plus_last_even-{picture.file}.png" for picture in FIGURES} <= set(shown)
    kept = {path.name for path in (DOCS / "gallery").iterdir()} - {"README.md", "page.md"}
    assert kept == set(shown)
