"""The poster of an adder for numbers of every length: weights over columns, the window, pairs of any length."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.core.theme import THEMES
from glassformer.models.lengths import lengthen_adder
from glassformer.models.model import Model
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.parts.frame import make_sheet
from glassformer.pictures.poster.column_kernel import draw_column_kernel, measure_column_kernel
from glassformer.pictures.poster.panels import one_addition, parameters, positions, routing, verdict
from glassformer.pictures.poster.relations import Biases
from glassformer.pictures.poster.sheet import make_headline
from glassformer.runs.load import load_model
from tests.pictures.poster.adders import subject_of, sums_of

ANY = ("any-8", "any-7", "any-6")
LONG = (10**19 + 7, 5 * 10**19)


def weights_by_distance(name, digits=20):
    """The model's own weights over a long sum, as shares of the row's largest, by columns up."""
    loaded = load_model(name)
    model, task = lengthen_adder(loaded, loaded.addition, digits)
    layout = task.written()
    x = np.full((digits, 1), 7, np.int32)
    trace = model.trace(layout.encode(x, x, np.full((digits + 1, 1), 5, np.int32))[:-1, 0])
    columns = (np.arange(layout.length - 1) % (digits + 2)) - 1
    found: dict[int, set[float]] = {}
    for query in range(layout.prompt_length - 1, layout.length - 1):
        row = trace["attn.weights.0"][query, : query + 1]
        for key, weight in enumerate(row):
            found.setdefault(int(columns[key] - columns[query]), set()).add(float(weight / row.max()))
    return found


@pytest.mark.parametrize("name", ANY)
def test_the_window_is_where_the_models_own_weights_are_not_zero(name):
    kernel = measure_column_kernel(load_model(name), 0)
    own = weights_by_distance(name)
    for far, share in zip(kernel.distances.astype(int), kernel.shares[0], strict=True):
        is_seen = -kernel.window.below <= far <= kernel.window.above
        assert all((weight > 0) == is_seen == (share > 0) for weight in own[far])
        if share > 1e-30:  # smaller ones have few bits left in float32
            np.testing.assert_allclose(sorted(own[far]), share, rtol=1e-4)
    assert all(own[far] == {0.0} for far in own if not -kernel.window.below <= far <= kernel.window.above)


def test_the_curve_ends_where_float32_does():
    kernel = measure_column_kernel(load_model("any-8"), 0)
    assert np.float32(10**kernel.floor * 0.99) == 0 and np.float32(10**kernel.floor * 1.01) > 0
    axes = make_sheet(THEMES["light"], 8.0).axes(1, 1, 6, 6)
    draw_column_kernel(axes, kernel, THEMES["light"])
    drawn = axes.lines[-1].get_ydata()
    assert np.nanmin(drawn) > kernel.floor and np.isnan(drawn).any()
    seen, zero = (len(dots.get_offsets()) for dots in axes.collections[:2])
    assert (seen, zero) == (7, 4)


def test_the_panel_names_the_window():
    data = positions.compute(sums_of("any-8"))
    assert positions.title(data).endswith("beyond 2 down and 4 up weights are exactly 0")
    assert "c = 8.886, μ = 0.6522" in positions.caption(data)
    assert positions.caption(data).startswith("Positions: no table. Inside attention: columns. ")


def test_scores_that_fall_too_slowly_are_drawn_as_they_are():
    sums = sums_of("any-8")
    wide = {**sums.model.params, "attn.relation.sharpness": np.array([0.01], np.float32)}
    data = positions.compute(replace(sums, model=Model(sums.architecture, wide)))
    assert isinstance(data["relations"][0], Biases)


def test_marks_and_paddings_have_their_own_names():
    data = one_addition.compute(sums_of("any-8"))
    assert data["sources"][0].startswith("x₀ 45% y₀ 45% <") and data["sources"][-1].startswith(
        "pad 45% pad 45%"
    )
    assert "marks, paddings" in routing.compute(sums_of("any-8"))["roles"]
    assert "signs" in routing.compute(sums_of("glass-8"))["roles"]


def test_the_ratio_has_all_that_take_part():
    words = routing.describe_column_ratio(routing.compute(sums_of("any-8")))
    assert words == "xₖ : yₖ : xₖ₋₁ : yₖ₋₁ : zₖ₋₁ = 15 : 15 : 1.0 : 1.0 : 1.0."


def test_the_verdict_says_which_lengths_were_decided():
    text = verdict.caption(verdict.compute(sums_of("any-8")))
    assert "17,318 classes of pairs of 1 to 10 digits: 17,318 proved. " in text
    assert "Longer sums repeat these steps: a query sees 2 columns down and 4 up." in text
    assert "in float32" in text  # what is measured in it may be a little below what is proved
    assert "of 1 to 11 digits" in verdict.caption(verdict.compute(sums_of("any-6")))
    assert "Longer" not in verdict.caption(verdict.compute(sums_of("glass-8")))


def test_a_longer_pair_is_drawn_at_its_own_length():
    subject = subject_of("any-8", LONG)
    sums = subject.sums
    assert (sums.task.digits, sums.trained_digits, sums.sum.right) == (20, 10, True)
    assert sums.findings.inputs == "all" and len(sums.findings.steps) == 1
    assert "drawn: 20 digits" in make_headline(sums).task
    found = verdict.compute(sums)
    assert found["pair"] == (3111, 9889) and found["window"] == (2, 4, 10)
    assert parameters.compute(subject)["dead"]["head.u"].tolist() is False


def test_a_shorter_pair_is_drawn_at_the_length_of_training():
    assert subject_of("any-8", (57, 68)).sums.task.digits == 10


@pytest.mark.parametrize(
    "name, pair, words",
    [
        ("any-8", (10**20, 1), "room for 20 digits, and a number has 21"),
        ("glass-8", (10**10, 1), "between 0 and 9999999999"),
    ],
)
def test_a_pair_that_has_no_room_is_refused(name, pair, words):
    with pytest.raises(UserError, match=words):
        make_subject(load_model(name), name, pair=pair)


def test_a_counterexample_is_drawn_at_the_length_at_which_it_fails():
    """With another head any-8 is right on one digit and wrong on two, whatever it was trained on."""
    loaded = load_model("any-8").with_digits(1)
    params = {**loaded.params, "head.u": loaded.params["head.u"] * np.float32(1.05)}
    sums = make_subject(replace(loaded, params=params), "wrong").sums
    assert sums.task.digits == 2 and not sums.sum.right
    assert verdict.title(verdict.compute(sums)).startswith("Wrong: ")
