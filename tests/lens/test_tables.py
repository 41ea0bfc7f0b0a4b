"""Tables: columns, order, and every digit of a number."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from glassformer.lens.published import read_published_table
from glassformer.lens.table_files import format_csv
from glassformer.lens.tables import (
    label_quartiles,
    make_heads_table,
    make_layers_table,
    make_weights_table,
    order_kernel,
    order_matrix,
    order_name,
    write_analysis_tables,
)

from .test_analyse import analysed

PUBLISHED = ["layer_idx", "weight_type", "shape", "eff_rank"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    analysis, _ = analysed(folder / "a", treatments="folded,rope:2")
    return analysis, folder / "a"


def rows_of(table):
    return list(csv.DictReader(io.StringIO(format_csv(table))))


def test_weights_begin_with_the_published_columns_and_are_sorted(made):
    analysis, _ = made
    rows = rows_of(make_weights_table(analysis.matrices))
    assert [*rows[0]][:4] == PUBLISHED
    assert [*rows[0]][4:8] == ["expert", "treatment", "eff_rank_raw", "eff_rank_relative"]
    assert [(row["layer_idx"], row["weight_type"], row["treatment"]) for row in rows[:6]] == [
        ("-1", "W_E", "raw"),
        ("0", "W_Q", "raw"),
        ("0", "W_Q", "folded"),
        ("0", "W_K", "raw"),
        ("0", "W_K", "folded"),
        ("0", "W_V", "raw"),
    ]
    assert rows[1]["shape"] == "16x16"
    assert rows[2]["eff_rank_raw"] == rows[1]["eff_rank"] != rows[2]["eff_rank"]
    assert sorted(analysis.matrices, key=order_matrix) == list(analysis.matrices)


def test_relative_ranks_and_components_are_those_of_the_values(made):
    analysis, _ = made
    one, row = analysis.matrices[0], rows_of(make_weights_table(analysis.matrices))[0]
    shares = one.values / one.values.sum()
    rank = math.exp(-np.sum(shares * np.log(shares)))
    assert float(row["eff_rank"]) == pytest.approx(rank, rel=1e-9)
    assert float(row["eff_rank_relative"]) == pytest.approx(rank / one.random.eff_rank, rel=1e-9)
    energy = np.cumsum(one.values**2) / np.sum(one.values**2)
    assert int(row["n90"]) == int(np.searchsorted(energy, 0.9)) + 1


def test_heads_have_the_raw_rank_beside_and_their_quartile(made):
    analysis, _ = made
    assert sorted(analysis.kernels, key=order_kernel) == list(analysis.kernels)
    rows = rows_of(make_heads_table(analysis.kernels))
    first = [row for row in rows if row["layer_idx"] == "0" and row["head_idx"] == "3"]
    assert [(row["kernel"], row["treatment"]) for row in first] == [
        *(("QK", "raw"), ("QK", "folded"), ("QK", "rope:2")),
        *(("OV", "raw"), ("OV", "folded")),
    ]
    assert {row["kv_head_idx"] for row in first} == {"1"}
    assert {row["eff_rank_raw"] for row in first[:3]} == {first[0]["eff_rank"]}
    raw = [row for row in rows if (row["kernel"], row["treatment"]) == ("QK", "raw")]
    lowest = min(raw, key=lambda row: float(row["eff_rank"]))
    highest = max(raw, key=lambda row: float(row["eff_rank"]))
    assert (lowest["quartile"], highest["quartile"]) == ("low", "high")
    assert sum(row["quartile"] == "low" for row in raw) == 3  # of 12
    nine = [one for one in analysis.kernels if (one.kernel, one.treatment) == ("QK", "raw")][:9]
    assert sorted(label_quartiles(nine)) == 3 * ["high"] + 3 * ["low"] + 3 * ["middle"]


def test_layers_are_means_over_their_heads(made):
    analysis, _ = made
    row = rows_of(make_layers_table(analysis.kernels))[0]
    assert (row["layer_idx"], row["kernel"], row["treatment"], row["heads"]) == ("0", "QK", "raw", "4")
    ranks = [
        one.eff_rank
        for one in analysis.kernels
        if (one.head.layer, one.kernel, one.treatment) == (0, "QK", "raw")
    ]
    assert float(row["eff_rank_mean"]) == np.mean(ranks)
    assert float(row["eff_rank_max"]) == max(ranks)


@pytest.mark.parametrize("name", ["weights", "heads"])
def test_a_file_holds_every_bit_of_its_table(made, name):
    analysis, folder = made
    table = make_weights_table(analysis.matrices) if name == "weights" else make_heads_table(analysis.kernels)
    rows = list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text())))
    assert [*rows[0]] == [column.name for column in table]
    for column in table:
        read = {"whole": int, "real": float, "text": str}[column.kind]
        cells = [read(row[column.name]) if row[column.name] else None for row in rows]
        for cell, other in zip(cells, column.cells, strict=True):
            assert cell == other or (cell != cell and other != other)


def test_all_singular_values(made):
    analysis, folder = made
    rows = list(csv.DictReader(io.StringIO((folder / "singular_values.csv").read_text())))
    every = [*analysis.matrices, *analysis.kernels]
    values = [float(row["singular_value"]) for row in rows]
    np.testing.assert_array_equal(values, np.concatenate([one.values for one in every]))
    assert [int(row["component"]) for row in rows[:17]] == [*range(16), 0]
    assert (rows[0]["weight_type"], rows[0]["kernel"], rows[-1]["kernel"]) == ("W_E", "", "OV")


def test_relations_are_told_once_a_pair(made):
    _, folder = made
    tables = {
        name: list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text())))
        for name in ("similarity", "alignment", "composition")
    }
    assert len(tables["similarity"]) == 7 * 3
    assert {row["layer_idx"] for row in tables["alignment"]} == {"0", "1", "2"}
    assert len(tables["composition"]) == 3 * 2 * 4 * 4
    assert float(tables["similarity"][0]["chance"]) <= 1


def test_our_table_can_be_read_as_a_published_one(made):
    analysis, folder = made
    courses = read_published_table(folder / "weights.csv")
    assert {name: course.mean for name, course in courses.items()} == {
        name: course.mean for name, course in analysis.depth.items()
    }


def test_tables_of_nothing_are_not_written(made, tmp_path):
    analysis, _ = made
    empty = replace(analysis, matrices=(), kernels=(), relations=None)
    assert write_analysis_tables(tmp_path, empty) == []


def test_unknown_names_come_after_the_known_ones():
    names = ["zeta", "W_U", "alpha", "W_Q"]
    assert sorted(names, key=lambda name: order_name(("W_Q", "W_U"), name)) == ["W_Q", "W_U", "alpha", "zeta"]
