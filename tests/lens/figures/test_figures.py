"""Every figure of every analysis is sound; what it shows is what was found."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.lens.figures.groups import list_all_layers
from glassformer.lens.figures.variance import choose_line_colours
from glassformer.pictures.registry import SPECTRA
from tests.lens.figures.synthetic import NAMES, made
from tests.pictures.faults import faults
from tests.selection import each

IDS = [picture.id for picture in SPECTRA]
BY_ID = dict(zip(IDS, SPECTRA, strict=True))
SOME = {  # what is as for the others is tested in the slow suite
    "deep": ("S01", "S06", "S13"),
    "qwen": ("S01", "S11", "S13"),
    "tiny": ("S01", "S03", "S04", "S06", "S07", "S10", "S11", "S13"),
    "single": ("S01", "S04", "S06", "S07", "S12", "S13"),
    "experts": ("S01", "S06", "S14"),
    "unknown": ("S01", "S06", "S07", "S08", "S10", "S12"),
    "zeros": ("S01", "S02", "S03", "S04", "S07", "S08", "S09", "S10", "S13", "S14"),
}
PAIRS = [(id, name) for name in NAMES for id in SOME.get(name, IDS)]
LEFT_OUT = {
    "six": set(),
    "tiny": {"S04", "S14", "S15"},
    "single": {"S04", "S11", "S13", "S14", "S15"},
    "experts": {"S15"},
    "zeros": {"S04", "S08", "S10", "S13"},
    "unknown": {"S01", "S02", "S03", "S04", "S05", "S11", "S12", "S13", "S14", "S15"},
}


def drawn(id: str, name: str, theme: str = "light"):
    data = BY_ID[id].compute(made(name))
    return data, BY_ID[id].draw(data, THEMES[theme])


@pytest.mark.parametrize(("id", "name"), each(2, PAIRS))
def test_no_figure_has_a_fault(id, name):
    """In one theme each, all three in turn: colours move nothing."""
    theme = list(THEMES)[(IDS.index(id) + NAMES.index(name)) % len(THEMES)]
    try:
        data, figure = drawn(id, name, theme)
    except UserError:
        assert id in LEFT_OUT[name]
        return
    assert id not in LEFT_OUT.get(name, ())
    assert faults(figure) == []
    caption = BY_ID[id].caption(data)
    assert len(caption) > 150
    assert "nan" not in caption
    assert figure.get_facecolor() == pytest.approx(rgba(THEMES[theme].paper))


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("id", IDS)
def test_no_figure_has_a_fault_in_any_theme(id, name, theme):
    try:
        figure = drawn(id, name, theme)[1]
    except UserError:
        return
    assert faults(figure) == []


def rgba(colour: str) -> tuple[float, ...]:
    return (*(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)), 1.0)


def test_a_map_shows_every_head_and_frames_the_lowest():
    analysis, figure = made("six"), drawn("S01", "six")[1]
    ranks = {
        (one.head.layer, one.head.index): one.eff_rank
        for one in analysis.kernels
        if one.kernel == "QK" and one.treatment == "raw"
    }
    image = np.asarray(figure.axes[0].images[0].get_array())  # head layer
    assert {(layer, head): image[head, layer] for layer in range(6) for head in range(4)} == ranks
    lowest = min(ranks, key=ranks.__getitem__)
    corners = [(patch.get_x() + 0.5, patch.get_y() + 0.5) for patch in figure.axes[0].patches]
    assert corners[0] == lowest
    assert f"(L{lowest[0]} h{lowest[1]})" in " ".join(text.get_text() for text in figure.texts)


def test_treatments_are_drawn_beside_raw_in_their_order():
    maps = [(one["kernel"], one["treatment"]) for one in BY_ID["S01"].compute(made("six"))["maps"]]
    assert maps == [("QK", "raw"), ("QK", "folded"), ("QK", "rope:1"), ("QK", "rope:128"), ("OV", "raw"), ("OV", "folded")]  # fmt: skip


@pytest.mark.parametrize(("id", "place"), [("S03", 0.0), ("S04", 0.5), ("S05", 1.0)])
def test_the_head_is_the_one_of_that_rank(id, place):
    data = BY_ID[id].compute(made("qwen"))
    ranks = sorted(one.eff_rank for one in made("qwen").kernels if one.kernel == "QK")
    below = sum(rank < data["kernels"]["QK"]["eff_rank"] for rank in ranks) / (len(ranks) - 1)
    assert below == pytest.approx(place, abs=0.002)
    assert BY_ID[id].file_of(data).endswith(f"_L{data['layer']}_h{data['head']}")


def test_magnitudes_leave_out_what_is_rounding():
    """A kernel of rank 1: one point of a line that would otherwise fall by sixteen powers of ten."""
    data = BY_ID["S03"].compute(made("tiny"))
    one = data["kernels"]["QK"]
    one["values"] = np.array([2.0, 1e-17, 0.0])
    one["eigenvalues"] = np.array([[2.0, 0.0], [0.0, 1e-17], [0.0, -1e-17]])
    figure = BY_ID["S03"].draw(data, THEMES["light"])
    assert faults(figure) == []
    assert "1 real" in figure.axes[0].get_xlabel()
    assert "2 zero" in figure.axes[0].get_xlabel()
    assert [len(line.get_ydata()) for line in figure.axes[1].lines[:2]] == [1, 1]


def test_only_relative_ranks_share_an_axis():
    """One panel a type for ranks as measured; two panels for shares of random ones."""
    assert len(drawn("S06", "qwen")[1].axes) == 7
    data, figure = drawn("S07", "qwen")
    assert len(figure.axes) == 2
    one = made("qwen").depth["W_Q"]
    np.testing.assert_allclose(data["lines"]["W_Q"]["ratios"].mean(), one.relative_to_random)


def test_of_experts_the_mean_is_drawn():
    analysis, data = made("experts"), BY_ID["S09"].compute(made("experts"))
    counts = [one.statistics.components[2] for one in analysis.matrices if (one.weight.type, one.weight.layer) == ("W_up", 3)]  # fmt: skip
    assert len(counts) == 4
    assert data["types"]["W_up"]["counts"][3] == np.mean(counts)


def test_spectra_are_in_units_of_the_random_edge():
    analysis, data = made("six"), BY_ID["S10"].compute(made("six"))
    one = next(one for one in analysis.matrices if (one.weight.type, one.weight.layer) == ("W_up", 2))
    edge = one.statistics.frobenius * (256**-0.5 + 64**-0.5)
    assert data["types"]["W_up"]["curves"][2][0] == pytest.approx(one.statistics.largest / edge)
    assert data["types"]["W_up"]["outside"][2] == (one.values > edge).sum()


def test_a_type_of_some_layers_has_their_colours():
    """A dense first layer before layers of experts is drawn as a first layer, not as a last one."""
    analysis = made("experts")
    kept = tuple(one for one in analysis.matrices if one.weight.type != "W_up" or one.weight.layer == 0)
    data = BY_ID["S08"].compute(replace(analysis, matrices=kept))
    assert data["types"]["W_up"]["layers"] == (0,)
    theme = THEMES["light"]
    colours = [
        choose_line_colours(data["types"][name], list_all_layers(data["types"]), theme)
        for name in ("W_up", "W_gate")
    ]
    assert colours[0] == colours[1][:1]
    assert len(set(colours[1])) == 8


def test_the_strongest_composition_is_named():
    data = BY_ID["S13"].compute(made("six"))
    found = made("six").relations
    score, kind, *places = data["ranked"][0]
    assert score == max(scores.max() for scores in found.composition.values())
    pair = found.pairs.index((places[0], places[2]))
    assert found.composition[kind][pair, places[1], places[3]] == score


def test_where_all_is_nothing_no_head_stands_out():
    titles = {
        id: drawn(id, "zeros")[1].texts[0].get_text().replace("\n", " ") for id in ("S01", "S02", "S14")
    }
    assert titles == {
        "S01": "nothing: QK effective rank is 0.00 of 16 in all heads",
        "S02": "nothing: asymmetry of QK is 0.000, copying score of OV 0.000 in all heads",
        "S14": "nothing: no treatment changes the mean effective rank by 0.005 or more",
    }
    maps = [axes for axes in drawn("S01", "zeros")[1].axes if axes.get_ylabel() == "head"]
    assert [len(axes.patches) for axes in maps] == [0, 0, 0, 0]


def test_too_many_types_are_said_to_be_left_out():
    data = BY_ID["S06"].compute(made("unknown"))
    assert len(data["types"]) == 12
    assert data["left_out"] == 3
    assert "3 more" in BY_ID["S06"].caption(data)
