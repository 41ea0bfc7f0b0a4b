"""The QK and OV kernels of all heads of a layer, under every treatment: the work of one unit.

QK is A = W_Q' R W_K, whose entry x'Ay is the score of a query at x and a key at y; OV is A = W_O W_V, what a
head adds to the stream where it attends to a token.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from jaxtyping import Complex

from glassformer.lens.biases import measure_bias_terms
from glassformer.lens.compute.heads import (
    KernelSide,
    KernelSpectrum,
    SmallKernel,
    compute_kernel_spectra,
    make_kernel_side,
    make_small_kernel,
)
from glassformer.lens.compute.random import compute_random_kernel_ranks
from glassformer.lens.compute.statistics import compute_spectrum_statistics
from glassformer.lens.held import hold_blocks
from glassformer.lens.layout import HeadLayout, ModelLayout
from glassformer.lens.matrix import read_map
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.results import BiasTerms, Kernel, KernelResult, Ranks
from glassformer.lens.treatments import Treatment, compute_turn, read_output_map, read_score_map

REAL = 1e-7  # |imag| / |eigenvalue| up to which it is real: rounding splits a double one by the root of 2e-16
ZERO = 1e-12  # of the largest: a smaller eigenvalue is rounding, and its angle says nothing

_Sides = dict[bool, KernelSide]  # folded or not


@dataclass(frozen=True)
class _GroupSides:
    """What the heads of a group share."""

    key: _Sides
    value: _Sides


@dataclass(frozen=True)
class _PreparedKernel:
    """A kernel whose long products are done, and what its result says besides the spectrum."""

    head: HeadLayout
    kernel: Kernel
    treatment: Treatment
    small: SmallKernel
    random: Ranks
    biases: BiasTerms | None = None


def analyse_layer_kernels(
    checkpoint: Checkpoint, layout: ModelLayout, layer: int, treatments: Sequence[Treatment]
) -> list[KernelResult]:
    """All kernels of a layer's heads, by head, kernel and treatment; each stored block is read once."""
    heads = sorted((head for head in layout.attention if head.layer == layer), key=lambda head: head.kv_index)
    held, foldings = hold_blocks(checkpoint, heads), sorted({treatment.is_folded for treatment in treatments})
    prepared: list[_PreparedKernel] = []
    for _, group in groupby(heads, key=lambda head: (head.key, head.value)):
        members = list(group)
        shared = _make_group_sides(held, members[0], foldings)
        for head in members:
            prepared += _prepare_query_kernels(held, head, shared, treatments)
            prepared += _prepare_output_kernels(held, head, shared, treatments)
    spectra = compute_kernel_spectra([one.small for one in prepared])
    results = [_make_kernel_result(one, spectrum) for one, spectrum in zip(prepared, spectra, strict=True)]
    return sorted(results, key=lambda result: result.head.index)


def _make_group_sides(checkpoint: Checkpoint, head: HeadLayout, foldings: Iterable[bool]) -> _GroupSides:
    key: _Sides = {}
    value: _Sides = {}
    for is_folded in foldings:
        key[is_folded] = make_kernel_side(read_score_map(checkpoint, head.key, head.key_norm, is_folded))
        value[is_folded] = make_kernel_side(read_map(checkpoint, head.value, is_folded))
    return _GroupSides(key, value)


def _prepare_query_kernels(
    checkpoint: Checkpoint, head: HeadLayout, shared: _GroupSides, treatments: Sequence[Treatment]
) -> list[_PreparedKernel]:
    """QK under every treatment; turned ones only where the head has rotary positions."""
    queries = {
        is_folded: make_kernel_side(read_score_map(checkpoint, head.query, head.query_norm, is_folded))
        for is_folded in shared.key
    }
    prepared = []
    for treatment in treatments:
        if treatment.offset is not None and head.rope is None:
            continue
        query, key = queries[treatment.is_folded], shared.key[treatment.is_folded]
        small = make_small_kernel(query, key, compute_turn(head, treatment, query.rows.shape[0]))
        random = compute_random_kernel_ranks(query.rows.shape, key.rows.shape)
        biases = measure_bias_terms(
            checkpoint, head, treatment, query.rows, key.rows, max(small.cross.square, 0.0) ** 0.5
        )
        prepared.append(_PreparedKernel(head, "QK", treatment, small, random, biases))
    return prepared


def _prepare_output_kernels(
    checkpoint: Checkpoint, head: HeadLayout, shared: _GroupSides, treatments: Sequence[Treatment]
) -> list[_PreparedKernel]:
    """OV under every treatment that does not turn."""
    prepared = []
    for treatment in treatments:
        if treatment.offset is None:
            output = make_kernel_side(read_output_map(checkpoint, head, treatment.is_folded))
            value = shared.value[treatment.is_folded]
            random = compute_random_kernel_ranks(output.rows.shape, value.rows.shape)
            prepared.append(_PreparedKernel(head, "OV", treatment, make_small_kernel(output, value), random))
    return prepared


def _make_kernel_result(one: _PreparedKernel, spectrum: KernelSpectrum) -> KernelResult:
    return KernelResult(
        head=one.head,
        kernel=one.kernel,
        treatment=one.treatment.name,
        size=one.small.size,
        values=spectrum.values,
        eigenvalues=spectrum.eigenvalues,
        statistics=compute_spectrum_statistics(spectrum.values),
        random=one.random,
        asymmetry=spectrum.asymmetry,
        complex_share=measure_complex_share(spectrum.eigenvalues),
        copying=measure_copying(spectrum.eigenvalues),
        biases=one.biases,
    )


def measure_complex_share(eigenvalues: Complex[np.ndarray, "component"]) -> float:
    """Of the eigenvalues that are not 0, how many are not real.

    >>> measure_complex_share(np.array([2j, -2j, 1, 1 + 1e-9j, 0]))
    0.5
    """
    sizes = np.abs(eigenvalues)
    live = sizes > ZERO * sizes.max(initial=0.0)
    is_complex = np.abs(eigenvalues.imag) > REAL * sizes
    return float(is_complex[live].mean()) if live.any() else 0.0


def measure_copying(eigenvalues: Complex[np.ndarray, "component"]) -> float:
    """Sum of the eigenvalues by the sum of their sizes: 1 copies, -1 suppresses, 0 neither.

    >>> measure_copying(np.array([3.0, -1.0], complex))
    0.5
    """
    total = float(np.abs(eigenvalues).sum())
    return float(eigenvalues.sum().real) / total if total else 0.0
