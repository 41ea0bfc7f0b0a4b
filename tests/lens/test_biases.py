from dataclasses import replace

import numpy as np
import pytest

from glassformer.lens.biases import measure_bias_terms
from glassformer.lens.kernels import analyse_layer_kernels
from glassformer.lens.rotations import compute_rotation
from glassformer.lens.treatments import RAW, Treatment
from tests.lens.toy_heads import HEAD, ROPE, head_maps, toy

TREATMENTS = [RAW, Treatment(is_folded=True), Treatment(offset=4), Treatment(is_folded=True, offset=4)]


@pytest.mark.parametrize("treatment", TREATMENTS, ids=lambda treatment: treatment.name)
def test_the_four_terms_add_up_to_the_score(treatment):
    """Each term by hand from the score itself: with and without x, with and without y."""
    model = toy()
    head = model.layout.attention[3]
    maps = head_maps(model.checkpoint, head, treatment)
    query_bias, key_bias = model.arrays["0.bq"][18:24], model.arrays["0.bk"][6:12]
    if treatment.is_folded:
        query_bias, key_bias = query_bias * model.arrays["0.nq"], key_bias * model.arrays["0.nk"]
    places = (4, 0) if treatment.offset else (0, 0)

    def score(x, y):
        turned = [compute_rotation(ROPE, place, HEAD) for place in places]
        return (turned[0] @ (maps.query @ x + query_bias)) @ (turned[1] @ (maps.key @ y + key_bias))

    nothing, units = np.zeros(14), np.eye(14)
    position = score(nothing, nothing)
    key_only = [score(nothing, unit) - position for unit in units]
    query_position = [score(unit, nothing) - position for unit in units]
    content = [
        score(x, y) - key_only[j] - query_position[i] - position
        for i, x in enumerate(units)
        for j, y in enumerate(units)
    ]
    found = next(
        one
        for one in analyse_layer_kernels(model.checkpoint, model.layout, 0, [treatment])
        if one.head.index == 3 and one.kernel == "QK"
    ).biases
    assert found.content == pytest.approx(np.linalg.norm(content))
    assert found.key_only == pytest.approx(np.linalg.norm(key_only))
    assert found.query_position == pytest.approx(np.linalg.norm(query_position))
    assert found.position == pytest.approx(abs(position))


def test_a_bias_on_one_side_only():
    model = toy()
    head = replace(model.layout.attention[0], query_bias=None)
    maps = head_maps(model.checkpoint, head)
    found = measure_bias_terms(model.checkpoint, head, RAW, maps.query, maps.key, 1.0)
    assert found.key_only == found.position == 0.0
    assert found.query_position == pytest.approx(np.linalg.norm(maps.query.T @ model.arrays["0.bk"][:6]))


def test_no_biases_no_terms():
    model = toy(biases=False)
    assert {one.biases for one in analyse_layer_kernels(model.checkpoint, model.layout, 0, [RAW])} == {None}


def test_values_have_no_score():
    model = toy()
    outputs = [
        one for one in analyse_layer_kernels(model.checkpoint, model.layout, 0, [RAW]) if one.kernel == "OV"
    ]
    assert len(outputs) == 4 and all(one.biases is None for one in outputs)
