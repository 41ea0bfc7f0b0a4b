"""Units of work: one matrix under one treatment, the heads of one layer, or a pair of layers.

Each is small, needs nothing from the others, and leaves one record for each treatment; an analysis is the
list of its units, and resumes with those whose records are not there yet.

>>> to_file_name("mlp.experts.*.w1/weight")
'mlp.experts._.w1_weight'
"""

import hashlib
import re
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cached_property

from glassformer.lens.layout import HeadLayout, ModelLayout, Weight
from glassformer.lens.matrix import view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.records import (
    Found,
    Record,
    make_kernels_record,
    make_matrix_record,
    make_pair_record,
    restore_kernels,
    restore_matrix,
    restore_pair,
)
from glassformer.lens.results import MatrixResult
from glassformer.lens.treatments import Treatment

_EIGENVALUES = 3.0  # of a symmetric matrix, in products of two such matrices: 0.52 s against 0.17 s at 2048
_HEAD = 2e8  # what the kernels of a head cost, in multiplications of a large product: a few milliseconds


@dataclass(frozen=True)
class MatrixUnit:
    """The singular values of one weight matrix."""

    weight: Weight
    shape: tuple[int, int]
    is_folded: bool
    top: int  # leading directions that are kept
    device: str
    keeps_directions: bool = True  # of an expert, in memory

    @property
    def layer(self) -> int | None:
        return self.weight.layer

    @property
    def name(self) -> str:
        place = self.weight.type if self.layer is None else f"{self.weight.type} of layer {self.layer}"
        return place if self.weight.expert is None else f"{place}, expert {self.weight.expert}"

    @cached_property
    def ids(self) -> tuple[str, ...]:
        layer = "none" if self.layer is None else f"{self.layer:03d}"
        expert = "" if self.weight.expert is None else f".{self.weight.expert:03d}"
        treatment = "folded" if self.is_folded else "raw"
        return (
            f"weight.{layer}.{to_file_name(self.weight.type)}{expert}.{treatment}.{digest_location(self.weight)}",
        )

    @property
    def cost(self) -> float:
        short, long = sorted(self.shape)
        return short**2 * (long + _EIGENVALUES * short)

    @property
    def tensors(self) -> set[str]:
        return {self.weight.view.tensor}

    def work(self, checkpoint: Checkpoint, layout: ModelLayout) -> list[Record]:
        from glassformer.lens.compute.random import compute_random_ranks
        from glassformer.lens.compute.singular import compute_matrix_spectrum
        from glassformer.lens.compute.statistics import compute_spectrum_statistics

        matrix = view_matrix(checkpoint, self.weight.view, self.is_folded)
        spectrum = compute_matrix_spectrum(matrix, self.weight.stream, self.top, self.device)
        result = MatrixResult(
            weight=self.weight,
            treatment="folded" if self.is_folded else "raw",
            shape=matrix.shape,
            dtype=checkpoint.tensor(self.weight.view.tensor).dtype,
            values=spectrum.values,
            statistics=compute_spectrum_statistics(spectrum.values),
            random=compute_random_ranks(matrix.shape),
            precision=spectrum.precision,
            vectors=spectrum.vectors,
        )
        return [make_matrix_record(self.ids[0], result)]

    def restore(self, record: Record) -> list[Found]:
        result = restore_matrix(record, self.weight)
        is_kept = self.keeps_directions or self.weight.expert is None
        return [result if is_kept else replace(result, vectors=None)]


@dataclass(frozen=True)
class HeadsUnit:
    """The kernels of all heads of one layer; what was read is shared by the treatments."""

    layer: int
    heads: tuple[HeadLayout, ...]
    treatments: tuple[Treatment, ...]
    digest: str  # of the heads

    @property
    def name(self) -> str:
        return f"the heads of layer {self.layer}"

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(
            f"heads.{self.layer:03d}.{to_file_name(one.name)}.{self.digest}" for one in self.treatments
        )

    @property
    def cost(self) -> float:
        return len(self.heads) * len(self.treatments) * _HEAD

    @property
    def tensors(self) -> set[str]:
        return {view.tensor for head in self.heads for view in head.views}

    def work(self, checkpoint: Checkpoint, layout: ModelLayout) -> list[Record]:
        from glassformer.lens.kernels import analyse_layer_kernels

        found = analyse_layer_kernels(checkpoint, layout, self.layer, self.treatments)
        return [
            make_kernels_record(id, [one for one in found if one.treatment == treatment.name])
            for id, treatment in zip(self.ids, self.treatments, strict=True)
        ]

    def restore(self, record: Record) -> list[Found]:
        return list(restore_kernels(record, self.heads))


@dataclass(frozen=True)
class PairUnit:
    """Composition of the heads of two layers: how much the later reads what the earlier writes."""

    writer: int
    reader: int
    heads: tuple[HeadLayout, ...]  # of both
    digest: str  # of the heads

    @property
    def layer(self) -> int:
        return self.reader

    @property
    def name(self) -> str:
        return f"the composition of layers {self.writer} and {self.reader}"

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return (f"pair.{self.writer:03d}.{self.reader:03d}.{self.digest}",)

    @property
    def cost(self) -> float:
        return len(self.heads) * _HEAD

    @property
    def tensors(self) -> set[str]:
        return {view.tensor for head in self.heads for view in head.views}

    def work(self, checkpoint: Checkpoint, layout: ModelLayout) -> list[Record]:
        from glassformer.lens.composition import measure_composition

        scores = measure_composition(checkpoint, layout, self.writer, self.reader)
        return [make_pair_record(self.ids[0], scores)]

    def restore(self, record: Record) -> list[Found]:
        return [restore_pair(record, self.writer, self.reader)]


Unit = MatrixUnit | HeadsUnit | PairUnit


def find_missing_part(unit: Unit, there: Container[str]) -> Unit | None:
    """The unit without what is there already; none where all is there."""
    if isinstance(unit, HeadsUnit):
        left = tuple(one for id, one in zip(unit.ids, unit.treatments, strict=True) if id not in there)
        return replace(unit, treatments=left) if left else None
    return None if all(id in there for id in unit.ids) else unit


def to_file_name(text: str) -> str:
    """The same as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text)[:60]


def digest_location(place: object) -> str:
    """Of where the weights lie in the file: a record of other bytes, by an older adapter, does not count."""
    return hashlib.sha256(repr(place).encode()).hexdigest()[:8]
