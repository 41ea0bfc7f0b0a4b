"""The window is what it says: weights beyond it are 0 in the deployed arithmetic, and next to 0 in real numbers."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.models.architecture import Tie
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.projection import FullProjection
from glassformer.models.relations import LowColumnRelation
from glassformer.proofs.tables import NotProvableError
from glassformer.proofs.window import ColumnWindow, bound_far_share, find_head_window, find_window
from glassformer.runs.load import load_model


def weigh_columns(sharpness, peak, precision, columns):
    """Weights of keys at these columns, the two that are always there among them, as the pass makes them."""
    ops = NumpyOps(precision)
    away = ops.array(columns) - ops.array(peak)
    scores = away * away * (ops.array(sharpness) * -1.0)
    return ops.softmax(scores[None, :, None], 0.0)[0, :, 0]


@given(
    sharpness=st.floats(0.0625, 500.0, width=32),
    peak=st.floats(-3.0, 4.0, width=32),
    precision=st.sampled_from(["float32", "float64"]),
)
@settings(max_examples=200, deadline=None)
def test_nothing_outside_of_the_window_has_weight(sharpness, peak, precision):
    try:
        window = find_head_window(Fraction(sharpness), Fraction(peak), precision)
    except NotProvableError:
        return
    far = [
        *range(window.above + 1, window.above + 40),
        *range(-window.below - 40, -window.below),
        10**6,
        -(10**7),
    ]
    weights = weigh_columns(sharpness, peak, precision, [0, 1, *far])
    assert np.array_equal(weights[2:], np.zeros(len(far)))


def test_the_window_is_hardly_wider_than_needed():
    window = find_head_window(Fraction(4), Fraction(4, 5), "float32")
    edges = weigh_columns(4.0, 0.8, "float32", [0, 1, window.above, -window.below])
    assert (edges > 0).all()


def test_the_share_of_far_keys_covers_their_sum():
    model = load_model("any-8")
    c, mu = (float(model.params[f"attn.relation.{name}"][0]) for name in ("sharpness", "peak"))
    narrow = ColumnWindow(below=1, above=2)
    columns = [m for m in range(-300, 300) if not -narrow.below <= m <= narrow.above]
    nearest = min(mu**2, (1 - mu) ** 2)
    total = sum(3 * math.exp(-c * ((m - mu) ** 2 - nearest)) for m in columns)
    assert total / 2 <= bound_far_share(model, narrow) <= 3 * total


@pytest.mark.parametrize(
    ("sharpness", "peak", "reason"),
    [
        (0.0, 0.8, "do not fall"),
        (-4.0, 0.8, "do not fall"),
        (1e-3, 0.8, "more than 60 columns"),
        (4.0, 1e5, "more than 60 columns"),
    ],
)
def test_a_window_without_bound_is_said(sharpness, peak, reason):
    model = load_model("any-8")
    changed = {"attn.relation.sharpness": np.array([sharpness]), "attn.relation.peak": np.array([peak])}
    with pytest.raises(NotProvableError, match=reason):
        find_window(Model(model.architecture, {**model.params, **changed}))


def test_scores_that_read_tokens_are_refused():
    model = load_model("any-8")
    layer = model.architecture.layers[0]
    reading = replace(layer, attention=replace(layer.attention, q=FullProjection(), k=FullProjection()))
    weights = {f"attn.{one}.weight": np.ones((1, 2)) for one in "qk"}
    changed = Model(replace(model.architecture, layers=(reading,)), {**model.params, **weights})
    with pytest.raises(NotProvableError, match="depend on tokens"):
        find_window(changed)


def test_a_tied_parameter_is_read_where_it_is_stored():
    """The peak is the sharpness, 4: a query sees from 2 columns below 4 to 5 above, more or less."""
    model, name = load_model("any-7"), "attn.relation"
    tied = replace(
        model.architecture, ties=(*model.architecture.ties, Tie(f"{name}.peak", f"{name}.sharpness"))
    )
    params = {key: value for key, value in model.params.items() if key != f"{name}.peak"}
    found = find_window(Model(tied, params))
    assert found == find_head_window(Fraction(4), Fraction(4), "float32")


def test_masked_nearest_columns_are_refused():
    """The theorem needs keys in the query's own column and in the next one."""
    model = load_model("any-8")
    layer = model.architecture.layers[0]
    for highest, is_seen in ((1, True), (0, False), (-3, False)):
        low = replace(layer.attention, relation=LowColumnRelation(columns=12, highest=highest))
        changed = replace(model.architecture, layers=(replace(layer, attention=low),))
        if is_seen:
            assert find_window(Model(changed, model.params)) == find_window(model)
            continue
        with pytest.raises(NotProvableError, match="nearest columns are masked"):
            find_window(Model(changed, model.params))


def test_the_share_of_far_keys_is_never_nothing():
    """Weights that float64 rounds to 0 are not 0 in real numbers."""
    model = load_model("any-8")
    sharp = {**model.params, "attn.relation.sharpness": np.array([1e4], np.float32)}
    found = Model(model.architecture, sharp)
    assert 0 < bound_far_share(found, find_window(found)) < 1e-300
