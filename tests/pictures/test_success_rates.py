"""The figure of a sweep's success rates: its data, its words, and nothing on top of anything else."""

import re

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.pictures.success_rates import (
    compute_success_rates,
    describe_best_rate,
    describe_signs,
    describe_success_rates,
    draw_success_rates,
    write_success_rates,
)
from tests.pictures.faults import faults
from tools import success_rates as tool

HEAD = "configuration,settings,parameters,seeds,reached,proved"
LINES = (
    *("glass-23,,23,2048,8,5", "microadder-74,,74,1024,40,38", "glass-23-angle,,23,2048,0,0"),
    *("rope-36,,36,256,1,0", "glass-39,,39,1024,17,15", "rope-41,,41,0,0,0"),
)


def rows(lines=LINES):
    return [dict(zip(HEAD.split(","), line.split(","), strict=True)) for line in lines]


def table(folder, lines=LINES):
    path = folder / "table.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n")
    return path


def test_data_are_ordered_and_have_exact_intervals():
    data = compute_success_rates(rows())
    assert data["names"] == ["microadder-74", "glass-39", "rope-36", "glass-23", "glass-23-angle"]
    assert data["families"] == ["microadder", "glass", "rope", "glass", "glass"]
    assert data["proved_value"][1] == 15 / 1024
    assert data["proved_low"][4] == 0.0
    # P(none of 2048) = 2.5% at the upper end
    assert (1 - data["proved_high"][4]) ** 2048 == pytest.approx(0.025)


def test_the_title_names_the_smallest_that_is_proved():
    assert describe_best_rate(compute_success_rates(rows())) == (
        "3 of 5 configurations have a proved seed; the smallest is glass-23 (23 parameters, 5 of 2,048 seeds)"
    )
    assert (
        describe_best_rate(compute_success_rates(rows(["glass-20,,20,64,1,0"])))
        == "Success rates of 1 configurations: no seed is proved"
    )


def test_the_caption_has_every_number():
    said = describe_success_rates(compute_success_rates(rows()))
    assert "glass-39 (39): 17 of 1,024 reached, 15 proved, 1.5% (0.8 to 2.4%)" in said
    assert "glass-23-angle (23): 0 of 2,048 reached, 0 proved, 0% (0.0 to 0.2%)" in said


def many(count):
    random = np.random.default_rng(count)
    sizes = np.sort(random.integers(20, 75, count))
    return [f"family{i % 3}-{sizes[i]}-variant-{i},,{sizes[i]},1024,{i % 9},{i % 5}" for i in range(count)]


@pytest.mark.parametrize("lines", [LINES, ["a,,10,8,8,8"], many(21), many(50)], ids=len)
def test_nothing_overlaps(lines):
    figure = draw_success_rates(compute_success_rates(rows(lines)), THEMES["light"])
    assert faults(figure, page=float(figure.get_size_inches()[0] * 2.54)) == []


def test_rings_dots_and_arrows_are_where_the_data_are():
    data = compute_success_rates(rows())
    axes = draw_success_rates(data, THEMES["print"]).axes[0]
    spots = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "o"]
    reached = [spot for spot in spots if spot[0] % 1 > 0.5 or spot[0] < 0]
    np.testing.assert_allclose([y for _, y in reached], data["reached_value"][:4])
    arrows = [text for text in axes.texts if text.arrow_patch is not None]
    assert len(arrows) == 3  # none of rope-36 is proved; of glass-23-angle none is even reached
    assert all(arrow.xy[1] < arrow.xyann[1] for arrow in arrows)


def test_files(tmp_path):
    assert write_success_rates(rows(), tmp_path / "figures" / "rates") == [tmp_path / "figures" / "rates.png"]
    assert write_success_rates(rows(["a,,1,0,0,0"]), tmp_path / "nothing") == []
    assert not (tmp_path / "nothing.png").exists()


def test_the_page_of_the_tool(tmp_path):
    page = tmp_path / "success-rates.md"
    page.write_text("before\n<!-- table -->\nold\n<!-- end -->\nafter\n")
    tool.make([table(tmp_path)], tmp_path)
    text = page.read_text()
    assert "| `glass-39` | 39 | 1,024 | 17 | 0.97% to 2.6% | 15 | 0.82% to 2.4% |" in text
    assert "| `glass-23-angle` | 23 | 2,048 | 0 | up to 0.18% | 0 | up to 0.18% |" in text
    assert "Arrow: no seed succeeded" in text
    assert "old" not in text and text.startswith("before") and text.endswith("after\n")
    assert all((tmp_path / file).exists() for file in re.findall(r"\]\(([^)]+)\)", text))
    tool.make([], tmp_path)
    assert page.read_text() == text


def test_a_further_table_adds_and_replaces_rows(tmp_path):
    (tmp_path / "success-rates.md").write_text("<!-- table -->\n<!-- end -->\n")
    tool.make([table(tmp_path)], tmp_path)
    tool.make([table(tmp_path, ["any-8,,8,1024,30,29", "rope-36,,36,512,3,3"])], tmp_path)
    kept = tool.read_rows(tmp_path / "sweeps" / "adders.csv")
    assert [row["configuration"] for row in kept][-1] == "any-8"
    assert [row["seeds"] for row in kept if row["configuration"] == "rope-36"] == ["512"]
    assert len(kept) == 6


def test_sentences_are_what_tests_support():
    text = "\n".join(tool.describe_tests(tool.merge_rows([rows()])))
    assert "for all 10 pairs of rows" in text
    assert "`microadder-74` has the highest rate, above that of 4 of the 4 others" in text
    assert "down from `microadder-74` to `glass-39`" in text
    alike = rows(["a,,9,100,5,5", "b,,8,100,6,6"])
    assert tool.describe_tests(alike)[2:] == [
        "- `b` has the highest rate, above that of 0 of the 1 others; no difference is shown from `a`.",
        "- From one row to the next, in 0 of 1 steps a change of the rate is shown.",
    ]


def test_the_page_is_that_of_its_rows():
    page = (tool.DOCS / "success-rates.md").read_text()
    assert tool.markdown(tool.merge_rows([tool.read_rows(tool.DOCS / "sweeps" / "adders.csv")])) in page


def test_arrows_are_explained_only_where_there_are_some():
    assert "Arrow" in describe_signs(compute_success_rates(rows()))
    assert "Arrow" not in describe_signs(compute_success_rates(rows(["a,,10,8,8,8"])))


@pytest.mark.parametrize(
    ("content", "says"), [("a,b\n1,2\n", "it has no configuration"), ("", "has no"), (None, "cannot read")]
)
def test_what_is_no_table_is_refused(tmp_path, content, says):
    if content is not None:
        (tmp_path / "table.csv").write_text(content)
    with pytest.raises(UserError, match=says):
        tool.read_rows(tmp_path / "table.csv")
