"""What a finished unit leaves on the disk, and how results come back from it, bit for bit.

A record is a handful of arrays and a little text; what belongs to the layout (which weight, which head) is
not stored: the unit that made the record knows it.

>>> ranks = Ranks(2.0, 2.0, 1.0, float("nan"))
>>> Ranks(**json.loads(json.dumps(asdict(ranks)))).eff_rank
2.0
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from glassformer.core.atomic import read_arrays, write_arrays
from glassformer.core.errors import UserError
from glassformer.lens.layout import HeadLayout, Weight
from glassformer.lens.results import BiasTerms, Kernel, KernelResult, MatrixResult, Ranks, Statistics


@dataclass(frozen=True)
class Record:
    """One file of the folder `units`."""

    id: str  # the file's name
    arrays: dict[str, np.ndarray]
    about: dict[str, Any]


@dataclass(frozen=True)
class PairScores:
    """Composition of the heads of two layers."""

    writer: int  # layer
    reader: int
    scores: dict[str, Float[np.ndarray, "writer reader"]]  # Q, K, V


Found = MatrixResult | KernelResult | PairScores
DAMAGE = (UserError, KeyError, TypeError, ValueError)  # what reading a file raises that is not ours or broken


def write_record(folder: Path, record: Record) -> None:
    about = record.about | {"check": _compute_checksum(record.arrays)}
    write_arrays(folder / f"{record.id}.safetensors", record.arrays, about)


def read_record(folder: Path, id: str) -> Record:
    """A record as it was written; ValueError or UserError where the file is damaged."""
    arrays, about = read_arrays(folder / f"{id}.safetensors")
    if about.pop("check") != _compute_checksum(arrays):
        raise ValueError(f"{id} has other numbers than those that were written")
    return Record(id, arrays, about)


def _compute_checksum(arrays: dict[str, np.ndarray]) -> int:
    """Of names and bytes: a safetensors file has none of its own."""
    total = 0
    for name in sorted(arrays):
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), zlib.crc32(name.encode(), total))
    return total


def make_matrix_record(id: str, result: MatrixResult) -> Record:
    arrays = {"values": result.values}
    if result.vectors is not None:
        arrays["vectors"] = result.vectors
    names = ("treatment", "shape", "dtype", "precision")
    about = {name: getattr(result, name) for name in names}
    return Record(id, arrays, about | _to_statistics_tree(result))


def restore_matrix(record: Record, weight: Weight) -> MatrixResult:
    about = record.about
    return MatrixResult(
        weight=weight,
        treatment=about["treatment"],
        shape=(about["shape"][0], about["shape"][1]),
        dtype=about["dtype"],
        values=record.arrays["values"],
        statistics=_from_statistics_tree(about),
        random=Ranks(**about["random"]),
        precision=about["precision"],
        vectors=record.arrays.get("vectors"),
    )


def make_kernels_record(id: str, results: Sequence[KernelResult]) -> Record:
    """All heads of a layer under one treatment."""
    arrays, rows = {}, []
    for result in results:
        key = f"{result.head.index}.{result.kernel}"
        arrays[f"{key}.values"] = result.values
        arrays[f"{key}.eigenvalues"] = _split_complex(result.eigenvalues)
        names = ("kernel", "treatment", "size", "asymmetry", "complex_share", "copying")
        row = {name: getattr(result, name) for name in names} | _to_statistics_tree(result)
        row |= {"head": result.head.index, "biases": asdict(result.biases) if result.biases else None}
        rows.append(row)
    return Record(id, arrays, {"kernels": rows})


def restore_kernels(record: Record, heads: Sequence[HeadLayout]) -> list[KernelResult]:
    by_index = {head.index: head for head in heads}
    return [_restore_kernel(record, row, by_index[row["head"]]) for row in record.about["kernels"]]


def _restore_kernel(record: Record, row: dict[str, Any], head: HeadLayout) -> KernelResult:
    kernel: Kernel = row["kernel"]
    key = f"{head.index}.{kernel}"
    return KernelResult(
        head=head,
        kernel=kernel,
        treatment=row["treatment"],
        size=row["size"],
        values=record.arrays[f"{key}.values"],
        eigenvalues=record.arrays[f"{key}.eigenvalues"].view(np.complex128)[:, 0],
        statistics=_from_statistics_tree(row),
        random=Ranks(**row["random"]),
        asymmetry=row["asymmetry"],
        complex_share=row["complex_share"],
        copying=row["copying"],
        biases=BiasTerms(**row["biases"]) if row["biases"] else None,
    )


def make_pair_record(id: str, scores: dict[str, np.ndarray]) -> Record:
    return Record(id, dict(scores), {})


def restore_pair(record: Record, writer: int, reader: int) -> PairScores:
    return PairScores(writer, reader, dict(sorted(record.arrays.items())))


def _to_statistics_tree(result: MatrixResult | KernelResult) -> dict[str, Any]:
    """Statistics and baseline as JSON, which keeps every bit of a float, and NaN and infinity."""
    whole = {"statistics": asdict(result.statistics), "random": asdict(result.random)}
    plain: dict[str, Any] = json.loads(json.dumps(whole, default=lambda scalar: scalar.item()))
    return plain


def _from_statistics_tree(about: dict[str, Any]) -> Statistics:
    stored = dict(about["statistics"])
    ranks, components = Ranks(**stored.pop("ranks")), tuple(stored.pop("components"))
    return Statistics(
        ranks=ranks, components=components, percentiles=tuple(stored.pop("percentiles")), **stored
    )


def _split_complex(numbers: np.ndarray) -> Float[np.ndarray, "component 2"]:
    """Complex numbers as real and imaginary parts, which every reader of safetensors knows."""
    return np.ascontiguousarray(numbers, np.complex128).view(np.float64).reshape(-1, 2)
