"""One addition: attention, logits and margins, recomputed from the raw weights."""

import math

import numpy as np
import pytest

from glassformer.pictures.poster.panels import (
    one_addition,
    routing,
)  # fmt: skip
from glassformer.pictures.poster.sums import Sums
from tests.pictures.poster.adders import MICRO, PAIR, asked, micro_pass, sums_of


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
