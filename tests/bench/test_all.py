"""The list of benchmarks, and how their tables get onto the page."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import all as every
from benchmarks.ceilings import Ceilings
from benchmarks.population import Row, tables_of
from glassformer.core.errors import UserError
from tests.bench.test_cost import RATES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text()
ROW = Row(
    model="glass-39", parameters=39, kernel="fused", seeds=1024, batch=256, steps=400, rate=2e6, drawing_share=0.25, free_table=None,
    floor=8e6, limit="special", floor_drawn_outside=9e6, operations={"plain": 2_000_000, "integer": 640_000},
    drawing={"integer": 640_000}, state_bytes=956, token_bytes=8448, device="a GPU",
)  # fmt: skip
MEASURED = {"jax": "1.2", "ceilings": asdict(Ceilings("a GPU", *[1e12] * 6)), "rows": [asdict(ROW)]}
PARTS = {"all", "ceilings", "examples", "floor", "operations", "two_digits"}  # modules that are no benchmark


def test_every_benchmark_is_in_the_list_and_has_a_place_on_the_page():
    files = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert files - PARTS == set(every.BENCHMARKS)
    for name in (*every.BENCHMARKS, "gpu", "gpu cost"):
        assert f"<!-- bench {name} -->" in PAGE


def test_rows_of_another_machine_become_a_table():
    text = tables_of(json.loads(json.dumps(MEASURED)))
    assert text.startswith("a GPU, JAX 1.2\n")
    line = next(line for line in text.splitlines() if "fused" in line)
    assert line.split() == [
        "glass-39",
        "fused",
        "1,024",
        "256",
        "2,000,000",
        "25%",
        "8,000,000",
        "special",
        "25.00%",
    ]


def test_gpu_files_fill_their_blocks(tmp_path):
    rows, cost = tmp_path / "rows.json", tmp_path / "cost.json"
    rows.write_text(json.dumps(MEASURED))
    cost.write_text(json.dumps({"cost": asdict(RATES)}))
    blocks = every.gpu_blocks([rows, cost], None)
    page = every.filled(PAGE, blocks)
    assert "2,000,000" in page and "a device: glass-39" in page
    assert every.filled(page, blocks) == page


def test_a_block_without_a_place_is_refused():
    with pytest.raises(UserError, match="no place for gpu"):
        every.filled("nothing here", {"gpu": "text"})


def test_a_benchmark_that_fails_does_not_hide_the_others(monkeypatch, capsys, tmp_path):
    (tmp_path / "good.py").write_text("print('a table')")
    (tmp_path / "bad.py").write_text("raise SystemExit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(every, "BENCHMARKS", {"bad": "bad", "good": "good"})
    monkeypatch.setattr("sys.argv", ["all"])
    with pytest.raises(SystemExit) as ended:
        every.main()
    assert ended.value.code == 1
    told = capsys.readouterr().out
    assert "a table" in told and "FAILED" in told


def test_unknown_benchmarks_are_refused():
    with pytest.raises(UserError, match="no benchmark called 'populaton'; did you mean 'population'"):
        every.chosen(["populaton"])
