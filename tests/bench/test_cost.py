"""The model of cost, by hand."""

import pytest

from benchmarks.cost import ASSUMED, Rates, cost_lines, hours, share_reached, unit_seconds

RATES = Rates(
    device="a device", model="glass-39", steps=1000, block=100, polished=10, rate=10_000.0, polish=2.0,
    proof=3.0, overhead=5.0, reached=0.1, reached_source="given",
)  # fmt: skip


def test_a_unit_takes_the_sum_of_its_parts():
    assert unit_seconds(RATES) == pytest.approx(
        {"overhead": 5.0, "training": 10.0, "polish": 20.0, "proof": 30.0}
    )


def test_devices_share_whole_units():
    assert hours(RATES, 1000, 1) == pytest.approx(10 * 65 / 3600)
    assert hours(RATES, 1000, 5) == pytest.approx(2 * 65 / 3600)
    assert hours(RATES, 1000, 4) == pytest.approx(3 * 65 / 3600)  # two of the four have three units
    assert hours(RATES, 1001, 1000) == pytest.approx(65 / 3600)


def test_there_is_no_price_but_a_given_one():
    assert not any("at 3.5" in line for line in cost_lines([RATES]))
    text = "\n".join(cost_lines([RATES], seeds=360_000, price=3.5))
    assert "at 1 $/hour" in text and "at 3.5 $/hour" in text
    first = next(line for line in text.splitlines() if line.split()[0] == "1")
    assert first.split() == ["1", "2.71", "65.0", "65", "228"]


def test_the_share_reached_is_the_sweeps(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("configuration,seeds,reached\nglass-39,1024,32\nglass-29,0,0\n")
    assert share_reached("glass-39", table) == (32 / 1024, "32 of 1,024 in table.csv")
    assert share_reached("glass-29", table) == (ASSUMED, "assumed")
    assert share_reached("glass-39", tmp_path / "none.csv") == (ASSUMED, "assumed")
