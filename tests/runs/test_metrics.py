"""metrics.csv comes back as it was written; what is damaged is one sentence."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.runs.metrics import COLUMNS, SCORES, find_metrics, read_metrics, write_metrics

NUMBER = st.floats(allow_nan=False)
ROW = st.fixed_dictionaries(
    {"step": st.integers(0, 10**9), "seed": st.integers(0, 2**31 - 1)}
    | dict.fromkeys(("train_loss", *SCORES), NUMBER)
)


@given(st.lists(ROW, max_size=4))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_row_comes_back(tmp_path, rows):
    write_metrics(tmp_path, rows)
    assert read_metrics(tmp_path) == rows


def test_a_run_without_metrics_has_none(tmp_path):
    assert find_metrics(tmp_path) == []
    with pytest.raises(UserError, match="is damaged"):
        read_metrics(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "step,seed\n1,2\n",
        ",".join(COLUMNS) + "\n1,2,x,0,0,0,0,0\n",
        ",".join(COLUMNS) + "\ninf,0,0,0,0,0,0,0\n",
    ],
)
def test_what_is_damaged_is_one_sentence(tmp_path, text):
    (tmp_path / "metrics.csv").write_text(text)
    with pytest.raises(UserError, match=r"metrics\.csv is damaged \(.*\); --overwrite starts over$"):
        read_metrics(tmp_path)
