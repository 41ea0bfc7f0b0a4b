"""Figures of two models are sound; what they show is what was found."""

import numpy as np
import pytest

from glassformer.core.atomic import read_arrays
from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.lens.figures import comparison_depth
from glassformer.lens.figures.draw import draw_comparison
from glassformer.lens.words import TIMES
from glassformer.pictures.registry import COMPARISON
from tests.lens.figures.pairs import PAIRS, pair
from tests.pictures.faults import faults
from tests.selection import each

BY_ID = {picture.id: picture for picture in COMPARISON}
LEFT_OUT = {
    "unknown": {"C03"},
    "same": {"C02"},
    "depth": {"C02", "C03"},
    "width": {"C02"},
    "nothing": {"C01", "C02", "C03"},
}


SOME = {  # what is as for the others is tested in the slow suite
    "C01": ("tiny", "depth", "width", "unknown", "nothing"),
    "C02": ("six", "single", "unknown", "same", "depth", "width", "nothing"),
    "C03": ("six", "qwen", "unknown", "depth", "nothing"),
}


@pytest.mark.parametrize(("id", "name"), each(2, [(id, name) for id in SOME for name in SOME[id]]))
def test_no_figure_has_a_fault(id, name):
    """In one theme each, all three in turn: colours move nothing."""
    is_sound(id, name, list(THEMES)[(int(id[-1]) + PAIRS.index(name)) % len(THEMES)])


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("id", BY_ID)
def test_no_figure_has_a_fault_in_any_theme(id, name, theme):
    is_sound(id, name, theme)


def is_sound(id, name, theme):
    try:
        data = BY_ID[id].compute(pair(name))
    except UserError:
        assert id in LEFT_OUT[name]
        return
    assert id not in LEFT_OUT.get(name, ())
    figure, caption = BY_ID[id].draw(data, THEMES[theme]), BY_ID[id].caption(data)
    assert faults(figure) == []
    assert figure.get_size_inches()[0] * 2.54 == pytest.approx(17)
    written = " ".join([caption, *(text.get_text() for text in figure.texts)])
    assert "nan" not in written
    assert len(caption) > 150


def test_both_courses_are_drawn_with_the_random_level():
    data = BY_ID["C01"].compute(pair("six"))
    figure = BY_ID["C01"].draw(data, THEMES["light"])
    panel = figure.axes[2]  # after the two samples of the key
    drawn = [line.get_ydata() for line in panel.lines if len(line.get_ydata()) == 6]
    for series, analysis in zip(drawn, (pair("six").first, pair("six").second), strict=True):
        ranks = [m.eff_rank for m in analysis.matrices if m.weight.type == "W_Q"]
        np.testing.assert_allclose(series, ranks)
    assert data["types"]["W_Q"]["random"] in [line.get_ydata()[0] for line in panel.lines]


def test_other_depths_share_an_axis_and_other_shapes_a_unit():
    deep, wide = (BY_ID["C01"].compute(pair(name)) for name in ("depth", "width"))
    assert (deep["is_share"], deep["is_relative"]) == (True, False)
    assert (wide["is_share"], wide["is_relative"]) == (False, True)
    figure = BY_ID["C01"].draw(deep, THEMES["light"])
    first, second = (line.get_xdata() for line in figure.axes[2].lines if len(line.get_xdata()) > 2)
    assert (first[0], first[-1], len(first)) == (0, 1, 6)
    assert (second[0], second[-1], len(second)) == (0, 1, 9)
    assert wide["types"]["W_Q"]["random"] == 1
    assert f"64{TIMES}64 and 32{TIMES}32" in comparison_depth.caption(wide)


def test_changes_are_those_of_the_layers_that_changed():
    data = BY_ID["C02"].compute(pair("six"))
    assert data["unchanged"] == ["W_K", "W_E"]
    pairs = {p.first.weight.layer: p for p in pair("six").weights if p.first.weight.type == "W_Q"}
    one = data["types"]["W_Q"]
    assert np.isnan(one["norm"]).tolist() == [False, False, False, True, False, False]
    assert one["norm"][2] == pairs[2].change_norm
    assert one["rank"][2] == pairs[2].change_relative
    assert one["kept"][2] == pairs[2].similarity
    assert "W_K and W_E" in BY_ID["C02"].caption(data)
    assert BY_ID["C02"].draw(data, THEMES["light"]).axes[-1].get_ylim()[1] < 1.1


def test_no_line_runs_over_a_layer_without_a_change():
    data = BY_ID["C02"].compute(pair("six"))
    panel = BY_ID["C02"].draw(data, THEMES["light"]).axes[3]  # after the names of three types
    assert [line.get_xdata().tolist() for line in panel.lines[:2]] == [[0, 1, 2], [4, 5]]


def test_heads_are_coloured_around_no_change():
    data = BY_ID["C03"].compute(pair("six"))
    found = {
        (p.first.head.layer, p.first.head.index): p.by for p in pair("six").heads if p.first.kernel == "OV"
    }
    values = data["maps"][1]["values"]
    assert {place: values[place] for place in found} == found
    image = BY_ID["C03"].draw(data, THEMES["light"]).axes[0].images[0]
    assert sum(image.get_clim()) == 0


def test_files_data_and_captions_are_written_and_old_ones_go(tmp_path):
    files = draw_comparison(pair("tiny"), tmp_path, ["png"], THEMES["light"])
    assert [path.name for path in files] == [
        *("C01_depth_of_both.png", "C02_what_changed.png", "C03_heads_that_changed.png"),
    ]
    arrays, about = read_arrays(tmp_path / "data" / "C02.safetensors")
    assert arrays["types.W_Q.norm"].shape == (2,)
    assert about["caption"] in (tmp_path / "captions.md").read_text()
    (only,) = draw_comparison(pair("depth"), tmp_path, ["png"], THEMES["light"])
    assert sorted(path.name for path in tmp_path.glob("C*")) == [only.name]
    assert "C02" not in (tmp_path / "captions.md").read_text()


def test_a_figure_that_fails_is_told_and_the_others_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison_depth, "draw", lambda data, theme: 1 / 0)
    said: list[str] = []
    files = draw_comparison(pair("tiny"), tmp_path, ["png"], THEMES["light"], said.append)
    assert len(files) == 2
    assert said == ["C01 depth of both could not be drawn (ZeroDivisionError: division by zero)"]
