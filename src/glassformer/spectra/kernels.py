"""The QK and OV kernels of all heads of a layer, under every treatment: the work of one unit.

QK is A = W_Q' R W_K, whose entry x'Ay is the score of a query at x and a key at y; OV is A = W_O W_V, what a
head adds to the stream where it attends to a token.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from jaxtyping import Complex

from glassformer.spectra.biases import bias_terms
from glassformer.spectra.compute.heads import KernelSpectrum, Side, Small, kernel_spectra, side, small_kernel
from glassformer.spectra.compute.random import random_kernel_ranks
from glassformer.spectra.compute.statistics import statistics
from glassformer.spectra.held import hold
from glassformer.spectra.layout import Head, Layout
from glassformer.spectra.matrix import map_matrix
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.results import BiasTerms, Kernel, KernelResult, Ranks
from glassformer.spectra.treatments import Treatment, output_map, score_map, turn

REAL = 1e-7  # |imag| / |eigenvalue| up to which it is real: rounding splits a double one by the root of 2e-16
ZERO = 1e-12  # of the largest: a smaller eigenvalue is rounding, and its angle says nothing

Sides = dict[bool, Side]  # folded or not


@dataclass(frozen=True)
class Shared:
    """What the heads of a group share."""

    key: Sides
    value: Sides


@dataclass(frozen=True)
class Prepared:
    """A kernel whose long products are done, and what its result says besides the spectrum."""

    head: Head
    kernel: Kernel
    treatment: Treatment
    small: Small
    random: Ranks
    biases: BiasTerms | None = None


def layer_kernels(
    checkpoint: Checkpoint, layout: Layout, layer: int, treatments: Sequence[Treatment]
) -> list[KernelResult]:
    """All kernels of a layer's heads, by head, kernel and treatment; each stored block is read once."""
    heads = sorted((head for head in layout.attention if head.layer == layer), key=lambda head: head.kv_index)
    held, foldings = hold(checkpoint, heads), sorted({treatment.is_folded for treatment in treatments})
    prepared: list[Prepared] = []
    for _, group in groupby(heads, key=lambda head: (head.key, head.value)):
        members = list(group)
        shared = shared_sides(held, members[0], foldings)
        for head in members:
            prepared += query_kernels(held, head, shared, treatments)
            prepared += output_kernels(held, head, shared, treatments)
    spectra = kernel_spectra([one.small for one in prepared])
    results = [kernel_result(one, spectrum) for one, spectrum in zip(prepared, spectra, strict=True)]
    return sorted(results, key=lambda result: result.head.index)


def shared_sides(checkpoint: Checkpoint, head: Head, foldings: Iterable[bool]) -> Shared:
    key: Sides = {}
    value: Sides = {}
    for is_folded in foldings:
        key[is_folded] = side(score_map(checkpoint, head.key, head.key_norm, is_folded))
        value[is_folded] = side(map_matrix(checkpoint, head.value, is_folded))
    return Shared(key, value)


def query_kernels(
    checkpoint: Checkpoint, head: Head, shared: Shared, treatments: Sequence[Treatment]
) -> list[Prepared]:
    """QK under every treatment; turned ones only where the head has rotary positions."""
    queries = {
        is_folded: side(score_map(checkpoint, head.query, head.query_norm, is_folded))
        for is_folded in shared.key
    }
    prepared = []
    for treatment in treatments:
        if treatment.offset is not None and head.rope is None:
            continue
        query, key = queries[treatment.is_folded], shared.key[treatment.is_folded]
        small = small_kernel(query, key, turn(head, treatment, query.rows.shape[0]))
        random = random_kernel_ranks(query.rows.shape, key.rows.shape)
        biases = bias_terms(
            checkpoint, head, treatment, query.rows, key.rows, max(small.cross.square, 0.0) ** 0.5
        )
        prepared.append(Prepared(head, "QK", treatment, small, random, biases))
    return prepared


def output_kernels(
    checkpoint: Checkpoint, head: Head, shared: Shared, treatments: Sequence[Treatment]
) -> list[Prepared]:
    """OV under every treatment that does not turn."""
    prepared = []
    for treatment in treatments:
        if treatment.offset is None:
            output = side(output_map(checkpoint, head, treatment.is_folded))
            value = shared.value[treatment.is_folded]
            random = random_kernel_ranks(output.rows.shape, value.rows.shape)
            prepared.append(Prepared(head, "OV", treatment, small_kernel(output, value), random))
    return prepared


def kernel_result(one: Prepared, spectrum: KernelSpectrum) -> KernelResult:
    return KernelResult(
        head=one.head,
        kernel=one.kernel,
        treatment=one.treatment.name,
        size=one.small.size,
        values=spectrum.values,
        eigenvalues=spectrum.eigenvalues,
        statistics=statistics(spectrum.values),
        random=one.random,
        asymmetry=spectrum.asymmetry,
        complex_share=complex_share(spectrum.eigenvalues),
        copying=copying(spectrum.eigenvalues),
        biases=one.biases,
    )


def complex_share(eigenvalues: Complex[np.ndarray, "component"]) -> float:
    """Of the eigenvalues that are not 0, how many are not real.

    >>> complex_share(np.array([2j, -2j, 1, 1 + 1e-9j, 0]))
    0.5
    """
    sizes = np.abs(eigenvalues)
    live = sizes > ZERO * sizes.max(initial=0.0)
    is_complex = np.abs(eigenvalues.imag) > REAL * sizes
    return float(is_complex[live].mean()) if live.any() else 0.0


def copying(eigenvalues: Complex[np.ndarray, "component"]) -> float:
    """Sum of the eigenvalues by the sum of their sizes: 1 copies, -1 suppresses, 0 neither.

    >>> copying(np.array([3.0, -1.0]))
    0.5
    """
    total = float(np.abs(eigenvalues).sum())
    return float(eigenvalues.sum().real) / total if total else 0.0
