"""The table: known counts give known rates and intervals, and the same bytes in whatever order units came."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.sweeps.reading import make_sweep
from glassformer.sweeps.sweep import SweepProgress
from glassformer.sweeps.table import format_seed_table, format_sweep_table, make_sweep_table

from .small import known_result, row, small_sweep

# Of 256 seeds 20 reached, 7 of them are proved.
SEEDS = [row(seed, seed < 20, seed < 7, 0.25 + seed / 100) for seed in range(256)]


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_known_numbers():
    """7 of 256 proved: the interval of Clopper and Pearson is 1.106% to 5.552%."""
    sweep = make_sweep("glass-39", numbers={"seeds": 256})
    (line,) = make_sweep_table(sweep, {"glass-39": SEEDS})
    assert (line.seeds, line.reached, line.proved, line.parameters) == (256, 20, 7, 39)
    assert (line.rate, line.reached_rate, line.success) == (7 / 256, 20 / 256, "proved")
    assert (round(line.low, 5), round(line.high, 5)) == (0.01106, 0.05552)
    assert line.median_margin == pytest.approx(0.345)
    assert line.best_margin == pytest.approx(0.44)
    assert line.proved_margin == pytest.approx(0.155)


def test_an_entry_that_is_fixed_is_no_parameter():
    """any-6 stores the eight numbers of any-8, and two of them are fixed."""
    (line,) = make_sweep_table(make_sweep("any-6", numbers={"seeds": 256}), {})
    assert line.parameters == 6


def test_the_rate_of_a_rule_is_of_seeds_that_reached_since_few_are_tried():
    (line,) = make_sweep_table(make_sweep("successor", numbers={"seeds": 256}), {"successor": SEEDS})
    assert (line.success, line.rate, line.tried, line.proved) == ("reached", 20 / 256, 7, 7)
    assert (line.low, line.high) == (line.reached_low, line.reached_high)


def test_a_configuration_without_seeds_has_no_rate():
    (cells, _) = read(format_sweep_table(make_sweep_table(small_sweep(), {})))
    assert (cells["seeds"], cells["rate"], cells["low"], cells["high"], cells["median_margin"]) == (
        *("0", "", "0", "1", ""),
    )


def test_settings_that_differ_are_said():
    slow, fast = make_sweep_table(small_sweep(), {})
    assert (slow.settings, fast.settings) == ("train.peak_rate=0.01", "train.peak_rate=0.03")


def test_a_margin_that_is_not_finite_does_not_count():
    sweep = make_sweep("successor", numbers={"seeds": 2})
    (line,) = make_sweep_table(sweep, {"successor": [row(0, True, False, None), row(1, True, False, 0.5)]})
    assert line.median_margin == 0.5


@given(order=st.permutations(range(6)))
@settings(max_examples=10)
def test_the_order_of_units_changes_no_byte(order):
    def texts(places):
        found = SweepProgress(small_sweep(), small_sweep().units())
        for place in places:
            found.add(found.units[place], known_result(found.units[place]))
        return format_sweep_table(found.rows()), format_seed_table(found.sweep, found.by_configuration())

    assert texts(order) == texts(range(6))


def test_a_row_a_seed():
    example = {"a": 57, "b": 68, "expected": 125, "got": 115}
    seeds = [row(10, True, True), row(11) | {"counterexample": example}]
    first, second = read(format_seed_table(small_sweep(), {"successor-peak_rate-0.01": seeds}))
    assert (first["seed"], first["proved"], first["verdict"], first["margin_bound"]) == (
        *("10", "true", "proved", "0.25"),
    )
    assert (second["reached"], second["counterexample"]) == ("false", "57+68: 115")
