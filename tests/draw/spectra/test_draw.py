"""Files of the set: pictures, data, captions; what is left out is said."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from glassformer.draw.spectra import draw
from glassformer.draw.spectra.draw import draw_analysis
from glassformer.draw.spectra.registry import SPECTRA
from glassformer.draw.theme import THEMES
from glassformer.errors import UserError
from glassformer.runs.atomic import read_arrays
from tests.draw.spectra.synthetic import made

FEW = [picture for picture in SPECTRA if picture.id in ("S03", "S06", "S15")]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(draw, "SPECTRA", FEW)


@pytest.mark.usefixtures("few")
def test_files_data_and_captions_are_written(tmp_path):
    said: list[str] = []
    files = draw_analysis(made("tiny"), tmp_path, ["png"], THEMES["light"], said.append)
    assert [path.name for path in files] == ["S03_head_of_lowest_rank_L0_h0.png", "S06_depth.png"]
    assert said == ["S15 biases is left out: the queries and keys of this model have no biases"]
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
        path = draw.save_data(tmp_path, picture.id, data, {"caption": picture.caption(data)})
        arrays, about = read_arrays(path)
        assert arrays, picture.id
        assert "array(" not in str(about["texts"]), picture.id


def test_nothing_to_draw_is_no_error(tmp_path):
    empty = replace(made("unknown"), matrices=(), depth={})
    said: list[str] = []
    assert draw_analysis(empty, tmp_path, ["png"], THEMES["light"], said.append) == []
    assert len(said) == len(SPECTRA)
    assert not (tmp_path / "captions.md").exists()


def test_an_unknown_format_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="no format called 'gif'"):
        draw_analysis(made("tiny"), tmp_path, ["gif"], THEMES["light"])


def test_numbers_and_files_are_unique():
    assert (
        len({picture.id for picture in SPECTRA}) == len({picture.name for picture in SPECTRA}) == len(SPECTRA)
    )


def test_listing_and_reporting_need_no_drawing_library():
    code = "import sys, glassformer.draw.spectra.registry, glassformer.draw.spectra.draw, glassformer.spectra.report\n"
    code += "print(sorted({'matplotlib', 'jax', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
