"""Which units an analysis has, and in which order."""

import re

import pytest

from glassformer.lens.units import MatrixUnit, PairUnit
from tests.lens.planned import planned


def test_the_heads_of_the_first_layer_come_first_and_the_embeddings_before_the_second():
    _, _, units = planned()
    assert (units[0].name, units[0].layer) == ("the heads of layer 0", 0)
    names = [unit.name for unit in units]
    assert names.index("W_E") < names.index("the heads of layer 1")
    assert [unit.name for unit in units[-2:]] == [
        "the composition of layers 0 and 1",
        "the composition of layers 1 and 2",
    ]
    assert len(units) == 3 + 3 * 7 + 1 + 2


def test_the_costly_matrices_of_a_layer_come_first():
    _, _, units = planned()
    costs = [unit.cost for unit in units if isinstance(unit, MatrixUnit) and unit.layer == 2]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize(("relations", "count"), [("near", 2), ("all", 3), ("none", 0)])
def test_pairs_of_layers(relations, count):
    assert sum(isinstance(unit, PairUnit) for unit in planned(relations=relations)[2]) == count


def test_layers_and_heads_alone():
    _, _, units = planned(layers=(1,), has_matrices=False)
    assert [unit.name for unit in units] == ["the heads of layer 1"]
    _, _, units = planned(layers=(1,), has_rest=False)
    assert {unit.layer for unit in units} == {1}


def test_folded_matrices_are_those_that_a_norm_comes_before():
    _, _, units = planned("folded", layers=(0,))
    folded = {unit.weight.type for unit in units if isinstance(unit, MatrixUnit) and unit.is_folded}
    assert folded >= {"W_Q", "W_K", "W_V", "W_gate", "W_up"}
    assert not folded & {"W_O", "W_down"}


def test_ids_are_different_and_safe_as_file_names():
    _, _, units = planned("folded,rope:3,folded+rope:3", relations="all")
    ids = [id for unit in units for id in unit.ids]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", id) for id in ids)
