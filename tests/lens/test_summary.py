"""The few numbers that are told of an analysis."""

import json

import numpy as np
import pytest

from glassformer.core.atomic import replace_nonfinite
from glassformer.lens.summary import describe_stored_trend, describe_summary, summarise_analysis

from .test_analyse import analysed


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return analysed(tmp_path_factory.mktemp("summary") / "a", treatments="folded")[0]


def test_the_fields_of_the_contract(analysis):
    content = summarise_analysis(analysis)
    assert content["architecture"] == "llama"
    assert [content[name] for name in ("layers", "heads", "kv_heads", "head_dim")] == [3, 4, 2, 4]
    assert {"min", "max", "mean", "std", "argmin", "argmax"} <= {*content["qk_effective_rank"]}
    assert [*content["weights"]] == ["W_Q", "W_K", "W_V", "W_O", "W_gate", "W_up", "W_down", "W_E"]
    for weight in content["weights"].values():
        assert {"mean", "std", "relative_to_random", "phases", "trend", "jump", "drop"} <= {*weight}
    phases = content["weights"]["W_Q"]["phases"]
    assert [*phases] == ["early", "middle", "late", "change_points", "segments"]
    assert {"label", "tested", "p_value", "slope"} <= {*content["weights"]["W_Q"]["trend"]}
    json.dumps(replace_nonfinite(content), allow_nan=False)


def test_ranks_are_of_the_raw_kernels(analysis):
    ranks = {
        (one.head.layer, one.head.index): one.eff_rank
        for one in analysis.kernels
        if (one.kernel, one.treatment) == ("QK", "raw")
    }
    told = summarise_analysis(analysis)["qk_effective_rank"]
    assert told["mean"] == np.mean([*ranks.values()])
    assert told["min"] == ranks[told["argmin"]["layer"], told["argmin"]["head"]] == min(ranks.values())
    assert told["max"] == ranks[told["argmax"]["layer"], told["argmax"]["head"]] == max(ranks.values())


def test_words(analysis):
    lines = describe_summary(summarise_analysis(analysis))
    assert lines[0] == "4 heads of 4 dimensions, 2 for keys and values"
    assert lines[1].startswith("QK effective rank: mean ")
    assert len([line for line in lines if line.startswith("  W_")]) == 8


def test_words_about_trends():
    def words(label, tested, p_value):
        return describe_stored_trend({"label": label, "tested": tested, "p_value": p_value, "slope": 1.0})

    assert words("U-shape", "U-shape", 0.021) == "U-shape, p = 0.021"
    assert words("falling", "falling", 1e-9) == "falling, p < 0.001"
    assert words("falling", "none", 0.68) == "falling by thirds, not significant, p = 0.68"
    assert words("falling", "U-shape", 0.01) == "U-shape, p = 0.010 (falling by thirds)"
    assert words("falling", "too few layers", float("nan")) == ""
    assert describe_stored_trend(None) == ""
    assert describe_stored_trend(None) == ""
