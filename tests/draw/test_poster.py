"""The adder's poster: its numbers, recomputed here from the raw weights in plain NumPy."""

import math
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.special import erf

from glassformer.draw.measure.prepare import make_subject
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.matrices import PARAMETER
from glassformer.draw.poster.panels import (
    big_picture,
    bottleneck,
    digits,
    norms,
    one_addition,
    parameters,
    places,
    routing,
    verdict,
)  # fmt: skip
from glassformer.draw.poster.projection import VIEW, seen
from glassformer.draw.poster.sums import Sums, refuted_by
from glassformer.draw.registry import PANELS
from glassformer.draw.theme import THEMES, Theme
from glassformer.errors import UserError
from glassformer.model.architecture import Fixed
from glassformer.runs.load import load
from glassformer.tasks import digits_of
from tests.draw.faults import faults

MICRO, PAIR = "microadder-57", (8497236518, 6502763594)
CAPTIONS = (  # how those of microadder-57's panels begin, for its hardest pair
    "The way of the data for 121 + 929.",
    "Token embeddings (arc, 3 numbers), on an arc of radius 10.6",
    "Positions: a table of kind spiral with 6 stored numbers.",
    "3 norms on the stream.",
    "Attention of every head for 121 + 929, ",
    "Attention's output: measured rank 1, first direction ",
    "Every one of the 57 stored numbers, by name.",
    "121 + 929 as the model works it: it writes 1050, and 1050 is right.",
    "Verdict: proved (the zoo's list of verdicts).",
)


@cache
def subject_of(name: str, pair: tuple[int, int] | None = None) -> Subject:
    return make_subject(load(name), name, pair=pair)


def sums_of(name: str, pair: tuple[int, int] | None = None) -> Sums:
    return subject_of(name, pair).sums


def draw_panel(id: str, subject: Subject, theme: Theme) -> Figure:
    panel = next(one for one in PANELS if one.id == id)
    return panel.draw(panel.compute(subject), theme)


def changed(subject: Sums, name: str, factor: float = 1.3) -> Sums:
    """The same subject with one parameter changed; the verdict is left as it was."""
    params = dict(subject.model.params)
    params[name] = params[name] * factor
    return replace(subject, model=replace(subject.model, params=params))


def micro_pass(subject: Sums, tokens: list[int]) -> dict[str, np.ndarray]:
    """MicroAdder's forward pass, written out from its description (adders.md)."""
    p = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    angle = p["token.start"] + np.arange(10) * p["token.stride"]
    table = p["token.amplitude"] * np.stack([np.cos(angle), np.sin(angle)], 1)
    turn = np.arange(10)
    spiral = np.stack([3.5 * np.cos(turn * math.pi / 5), 3.5 * np.sin(turn * math.pi / 5), 0.15 * turn], 1)
    where = np.concatenate([spiral, np.zeros((1, 3)), spiral, p["position.equals"][None], spiral])
    x = np.concatenate([table[tokens], where[: len(tokens)]], 1)

    def norm(v: np.ndarray) -> np.ndarray:
        return v / np.sqrt((v**2).mean(1, keepdims=True) + 1e-5) * p["attn_norm.gain"]

    h, weight, theta = norm(x), p["attn.k.weight"], p["attn.q.angle"]
    key = h[:, 2:] @ weight.T
    query = np.empty_like(key)
    for even in (0, 2):
        query[:, even] = math.cos(theta) * key[:, even] - math.sin(theta) * key[:, even + 1]
        query[:, even + 1] = math.sin(theta) * key[:, even] + math.cos(theta) * key[:, even + 1]
    scores = np.where(np.tri(len(x), dtype=bool), query @ key.T / 2, -np.inf)
    mix = np.exp(scores - scores.max(1, keepdims=True))
    mix /= mix.sum(1, keepdims=True)
    number = mix @ (h[:, :2] @ p["head.weight"]) @ p["attn.out.read"]
    z = x + number[:, None] * p["attn.out.write"]
    up = norm(z) @ p["ff.up.weight"].T
    last = z + (up * 0.5 * (1 + erf(up / math.sqrt(2)))) @ p["head.weight"]
    return {"mix": mix, "number": number, "logits": norm(last) @ p["head.weight"].T @ table.T, "table": table}


def nano_pass(subject: Sums, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """nanoGPT-58's attention (head, digit, place) and logits (digit, token), from its description."""
    p = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    text = f"{a:010d}0{b:010d}0" + f"{a + b:011d}"[:0:-1]  # the answer units first, without its last digit
    x = np.outer(p["token.value"], p["token.direction"])[[int(one) for one in text]]
    turn = np.arange(len(x)) * 2 * math.pi / 11
    loud = np.where(np.arange(len(x)) < 22, 100.0, 1.0)
    x[:, 1] += loud * np.sin(turn)
    x[:, 2] += loud * np.cos(turn)
    mixes, moved = [], np.zeros_like(x)
    for head, target in ((0, 3), (1, 1)):
        t = p["attn.q.angle"][head]
        rows = p["attn.q.scale"] * np.array([[-math.cos(t), math.sin(t)], [math.sin(t), math.cos(t)]])
        scores = (x[:, 1:3] @ rows.T) @ (x[:, 1:3] @ p["attn.k.weight"][2 * head : 2 * head + 2].T).T
        scores = np.where(np.tri(len(x), dtype=bool), scores / math.sqrt(2), -np.inf)
        mix = np.exp(scores - scores.max(1, keepdims=True))
        mixes.append(mix / mix.sum(1, keepdims=True))
        value = (x @ p["attn.v.read"]) * p["attn.v.write"][2 * head]
        moved[:, target] += p["attn.out.values"][head] * (mixes[-1] @ value)
    z = x + moved
    units = np.maximum(z @ np.repeat(p["ff.up.weight"], 2, 0).T + p["ff.up.bias"], 0)
    last = (z + np.outer(units @ p["ff.down.read"], p["ff.down.write"]))[:, 3]
    digit = np.arange(10)
    return np.stack(mixes)[:, 21:], (p["head.slope"] * np.outer(last, digit) + p["head.bend"] * digit**2)[21:]


def asked(a: int, b: int) -> list[int]:
    x, y, z = (digits_of([number], count)[:, 0].tolist() for number, count in ((a, 10), (b, 10), (a + b, 11)))
    return [*x, 0, *y, 0, *z[:-1]]


def shown_parameters(figure) -> dict[str, np.ndarray]:
    images = [image for axes in figure.axes for image in axes.images]
    return {
        image.get_gid().removeprefix(PARAMETER): np.ma.masked_invalid(image.get_array()).compressed()
        for image in images
        if (image.get_gid() or "").startswith(PARAMETER)
    }


@pytest.mark.parametrize("name", [MICRO, "nanogpt-58", "tinyadder-95", "hand-6"])
def test_the_parameter_panel_shows_every_stored_number_once(name):
    subject = load(name)
    found = shown_parameters(draw_panel("P7", subject_of(name), THEMES["light"]))
    assert set(found) == set(subject.params)
    assert sum(array.size for array in found.values()) == sum(a.size for a in subject.params.values())
    for key, array in subject.params.items():
        assert np.array_equal(found[key], np.asarray(array, np.float64).ravel())


def test_the_poster_counts_like_its_boxes():
    data = big_picture.compute(subject_of(MICRO))
    norms_count = load(MICRO).params["attn_norm.gain"].size
    assert sum(block.numbers for block in data["blocks"]) + norms_count == data["total"] == 57
    assert sum(data["stages"].values()) == 57
    assert data["stages"]["attention"] == 12 + 1 + 10


def test_attention_logits_and_margins_are_those_of_the_weights():
    subject = sums_of(MICRO, PAIR)
    by_hand = micro_pass(subject, asked(*PAIR))
    drawn, worked = routing.compute(subject), one_addition.compute(subject)
    assert np.allclose(drawn["weights"][0], by_hand["mix"][21:32], atol=1e-5)
    logits = by_hand["logits"][21:32]
    best = np.sort(logits, 1)[:, ::-1]
    assert np.allclose(worked["logits"], best[:, :2], rtol=1e-4)
    assert np.allclose(worked["margins"], best[:, 0] - best[:, 1], atol=2e-2)
    assert "".join(map(str, worked["written"][::-1])) == str(sum(PAIR))
    assert worked["carry"].tolist() == [0, *[1] * 10]


def test_attention_and_margins_of_the_two_heads_of_nanogpt_by_hand():
    name, (a, b) = "nanogpt-58", (1234567890, 2718281828)
    subject = sums_of(name, (a, b))
    mixes, logits = nano_pass(subject, a, b)
    worked = one_addition.compute(subject)
    assert np.allclose(routing.compute(subject)["weights"], mixes, atol=2e-3)
    right = np.array([int(one) for one in f"{a + b:011d}"[::-1]])
    others = np.where(np.arange(10) == right[:, None], -np.inf, logits)
    by_hand = logits[np.arange(11), right] - others.max(1)
    assert worked["margins"] == pytest.approx(by_hand, abs=0.05)
    assert (worked["written"] == logits.argmax(1)).all()


def test_the_one_number_of_the_bottleneck_is_attention_times_the_values():
    subject = sums_of(MICRO)
    data, sample = bottleneck.compute(subject), subject.sample
    write = np.asarray(subject.model.params["attn.out.write"], np.float64)
    assert data["rank"] == 1
    assert abs(data["main"] @ write) == pytest.approx(np.linalg.norm(write), rel=1e-5)
    step = data["column"]
    for row in range(3):
        a, b = (sum(int(d) * 10**k for k, d in enumerate(part[row])) for part in (sample.x, sample.y))
        number = micro_pass(subject, asked(a, b))["number"][21 + step]
        assert data["score"][row] == pytest.approx(number * (write @ data["main"]), abs=2e-3)
        assert data["total"][row] == (a // 10**step % 10) + (b // 10**step % 10) + carry_into(a, b, step)


def carry_into(a: int, b: int, column: int) -> int:
    return (a % 10**column + b % 10**column) // 10**column


@pytest.mark.parametrize("name", [MICRO, "nanogpt-58-repaired", "tinyadder-95", "hand-6"])
def test_the_decision_map_agrees_with_what_the_model_writes(name):
    data = bottleneck.compute(sums_of(name))
    low, high, bottom, top = data["extent"]
    rows, columns = data["map"].shape
    chosen = (
        np.arange(len(data["score"])) if data["fixed"] < 0 else np.flatnonzero(data["own"] == data["fixed"])
    )
    across = ((data["score"][chosen] - low) / (high - low) * columns).astype(int)
    up = ((data["up"][chosen] - bottom) / (top - bottom) * rows).astype(int)
    written = data["written"][chosen]
    assert (data["map"][up, across] == written).mean() > 0.9
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]  # a border may be nearer than a cell is wide
    around = [data["map"][(up + i).clip(0, rows - 1), (across + j).clip(0, columns - 1)] for i, j in shifts]
    assert (np.stack(around) == written).any(0).all()


def test_digits_lie_on_the_arc_and_attention_carries_them_in_a_line():
    data = digits.compute(sums_of(MICRO))
    params = load(MICRO).params
    assert np.allclose(data["table"], micro_pass(sums_of(MICRO), asked(0, 0))["table"], atol=1e-5)
    assert data["lengths"] == pytest.approx(abs(float(params["token.amplitude"])))
    assert data["turns"] == pytest.approx(math.degrees(float(params["token.stride"])), rel=1e-4)
    assert 0.99 < data["straight"] <= 1
    assert "on an arc of radius 10.6" in digits.title(data)
    assert "straight line" in digits.title(digits.compute(sums_of("nanogpt-58")))


def test_places_share_points_and_the_view_is_orthonormal():
    data = places.compute(sums_of(MICRO))
    assert len(data["groups"]) == 12
    assert data["shared"] == "xₖ, yₖ and zₖ"
    assert np.allclose(VIEW @ VIEW.T, np.eye(2))
    upward = seen(np.array([[0.0, 0.0, 1.0]]))[0]
    assert upward[0] == 0 and upward[1] > 0.5
    rope = places.compute(sums_of("hand-6"))
    assert rope["distances"] == {"xₖ": 22, "yₖ": 10, "xₖ₋₁": 23, "yₖ₋₁": 11}
    assert "30.0°" in places.title(rope)


def test_norms_show_the_gain_and_the_size_that_follows_from_it():
    subject = sums_of(MICRO)
    data, gain = norms.compute(subject), np.asarray(subject.model.params["attn_norm.gain"], np.float64)
    assert np.allclose(data["gains"]["head"], gain)
    stream = subject.sample.kept["stream"].astype(np.float64)
    after = stream / np.sqrt((stream**2).mean(-1, keepdims=True) + 1e-5) * gain
    assert data["lengths"]["head"][1][2] == pytest.approx(np.median(np.sqrt((after**2).mean(-1))), rel=1e-4)
    assert norms.title(norms.compute(sums_of("hand-6"))).startswith("No norm")


def test_attention_by_role_adds_up_and_finds_the_columns():
    data = routing.compute(sums_of("nanogpt-58"))
    assert np.allclose(data["shares"].sum(-1), 1, atol=1e-5)
    assert np.allclose(data["mean"][0][:4], [0.5, 0.5, 0, 0], atol=1e-3)
    assert np.allclose(data["mean"][1][:4], [0, 0, 0.5, 0.5], atol=1e-3)
    assert routing.compute(sums_of("tinyadder-95"))["alike"] == [True, True, True, False, True, True]


def test_nearly_all_is_not_written_as_all():
    data = {"mean": np.array([[0.9996, 0.0004]]), "alike": [False], "roles": ("xₖ", "yₖ")}
    assert routing.looks(data, 0) == "xₖ (>99.9%)"
    found = verdict.compute(sums_of("nanogpt-58")) | {"wrong": 2_999, "sums": 3_000}
    assert verdict.stamp_words(found) == "wrong on >99.9% of random pairs"


def test_numbers_without_effect_are_crossed_out():
    dead = parameters.compute(subject_of(MICRO))["dead"]
    assert {name for name, mask in dead.items() if mask.any()} == {"position.z_hi"}
    assert dead["position.z_hi"].all()
    assert not any(mask.any() for mask in parameters.compute(subject_of("hand-6"))["dead"].values())


def test_fixed_numbers_are_no_parameters():
    """One at 0 and one at -1.3, which float32 rounds; the nudges leave both alone."""
    subject = subject_of("glass-23")
    entries = (Fixed("head.weight", (1, 0)), Fixed("attn.q.weight", (2, 2), -1.3))
    params = {name: np.array(array) for name, array in subject.model.params.items()}
    for entry in entries:
        params[entry.name][entry.place] = entry.value
    model = replace(
        subject.model, architecture=replace(subject.model.architecture, fixed=entries), params=params
    )
    fewer = replace(subject, model=model)
    data = parameters.compute(fewer)
    assert parameters.title(data).startswith("All 21 parameters in 8 arrays, 2 more fixed")
    assert not any(mask.any() for mask in data["dead"].values())
    assert big_picture.compute(fewer)["total"] == 21


def test_titles_claim_no_more_than_holds():
    """A stage that leads is not most of the numbers; a parabola is no line, however flat."""
    assert "the largest part, 23, is attention" in big_picture.title(big_picture.compute(subject_of(MICRO)))
    small = subject_of("hand-6")
    assert "the largest parts, 2 each" in big_picture.title(big_picture.compute(small))
    assert "almost on a line" in digits.title(digits.compute(small.sums))
    params, dead = parameters.compute(subject_of(MICRO)), "3 of them change no logit of 64 sums"
    assert dead in parameters.title(params) and "float64" in parameters.words_below(params)


def silenced(name: str, *zeros: str) -> Subject:
    """A model of the zoo with some parameters set to zero."""
    model = load(name)
    params = {key: array * (0 if key in zeros else 1) for key, array in model.params.items()}
    return make_subject(replace(model, params=params), name)


def test_attention_that_writes_nothing_is_said_to_hand_on_nothing():
    subject = silenced("glass-39", "attn.out.weight")  # as at the first step of training
    data = bottleneck.compute(subject.sums)
    assert data["rank"] == 0 and "hands on nothing" in bottleneck.title(data)
    assert "carries none" in digits.message_words(digits.compute(subject.sums))
    findings = subject.sums.findings
    assert findings.verdict == "refuted" and "made for this poster" in findings.source
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert faults(draw_panel("P6", subject, THEMES["light"])) == []
        assert faults(draw_panel("P9", subject, THEMES["light"])) == []


def test_digits_on_one_point_are_not_called_a_line():
    data = digits.compute(changed(sums_of("glass-29"), "token.amplitude", 0.0))
    assert "all on one point" in digits.title(data)


def test_weights_that_overflow_are_refused_in_a_sentence():
    model = load("nanogpt-58")
    huge = replace(model, params={key: array * np.float32(1e30) for key, array in model.params.items()})
    with pytest.raises(UserError, match="nanogpt-58 cannot be drawn: its weights are so large"):
        _ = make_subject(huge, "nanogpt-58").sums


def test_a_pair_that_comes_out_wrong_refutes():
    subject = sums_of("nanogpt-58")
    open_ = replace(subject.findings, verdict="undecided", counterexample=None)
    found = refuted_by(open_, subject.model, subject.task, [(1, 1), (0, 9000)])
    assert (found.verdict, found.wrong_pair) == ("refuted", (0, 9000))
    assert refuted_by(open_, subject.model, subject.task, [(1, 1)]) == open_


def test_places_that_differ_by_rounding_are_one():
    table = np.array([[100.0, 0.0], [100.0 + 1e-5, -1e-6], [99.0, 0.0]])
    assert [name for name, _ in places.same_rows(table, ("x0", "y0", "x1"))] == ["xy₀", "x₁"]
