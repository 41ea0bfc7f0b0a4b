"""comparison.md: what changed, said once and truly."""

import pytest

from glassformer.lens.compare_text import format_comparison_report, format_layer_ranges
from tests.lens.figures.pairs import PAIRS, pair


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in ("deep", "qwen")])
def test_pages_of_all_kinds(name):
    page = format_comparison_report(pair(name), ["figures/C01_depth_of_both.png"], ["the heads differ"])
    assert page.startswith(f"# {pair(name).first.name} and {pair(name).second.name}\n\nFirst: ")
    assert "- the heads differ\n" in page
    assert "![depth of both](figures/C01_depth_of_both.png)" in page
    assert "nan" not in page.replace("an_", "")
    widths = {line.count("|") for line in page.split("## Heads")[0].splitlines() if line.startswith("|")}
    assert widths in ({7}, {11}, set())
    assert "\n\n\n" not in page


def test_what_changed_in_a_sentence():
    places = "W_Q, W_V, W_O, W_gate, W_up and W_down in layers 0 to 2, 4 and 5; W_U."
    assert f"Of the 44 weights of one shape in both, 31 changed: {places}" in format_comparison_report(
        pair("six")
    )
    assert "All of the 16 weights of one shape in both changed." in format_comparison_report(pair("tiny"))
    assert "Of the 44 weights of one shape in both, none changed." in format_comparison_report(pair("same"))
    assert "of one shape in both" not in format_comparison_report(pair("depth"))


def test_a_row_counts_what_changed():
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in format_comparison_report(pair("six")).splitlines() if line.startswith("| W_")}  # fmt: skip
    assert rows["W_Q"][3].strip() == "5 of 6"
    assert [cell.strip() for cell in rows["W_K"][3:8]] == ["0 of 6", "0", "", "", ""]
    assert 1 <= float(rows["W_Q"][7]) <= 2


def test_heads_are_named_or_said_to_be_the_same():
    page = format_comparison_report(pair("six"))
    most = pair("six").most_changed_heads[0].first
    first = page.split("| kernel |")[1].splitlines()[2]
    assert first.startswith(f"| {most.kernel} | layer {most.head.layer} head {most.head.index} |")
    assert "## Heads" not in format_comparison_report(pair("depth"))
    assert "[change](change/report.md)" in page
    assert "[change]" not in format_comparison_report(pair("depth"))


def test_many_stretches_of_layers_are_summed_up():
    assert format_layer_ranges(range(0, 40, 2)) == "0 to 38, with gaps"
    assert format_layer_ranges([3]) == "3"
