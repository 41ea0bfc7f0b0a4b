"""Units of work: what they compute, and that the disk gives back the same bits."""

import numpy as np

from glassformer.lens.units import HeadsUnit, MatrixUnit, find_missing_part
from tests.lens.planned import planned
from tests.lens.small_llama import HEAD_DIM, HEADS, arrays


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
    assert find_missing_part(heads, heads.ids) is None
    left = find_missing_part(heads, [heads.ids[0], heads.ids[2]])
    assert [treatment.name for treatment in left.treatments] == ["folded"]
    assert left.ids == (heads.ids[1],)
    assert find_missing_part(matrix, []) == matrix
    assert find_missing_part(matrix, matrix.ids) is None
