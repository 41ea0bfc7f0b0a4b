"""Tables of an analysis: every matrix, every head, every layer.

`weights.csv` begins with the published columns, and pandas reads every file as it stands. What belongs to no
layer (embeddings) has layer_idx -1: the column stays one of integers, and sorts them before layer 0.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from glassformer.spectra.relation_tables import relation_tables
from glassformer.spectra.results import PERCENTILES, SHARES, Analysis, KernelResult, MatrixResult
from glassformer.spectra.table_files import Column, Table, write_csv, write_parquet
from glassformer.spectra.words import treatment_place

NO_LAYER = -1
TYPES = ("W_Q", "W_K", "W_V", "W_O", "W_gate", "W_up", "W_down", "W_E", "W_U")  # others after them, by name
KERNELS = ("QK", "OV")
RANKS = ("eff_rank", "eff_rank_energy", "stable_rank", "participation_ratio")
LOW, HIGH = 25, 75  # percentiles between which a head is neither of low nor of high rank
PARQUET = ("weights", "heads")

Result = MatrixResult | KernelResult
Order = tuple[int | str, ...]


def write_growing_tables(
    folder: Path, matrices: Sequence[MatrixResult], kernels: Sequence[KernelResult]
) -> None:
    """Those that are there while the analysis still works."""
    for name, table in main_tables(matrices, kernels).items():
        write_csv(folder / f"{name}.csv", table)


def write_tables(folder: Path, analysis: Analysis, with_values: bool = False) -> list[Path]:
    """All tables of a finished analysis."""
    main = main_tables(analysis.matrices, analysis.kernels)
    tables = main | relation_tables(analysis.relations)
    stored = {name: main[name] for name in PARQUET if name in main}
    if with_values:
        stored["singular_values"] = values_table([*analysis.matrices, *analysis.kernels])
    files = [write_csv(folder / f"{name}.csv", table) for name, table in tables.items()]
    return files + [write_parquet(folder / f"{name}.parquet", table) for name, table in stored.items()]


def main_tables(matrices: Sequence[MatrixResult], kernels: Sequence[KernelResult]) -> dict[str, Table]:
    tables = {}
    if matrices:
        tables["weights"] = weights_table(matrices)
    if kernels:
        tables |= {"heads": heads_table(kernels), "layers": layers_table(kernels)}
    return tables


def weights_table(matrices: Sequence[MatrixResult]) -> Table:
    return [
        Column("layer_idx", "whole", [layer_idx(one) for one in matrices]),
        Column("weight_type", "text", [one.weight.type for one in matrices]),
        Column("shape", "text", [f"{one.shape[0]}x{one.shape[1]}" for one in matrices]),
        Column("eff_rank", "real", [one.eff_rank for one in matrices]),
        Column("expert", "whole", [one.weight.expert for one in matrices]),
        Column("treatment", "text", [one.treatment for one in matrices]),
        Column("eff_rank_raw", "real", raw_ranks(matrices, matrix_place)),
        *rank_columns(matrices),
        *statistics_columns(matrices),
        Column("dtype", "text", [one.dtype for one in matrices]),
        Column("precision", "text", [one.precision for one in matrices]),
        Column("tensor", "text", [one.weight.view.tensor for one in matrices]),
    ]


def heads_table(kernels: Sequence[KernelResult]) -> Table:
    return [
        Column("layer_idx", "whole", [one.head.layer for one in kernels]),
        Column("head_idx", "whole", [one.head.index for one in kernels]),
        Column("kv_head_idx", "whole", [one.head.kv_index for one in kernels]),
        Column("kernel", "text", [one.kernel for one in kernels]),
        Column("treatment", "text", [one.treatment for one in kernels]),
        Column("eff_rank", "real", [one.eff_rank for one in kernels]),
        Column("eff_rank_raw", "real", raw_ranks(kernels, kernel_place)),
        Column("quartile", "text", quartiles(kernels)),
        *rank_columns(kernels),
        Column("size", "whole", [one.size for one in kernels]),
        Column("asymmetry", "real", [one.asymmetry for one in kernels]),
        Column("complex_share", "real", [one.complex_share for one in kernels]),
        Column("copying", "real", [one.copying for one in kernels]),
        *statistics_columns(kernels),
        *bias_columns(kernels),
    ]


def layers_table(kernels: Sequence[KernelResult]) -> Table:
    """Over the heads of each layer."""
    groups = defaultdict(list)
    for one in kernels:
        groups[one.head.layer, one.kernel, one.treatment].append(one)
    places, members = list(groups), list(groups.values())
    names = ("layer_idx", "kernel", "treatment")
    table = [
        Column(name, "whole" if name == "layer_idx" else "text", [place[index] for place in places])
        for index, name in enumerate(names)
    ]
    table.append(Column("heads", "whole", [len(group) for group in members]))
    measures: dict[str, Callable[[KernelResult], float]] = {
        "eff_rank": lambda one: one.eff_rank,
        "eff_rank_relative": lambda one: one.relative_rank,
        "asymmetry": lambda one: one.asymmetry,
        "complex_share": lambda one: one.complex_share,
        "copying": lambda one: one.copying,
    }
    overs: dict[str, Callable[..., Any]] = {"mean": np.mean, "min": np.min, "max": np.max, "std": np.std}
    for measure, get in measures.items():
        numbers = [np.array([get(one) for one in group]) for group in members]
        table += [
            Column(f"{measure}_{over}", "real", [float(of(some)) for some in numbers])
            for over, of in overs.items()
        ]
    return table


def values_table(results: Sequence[Result]) -> Table:
    """Every singular value, one a row."""
    lengths = [len(one.values) for one in results]
    whole: dict[str, list[Any]] = {
        "layer_idx": [layer_idx(one) for one in results],
        "weight_type": [one.weight.type if isinstance(one, MatrixResult) else None for one in results],
        "expert": [one.weight.expert if isinstance(one, MatrixResult) else None for one in results],
        "head_idx": [one.head.index if isinstance(one, KernelResult) else None for one in results],
        "kernel": [one.kernel if isinstance(one, KernelResult) else None for one in results],
        "treatment": [one.treatment for one in results],
    }
    table = [
        Column(name, "whole" if name.endswith(("idx", "expert")) else "text", repeated(cells, lengths))
        for name, cells in whole.items()
    ]
    places = [np.arange(length) for length in lengths]
    table.append(Column("component", "whole", np.concatenate(places or [np.arange(0)])))
    values = [one.values for one in results] or [np.zeros(0)]
    return [*table, Column("singular_value", "real", np.concatenate(values))]


def repeated(cells: Iterable[Any], lengths: Sequence[int]) -> list[Any]:
    return [cell for cell, length in zip(cells, lengths, strict=True) for _ in range(length)]


def rank_columns(results: Sequence[Result]) -> Table:
    """Each rank, and its share of what a random matrix of the shape has."""
    table = []
    for name in RANKS:
        own = [getattr(one.statistics.ranks, name) for one in results]
        random = [getattr(one.random, name) for one in results]
        if name != "eff_rank":
            table.append(Column(name, "real", own))
        table.append(Column(f"{name}_relative", "real", [*map(ratio, own, random)]))
    return table


def statistics_columns(results: Sequence[Result]) -> Table:
    found = [one.statistics for one in results]
    sizes = ("frobenius", "largest", "smallest", "condition")
    return [
        *(Column(name, "real", [getattr(one, name) for one in found]) for name in sizes),
        *(Column(f"n{at}", "whole", [one.components[i] for one in found]) for i, at in enumerate(SHARES)),
        *(
            Column(f"sigma_p{at}", "real", [one.percentiles[i] for one in found])
            for i, at in enumerate(PERCENTILES)
        ),
        Column("alpha", "real", [one.alpha for one in found]),
        Column("alpha_tail", "whole", [one.alpha_tail for one in found]),
        Column("alpha_distance", "real", [one.alpha_distance for one in found]),
    ]


def bias_columns(kernels: Sequence[KernelResult]) -> Table:
    """Sizes of the score's terms, where the model has biases."""
    names = ("content", "key_only", "query_position", "position")
    return [
        Column(f"score_{name}", "real", [getattr(one.biases, name, None) for one in kernels])
        for name in names
    ]


def raw_ranks(results: Sequence[Any], place: Callable[[Any], Order]) -> list[float | None]:
    """The raw effective rank of the same matrix or kernel."""
    raw = {place(one): one.eff_rank for one in results if one.treatment == "raw"}
    return [raw.get(place(one)) for one in results]


def quartiles(kernels: Sequence[KernelResult]) -> list[str]:
    """Low, middle or high: among the heads of the same kernel and treatment."""
    groups = defaultdict(list)
    for one in kernels:
        groups[one.kernel, one.treatment].append(one.eff_rank)
    bounds = {key: np.percentile(ranks, (LOW, HIGH)) for key, ranks in groups.items()}
    return [quartile(one, bounds[one.kernel, one.treatment]) for one in kernels]


def quartile(one: KernelResult, bounds: Float[np.ndarray, "2"]) -> str:
    rank = one.eff_rank
    return "low" if rank <= bounds[0] else "high" if rank >= bounds[1] else "middle"


def ratio(own: float, random: float) -> float:
    return own / random if random else float("nan")


def layer_idx(one: Result) -> int:
    if isinstance(one, KernelResult):
        return one.head.layer
    return NO_LAYER if one.weight.layer is None else one.weight.layer


def matrix_place(one: MatrixResult) -> Order:
    expert = -1 if one.weight.expert is None else one.weight.expert
    return layer_idx(one), *position(TYPES, one.weight.type), expert, repr(one.weight.view)


def matrix_order(one: MatrixResult) -> Order:
    return *matrix_place(one), *treatment_place(one.treatment)


def kernel_place(one: KernelResult) -> Order:
    return one.head.layer, one.head.index, *position(KERNELS, one.kernel)


def kernel_order(one: KernelResult) -> Order:
    return *kernel_place(one), *treatment_place(one.treatment)


def position(order: Sequence[str], name: str) -> tuple[int, str]:
    """Where a name stands: known ones in their order, then the others by name."""
    return (order.index(name), "") if name in order else (len(order), name)
