"""The page says what was found, in right numbers and right English."""

import re
from dataclasses import replace

import numpy as np
import pytest

from glassformer.lens.report import format_analysis_report
from glassformer.lens.results import LayerChange, Ranks
from tests.lens.figures.synthetic import NAMES, made


@pytest.mark.parametrize("name", NAMES)
def test_no_report_has_an_empty_section_or_a_nan(name):
    text = format_analysis_report(made(name))
    assert not re.search(r"\n## [^\n]+\n\s*(\n## |$)", text)
    assert not re.search(r"\bnan\b|None|\b1 (layers|heads|dimensions|matrices|pairs)\b", text)
    assert "\n\n\n" not in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({line.count(" | ") or line.count("|") - 2 for line in table.splitlines()}) == 1


def test_the_main_table_has_the_numbers_of_the_analysis():
    course = made("six").depth["W_K"]
    row = next(line for line in format_analysis_report(made("six")).split("\n") if line.startswith("| W_K |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:3] == ["W_K", "32\N{MULTIPLICATION SIGN}64", f"{course.mean:.1f}"]
    assert cells[4] == f"{course.relative_to_random:.3f}"
    assert cells[5:8] == [f"{mean:.1f}" for mean in course.thirds]
    assert cells[8] == "falling, p = 0.002"


def test_lowest_and_highest_heads_are_ranked():
    text = format_analysis_report(made("qwen"))
    ranks = sorted(
        (one.eff_rank, one.head.layer, one.head.index) for one in made("qwen").kernels if one.kernel == "QK"
    )
    (low, *place), (high, *other) = ranks[0], ranks[-1]
    first = (
        f"| {low:.2f} | layer {place[0]} head {place[1]} | {high:.1f} | layer {other[0]} head {other[1]} |"
    )
    assert first in text
    table = text.partition("| QK, lowest")[2].partition("\n\n")[0]
    assert table.count("\n| ") == 10


def test_a_drop_is_no_jump():
    analysis = made("six")
    course = replace(analysis.depth["W_Q"], jump=LayerChange(3, -0.5), drop=LayerChange(4, -2.0))
    text = format_analysis_report(replace(analysis, depth={"W_Q": course}))
    assert "| none | \N{MINUS SIGN}2.00 (to layer 4) |" in text


def test_what_is_not_there_has_no_section():
    text = format_analysis_report(made("unknown"))
    assert "Heads were not read." in text
    headings = re.findall(r"^## (.*)", text, re.M)
    assert headings == ["In short", "Weights over depth", "How it was computed, and what it does not say"]
    assert "`backbone.stages.*.mixer.projection_3.weight`" in text


def test_all_sections_are_there_where_there_is_something():
    headings = re.findall(r"^## (.*)", format_analysis_report(made("six"), ["figures/X01_other.png"]), re.M)
    assert headings == [
        "In short", "Weights over depth", "Heads: effective rank", "Heads: copying and asymmetry", "Relations", "Treatments",
        "Biases of queries and keys", "Figures", "How it was computed, and what it does not say",
    ]  # fmt: skip


def test_the_strongest_composition_comes_first():
    found = made("six").relations
    best = max(found.composition, key=lambda kind: found.composition[kind].max())
    scores = found.composition[best]
    pair, writer, reader = np.unravel_index(scores.argmax(), scores.shape)
    one, two = found.pairs[pair]
    word = {"Q": "queries", "K": "keys", "V": "values"}[best]
    first = format_analysis_report(made("six")).partition("| written by |")[2].split("\n")[2]
    assert first.startswith(f"| layer {one} head {writer} | {word} of layer {two} head {reader} |")


def test_figures_are_shown_once_and_notes_are_told():
    figures = [
        "figures/S01_heads.svg",
        "figures/S01_heads.png",
        "figures/S06_depth.png",
        "figures/S06_depth.pdf",
    ]
    text = format_analysis_report(made("tiny"), figures, ["rope was not asked for."])
    assert re.findall(r"!\[(.*)\]\((.*)\)", text) == [
        ("depth", "figures/S06_depth.png"),
        ("heads", "figures/S01_heads.png"),
    ]
    assert text.index("## Heads: effective rank") < text.index("S01_heads") < text.index("## Heads: copying")
    assert "(figures/captions.md)" in text
    assert "- rope was not asked for." in text


def test_what_stands_out_comes_first_with_its_numbers():
    analysis = made("six")
    text = format_analysis_report(analysis).partition("## In short")[2].partition("## ")[0]
    shares = {name: course.relative_to_random for name, course in analysis.depth.items()}
    low = min(shares, key=shares.__getitem__)
    assert f"{low} has the lowest effective rank ({shares[low]:.3f})" in text
    row = format_analysis_report(analysis).partition("| written by |")[2].split("\n")[2].split(" | ")
    assert f"{row[1]} read {row[0].strip('| ')}, score {row[2]}" in text
    assert "falling: W_Q, W_K, W_V, W_O, W_gate, W_up and W_down" in text


def test_a_model_of_zeros_has_no_extremes():
    analysis = made("six")
    nothing = replace(analysis.kernels[0].statistics, ranks=Ranks(0.0, 0.0, 0.0, 0.0))
    kernels = tuple(replace(one, statistics=nothing, copying=0.0, asymmetry=0.0) for one in analysis.kernels)
    scores = {kind: 0 * values for kind, values in analysis.relations.composition.items()}
    text = format_analysis_report(
        replace(analysis, kernels=kernels, relations=replace(analysis.relations, composition=scores))
    )
    assert "QK, lowest" not in text
    assert "Highest:" not in text
    assert "Most symmetric" not in text
    assert "written by" not in text


def test_layers_apart_are_no_neighbours():
    found = made("six").relations
    apart = replace(found, layers=tuple(3 * layer for layer in found.layers))
    text = format_analysis_report(replace(made("six"), relations=apart))
    assert re.search(r"\| W_Q \|  \| 0\.\d{3} \|", text)


def test_some_layers_only_are_said_to_be_some():
    analysis = made("six")
    some = tuple(one for one in analysis.matrices if one.weight.layer in (1, 4))
    text = format_analysis_report(replace(analysis, matrices=some, kernels=()))
    assert "2 layers were looked at: 1 and 4." in text
