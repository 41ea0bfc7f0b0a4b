"""Files of the set: pictures, data, captions; what is left out is said."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.atomic import read_arrays
from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.lens.figures import draw
from glassformer.lens.figures.draw import draw_analysis
from glassformer.pictures import pipeline
from glassformer.pictures.registry import SPECTRA
from glassformer.pictures.save import save_data
from tests.lens.figures.synthetic import made

FEW = [picture for picture in SPECTRA if picture.id in ("S03", "S06", "S15")]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(draw, "SPECTRA", FEW)


@pytest.mark.usefixtures("few")
def test_files_data_and_captions_are_written(tmp_path):
    said: list[str] = []
    files = draw_analysis(made("tiny"), tmp_path, ["png"], THEMES["light"], said.append)
    assert [path.name for path in files] == ["S03_head_of_lowest_rank_L0_h0.png", "S06_depth.png"]
    assert said == []  # that there are no biases is no news
    captions = (tmp_path / "captions.md").read_text()
    assert captions.index("S03_head") < captions.index("S06_depth.png")
    arrays, about = read_arrays(tmp_path / "data" / "S06.safetensors")
    np.testing.assert_array_equal(arrays["types.W_Q.series"], made("tiny").depth["W_Q"].series)
    assert about["caption"] in captions


@pytest.mark.usefixtures("few")
def test_the_same_analysis_gives_the_same_bytes(tmp_path):
    first, second = (
        draw_analysis(made("tiny"), tmp_path / name, ["svg"], THEMES["dark"]) for name in ("a", "b")
    )
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_data_of_every_figure_can_be_saved(tmp_path):
    for picture in SPECTRA:
        data = picture.compute(made("six"))
        path = save_data(tmp_path, picture.id, data, {"caption": picture.caption(data)})
        arrays, about = read_arrays(path)
        assert arrays, picture.id
        assert "array(" not in str(about["texts"]), picture.id


def test_nothing_to_draw_is_no_error(tmp_path):
    empty = replace(made("unknown"), matrices=(), depth={})
    said: list[str] = []
    assert draw_analysis(empty, tmp_path, ["png"], THEMES["light"], said.append) == []
    assert said == []
    assert not (tmp_path / "captions.md").exists()


@pytest.mark.usefixtures("few")
def test_one_that_fails_is_told_and_loses_no_other(tmp_path, monkeypatch):
    (tmp_path / "S03_head_of_lowest_rank_L7_h7.png").write_bytes(b"of an earlier analysis")
    monkeypatch.setattr("glassformer.lens.figures.head.title", lambda _: 1 / 0)
    said: list[str] = []
    files = draw_analysis(made("tiny"), tmp_path, ["png"], THEMES["light"], said.append)
    assert [path.name for path in files] == ["S06_depth.png"]
    assert said == ["S03 head of lowest rank could not be drawn (ZeroDivisionError: division by zero)"]
    assert not list(tmp_path.glob("S03*"))
    assert "S03" not in (tmp_path / "captions.md").read_text()


def test_an_unknown_format_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="no format called 'gif'"):
        draw_analysis(made("tiny"), tmp_path, ["gif"], THEMES["light"])


def test_numbers_and_files_are_unique():
    assert (
        len({picture.id for picture in SPECTRA}) == len({picture.name for picture in SPECTRA}) == len(SPECTRA)
    )


def test_listing_and_reporting_need_no_drawing_library():
    code = (
        "import sys, glassformer.pictures.registry, glassformer.lens.figures.draw, glassformer.lens.report\n"
    )
    code += "print(sorted({'matplotlib', 'jax', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.usefixtures("few")
def test_a_figure_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    """A full disk is not the same as nothing to show."""

    def full(*_):
        raise UserError("cannot write it:\nno space left")

    monkeypatch.setattr(pipeline, "save_figure", full)
    said: list[str] = []
    assert draw_analysis(made("tiny"), tmp_path, ["png"], THEMES["light"], said.append) == []
    assert [sentence[:3] for sentence in said] == ["S03", "S06"]
    assert said[1] == "S06 depth could not be drawn (UserError: cannot write it: no space left)"


@pytest.mark.usefixtures("few")
def test_names_in_letters_without_glyphs_are_drawn_without_a_warning(tmp_path):
    analysis = made("tiny")
    named = replace(analysis, depth={"\N{CJK UNIFIED IDEOGRAPH-5C42}": analysis.depth["W_Q"]})
    said: list[str] = []
    draw_analysis(named, tmp_path, ["png"], THEMES["light"], said.append)
    assert said == []
