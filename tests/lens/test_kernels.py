"""Every kernel of a toy model against the dense matrix, as wide as the model, built by hand."""

from collections import Counter
from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.lens.kernels import analyse_layer_kernels, measure_complex_share, measure_copying
from glassformer.lens.rotations import compute_rotation
from glassformer.lens.treatments import RAW, Treatment, parse_treatments
from tests.lens.toy_heads import GROUPS, HEAD, HEADS, ROPE, toy

ALL = parse_treatments("raw,folded,rope:3,folded+rope:3")


def dense_kernel(model, layer: int, index: int, kernel: str, treatment: str) -> np.ndarray:
    query, key, value, output = model.plain(layer, index)
    if "folded" in treatment:
        gain, post, of_query, of_key = (
            model.arrays[f"{layer}.{name}"] for name in ("gain", "post", "nq", "nk")
        )
        query, key, value = (rows * (1 + gain) for rows in (query, key, value))
        query, key, output = query * of_query[:, None], key * of_key[:, None], output * post[:, None]
    turned = compute_rotation(ROPE, -3, HEAD) if "rope" in treatment else np.eye(HEAD)
    return query.T @ turned @ key if kernel == "QK" else output @ value


def test_every_kernel_is_that_of_the_dense_matrix():
    model = toy()
    for layer in range(2):
        for found in analyse_layer_kernels(model.checkpoint, model.layout, layer, ALL):
            dense = dense_kernel(model, layer, found.head.index, found.kernel, found.treatment)
            values = np.linalg.svd(dense, compute_uv=False)
            assert found.values == pytest.approx(values[:HEAD], rel=1e-9) and found.size == HEAD
            eigenvalues = np.linalg.eigvals(dense)
            assert found.copying == pytest.approx(np.trace(dense) / np.abs(eigenvalues).sum(), abs=1e-6)
            assert found.asymmetry == pytest.approx(np.linalg.norm(dense - dense.T) / np.linalg.norm(dense))
            largest = eigenvalues[np.abs(eigenvalues) > 1e-6]
            assert found.complex_share == np.mean(np.abs(largest.imag) > 1e-9)
            assert found.random.eff_rank > 1


def test_each_head_has_its_rows_in_order():
    model = toy()
    found = analyse_layer_kernels(model.checkpoint, model.layout, 1, ALL)
    assert [one.head.index for one in found] == sorted(one.head.index for one in found)
    assert Counter((one.kernel, one.treatment) for one in found) == {
        ("QK", "raw"): HEADS,
        ("QK", "folded"): HEADS,
        ("QK", "rope:3"): HEADS,
        ("QK", "folded+rope:3"): HEADS,
        ("OV", "raw"): HEADS,
        ("OV", "folded"): HEADS,
    }


def test_without_rotary_positions_there_are_no_turned_rows():
    model = toy(rope=None)
    assert {one.treatment for one in analyse_layer_kernels(model.checkpoint, model.layout, 0, ALL)} == {
        "raw",
        "folded",
    }


def test_a_layer_without_heads_has_no_kernels():
    model = toy()
    assert analyse_layer_kernels(model.checkpoint, model.layout, 7, ALL) == []


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_an_offset_of_0_is_raw(seed):
    model = toy(seed, layers=1)
    found = analyse_layer_kernels(model.checkpoint, model.layout, 0, [RAW, Treatment(offset=0)])
    raw, still = (
        [one for one in found if one.kernel == "QK" and one.treatment == name] for name in ("raw", "rope:0")
    )
    for one, other in zip(raw, still, strict=True):
        assert other.values == pytest.approx(one.values, rel=1e-9)
        assert other.asymmetry == pytest.approx(one.asymmetry, rel=1e-9)
        assert astuple(other.biases) == pytest.approx(astuple(one.biases), rel=1e-9)


def test_shuffled_heads_would_be_seen():
    model, other = toy(), toy()
    spans = [head.query for head in other.layout.attention]
    swapped = tuple(
        replace(head, query=spans[(index + 1) % len(spans)])
        for index, head in enumerate(other.layout.attention)
    )
    found = analyse_layer_kernels(model.checkpoint, replace(model.layout, attention=swapped), 0, [RAW])
    dense = dense_kernel(model, 0, 0, "QK", "raw")
    assert found[0].values != pytest.approx(np.linalg.svd(dense, compute_uv=False)[:HEAD], rel=1e-3)


def test_each_stored_number_is_read_once():
    model, read = toy(biases=False), Counter()

    def counted(name, tensor):
        def reading(rows, columns):
            for row in range(rows.start, rows.stop):
                read[name, row] += 1
            return tensor.read(rows, columns)

        return replace(tensor, read=reading)

    tensors = {name: counted(name, tensor) for name, tensor in model.checkpoint.tensors.items()}
    analyse_layer_kernels(replace(model.checkpoint, tensors=tensors), model.layout, 0, ALL)
    rows = {name: [count for (which, _), count in read.items() if which == f"0.{name}"] for name in "qkvo"}
    assert rows == {
        "q": [1] * HEADS * HEAD,
        "k": [1] * GROUPS * HEAD,
        "v": [1] * GROUPS * HEAD,
        "o": [1] * 14,
    }
    assert not any(name.startswith("1.") for name, _ in read)


def test_eigenvalues_of_nothing():
    assert measure_complex_share(np.zeros(3, complex)) == measure_copying(np.zeros(3, complex)) == 0.0
    assert measure_complex_share(np.zeros(0, complex)) == measure_copying(np.zeros(0, complex)) == 0.0


def test_rounding_is_not_complex():
    assert measure_complex_share(np.array([1.0, 1e-17 + 1e-17j, 1e-17 - 1e-17j])) == 0.0
    assert measure_complex_share(np.array([1.0, 1e-3 + 1e-3j, 1e-3 - 1e-3j, 2.0])) == 0.5
    assert measure_copying(np.array([1 + 1j, 1 - 1j])) == pytest.approx(2**-0.5)
