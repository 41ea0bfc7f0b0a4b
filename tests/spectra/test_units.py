"""Units of work: what they compute, and that the disk gives back the same bits."""

import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from glassformer.spectra.plan import Wanted, plan
from glassformer.spectra.records import DAMAGE, read_record, write_record
from glassformer.spectra.treatments import parse_treatments
from glassformer.spectra.units import HeadsUnit, MatrixUnit, PairUnit, missing_part

from .small_llama import HEAD_DIM, HEADS, arrays, in_memory_llama


def planned(treatments="raw", layers=(0, 1, 2), **wishes):
    checkpoint, layout = in_memory_llama()
    return (
        checkpoint,
        layout,
        plan(checkpoint, layout, Wanted(layers, parse_treatments(treatments), **wishes)),
    )


def same_bits(one, other):
    """Equal down to the sign of a NaN, through dataclasses and tuples."""
    if is_dataclass(one):
        return all(same_bits(getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same_bits, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_bits(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray | float):
        return (
            np.asarray(one).dtype == np.asarray(other).dtype
            and np.asarray(one).tobytes() == np.asarray(other).tobytes()
        )
    return one == other


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


def test_records_give_the_same_bits_back(tmp_path):
    checkpoint, layout, units = planned("folded,rope:3", layers=(0, 1))
    for unit in units:
        records = unit.work(checkpoint, layout)
        assert tuple(record.id for record in records) == unit.ids
        for record in records:
            write_record(tmp_path, record)
            fresh, stored = unit.restore(record), unit.restore(read_record(tmp_path, record.id))
            assert fresh
            assert same_bits(fresh, stored)


def test_results_are_those_of_the_dense_matrices():
    checkpoint, layout, units = planned()
    stored = arrays()
    for unit in units:
        found = [one for record in unit.work(checkpoint, layout) for one in unit.restore(record)]
        if isinstance(unit, MatrixUnit):
            dense = np.linalg.svd(stored[unit.weight.view.tensor].astype(np.float64), compute_uv=False)
            np.testing.assert_allclose(found[0].values, dense, rtol=1e-9)
        if isinstance(unit, HeadsUnit):
            assert len(found) == 2 * HEADS
            prefix = f"model.layers.{unit.layer}.self_attn"
            for one in (one for one in found if one.kernel == "QK"):
                query, key = (stored[f"{prefix}.{name}_proj.weight"].astype(np.float64) for name in "qk")
                rows = slice(one.head.index * HEAD_DIM, (one.head.index + 1) * HEAD_DIM)
                shared = slice(one.head.kv_index * HEAD_DIM, (one.head.kv_index + 1) * HEAD_DIM)
                dense = np.linalg.svd(query[rows].T @ key[shared], compute_uv=False)[:HEAD_DIM]
                np.testing.assert_allclose(one.values, dense, rtol=1e-9)


def test_what_is_there_is_not_worked_on_again():
    _, _, units = planned("folded,rope:3")
    heads, matrix = units[0], next(unit for unit in units if isinstance(unit, MatrixUnit))
    assert missing_part(heads, heads.ids) is None
    left = missing_part(heads, [heads.ids[0], heads.ids[2]])
    assert [treatment.name for treatment in left.treatments] == ["folded"]
    assert left.ids == (heads.ids[1],)
    assert missing_part(matrix, []) == matrix
    assert missing_part(matrix, matrix.ids) is None


def test_damage_is_seen(tmp_path):
    checkpoint, layout, units = planned(layers=(0,))
    (record,) = units[0].work(checkpoint, layout)
    write_record(tmp_path, record)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for broken in (whole[:-1], whole[:40], b"", whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]):
        file.write_bytes(broken)
        with pytest.raises(DAMAGE):
            read_record(tmp_path, record.id)
