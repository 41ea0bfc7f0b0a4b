"""docs/records.md: its tables are those of the counter, its rounded models are proved, others' numbers are theirs."""

import shutil
import tomllib

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.proofs.prove import prove_model
from glassformer.runs.load import load_model
from glassformer.zoo import ZOO
from tools.records import (
    DOCS,
    add_rounded_models,
    describe_least,
    list_records,
    make_page,
    read_rounded_models,
)
from tools.success_rates import replace_between

ROUNDED = read_rounded_models(DOCS)
RECORDS = {one.model: one for one in list_records(DOCS, ROUNDED)}
QUICK = ("any-6", "glass-8")


@pytest.fixture
def docs(tmp_path):
    shutil.copytree(DOCS / "records", tmp_path / "records")
    shutil.copy(DOCS / "records.md", tmp_path)
    return tmp_path


def test_the_page_is_that_of_the_counter(docs):
    """After a change of the zoo or of the counter: python -m tools.records."""
    before = (docs / "records.md").read_text(encoding="utf-8")
    make_page(docs)
    assert (docs / "records.md").read_text(encoding="utf-8") == before


def test_every_adder_of_the_zoo_has_a_row():
    assert {f"`{name}`" for name in ZOO} <= set(RECORDS)
    board = tomllib.loads((DOCS / "records" / "board.toml").read_text(encoding="utf-8"))
    assert set(board["origin"]) <= set(ZOO)
    assert {entry["parameters"] for entry in board["entry"] if entry["category"] == "trained"} == {36, 28, 6}


def test_rows_by_hand():
    eight, published = RECORDS["`glass-8`"], RECORDS["`nanogpt-58`"]
    assert (eight.parameters, eight.constants, eight.bits, eight.rounded) == (8, 7, 189, 26)
    assert (eight.category, eight.proved) == ("trained: all", "all 10^20, float32")
    assert RECORDS["`any-8`"].proved == "every length, float32"
    assert (published.category, published.proved) == ("hand-built", "refuted: 0 + 9000")
    assert RECORDS["`rope-36`"].proved == RECORDS["`rope-36`"].category == "not trained"
    assert RECORDS["T. Bukic"].constants is None


@pytest.mark.parametrize("name", ZOO)
def test_other_tasks_are_named_and_are_no_record(name):
    task, record = ZOO[name].task, RECORDS[f"`{name}`"]
    assert record.is_decimal_sum == (task.operation == "add" and task.base == 10)
    if not record.is_decimal_sum:
        assert record.whose == f"ours; {task.operation}{task.name_base()}"


def test_the_least_are_among_what_is_proved_and_trained():
    made = [one._replace(is_proved=one.model != "`any-6`") for one in RECORDS.values()]
    said = "\n".join(describe_least(made))
    assert "fewest learned parameters: `any-6`" not in said
    assert "`hand-4`" not in said
    assert "Lokimorty" not in said


def test_only_what_is_proved_is_added(docs, tmp_path):
    file = tmp_path / "out.json"
    file.write_text('{"target": "glass-8", "verdict": "undecided", "parameters": []}', encoding="utf-8")
    with pytest.raises(UserError, match="glass-8 is undecided"):
        add_rounded_models([file], docs)
    one = '{"name": "head.u", "place": [], "rounded": -18.0}'
    said = f'{{"target": "new", "verdict": "proved", "is_settled": false, "parameters": [{one}]}}'
    file.write_text(said, encoding="utf-8")
    add_rounded_models([file], docs)
    assert read_rounded_models(docs)["new"][0]["value"] == "-18.0"
    assert set(read_rounded_models(docs)) == {*ROUNDED, "new"}


def test_a_page_without_marks_is_refused():
    with pytest.raises(UserError, match="no place for the table"):
        replace_between("nothing", "<!-- records -->", "<!-- end -->", "", DOCS / "records.md")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ROUNDED]
)
def test_rounded_models_are_proved(name):
    loaded = load_model(name)
    params = {key: np.array(array) for key, array in loaded.params.items()}
    for row in ROUNDED[name]:
        place = tuple(map(int, row["place"].split()))
        params[row["name"]][place] = float(row["value"])
    model = Model(loaded.architecture, params)
    proof = prove_model(model, loaded.task, loaded.data, name, False, 120.0, None, margins=False)
    assert proof.main_verdict == "proved"
