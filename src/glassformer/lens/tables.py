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

from glassformer.lens.relation_tables import make_relation_tables
from glassformer.lens.results import PERCENTILES, SHARES, Analysis, KernelResult, MatrixResult
from glassformer.lens.table_files import Table, TableColumn, write_csv
from glassformer.lens.words import order_treatment

_NO_LAYER = -1
TYPES = ("W_Q", "W_K", "W_V", "W_O", "W_gate", "W_up", "W_down", "W_E", "W_U")  # others after them, by name
_KERNELS = ("QK", "OV")
_RANKS = ("eff_rank", "eff_rank_energy", "stable_rank", "participation_ratio")
_LOW, _HIGH = 25, 75  # percentiles between which a head is neither of low nor of high rank

_Result = MatrixResult | KernelResult
_Order = tuple[int | str, ...]


def write_growing_tables(
    folder: Path, matrices: Sequence[MatrixResult], kernels: Sequence[KernelResult]
) -> None:
    """Those that are there while the analysis still works."""
    for name, table in _make_main_tables(matrices, kernels).items():
        write_csv(folder / f"{name}.csv", table)


def write_analysis_tables(folder: Path, analysis: Analysis, with_values: bool = False) -> list[Path]:
    """All tables of a finished analysis."""
    tables = _make_main_tables(analysis.matrices, analysis.kernels) | make_relation_tables(analysis.relations)
    if with_values:
        tables["singular_values"] = _make_values_table([*analysis.matrices, *analysis.kernels])
    return [write_csv(folder / f"{name}.csv", table) for name, table in tables.items()]


def _make_main_tables(matrices: Sequence[MatrixResult], kernels: Sequence[KernelResult]) -> dict[str, Table]:
    tables = {}
    if matrices:
        tables["weights"] = make_weights_table(matrices)
    if kernels:
        tables |= {"heads": make_heads_table(kernels), "layers": make_layers_table(kernels)}
    return tables


def make_weights_table(matrices: Sequence[MatrixResult]) -> Table:
    return [
        TableColumn("layer_idx", "whole", [_find_layer_idx(one) for one in matrices]),
        TableColumn("weight_type", "text", [one.weight.type for one in matrices]),
        TableColumn("shape", "text", [f"{one.shape[0]}x{one.shape[1]}" for one in matrices]),
        TableColumn("eff_rank", "real", [one.eff_rank for one in matrices]),
        TableColumn("expert", "whole", [one.weight.expert for one in matrices]),
        TableColumn("treatment", "text", [one.treatment for one in matrices]),
        TableColumn("eff_rank_raw", "real", _find_raw_ranks(matrices, _locate_matrix)),
        *_make_rank_columns(matrices),
        *_make_statistics_columns(matrices),
        TableColumn("dtype", "text", [one.dtype for one in matrices]),
        TableColumn("precision", "text", [one.precision for one in matrices]),
        TableColumn("tensor", "text", [one.weight.view.tensor for one in matrices]),
    ]


def make_heads_table(kernels: Sequence[KernelResult]) -> Table:
    return [
        TableColumn("layer_idx", "whole", [one.head.layer for one in kernels]),
        TableColumn("head_idx", "whole", [one.head.index for one in kernels]),
        TableColumn("kv_head_idx", "whole", [one.head.kv_index for one in kernels]),
        TableColumn("kernel", "text", [one.kernel for one in kernels]),
        TableColumn("treatment", "text", [one.treatment for one in kernels]),
        TableColumn("eff_rank", "real", [one.eff_rank for one in kernels]),
        TableColumn("eff_rank_raw", "real", _find_raw_ranks(kernels, _locate_kernel)),
        TableColumn("quartile", "text", label_quartiles(kernels)),
        *_make_rank_columns(kernels),
        TableColumn("size", "whole", [one.size for one in kernels]),
        TableColumn("asymmetry", "real", [one.asymmetry for one in kernels]),
        TableColumn("complex_share", "real", [one.complex_share for one in kernels]),
        TableColumn("copying", "real", [one.copying for one in kernels]),
        *_make_statistics_columns(kernels),
        *_make_bias_columns(kernels),
    ]


def make_layers_table(kernels: Sequence[KernelResult]) -> Table:
    """Over the heads of each layer."""
    groups = defaultdict(list)
    for one in kernels:
        groups[one.head.layer, one.kernel, one.treatment].append(one)
    places, members = list(groups), list(groups.values())
    names = ("layer_idx", "kernel", "treatment")
    table = [
        TableColumn(name, "whole" if name == "layer_idx" else "text", [place[index] for place in places])
        for index, name in enumerate(names)
    ]
    table.append(TableColumn("heads", "whole", [len(group) for group in members]))
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
            TableColumn(f"{measure}_{over}", "real", [float(of(some)) for some in numbers])
            for over, of in overs.items()
        ]
    return table


def _make_values_table(results: Sequence[_Result]) -> Table:
    """Every singular value, one per row."""
    lengths = [len(one.values) for one in results]
    whole: dict[str, list[Any]] = {
        "layer_idx": [_find_layer_idx(one) for one in results],
        "weight_type": [one.weight.type if isinstance(one, MatrixResult) else None for one in results],
        "expert": [one.weight.expert if isinstance(one, MatrixResult) else None for one in results],
        "head_idx": [one.head.index if isinstance(one, KernelResult) else None for one in results],
        "kernel": [one.kernel if isinstance(one, KernelResult) else None for one in results],
        "treatment": [one.treatment for one in results],
    }
    table = [
        TableColumn(
            name, "whole" if name.endswith(("idx", "expert")) else "text", _repeat_cells(cells, lengths)
        )
        for name, cells in whole.items()
    ]
    places = [np.arange(length) for length in lengths]
    table.append(TableColumn("component", "whole", np.concatenate(places or [np.arange(0)])))
    values = [one.values for one in results] or [np.zeros(0)]
    return [*table, TableColumn("singular_value", "real", np.concatenate(values))]


def _repeat_cells(cells: Iterable[object], lengths: Sequence[int]) -> list[Any]:
    return [cell for cell, length in zip(cells, lengths, strict=True) for _ in range(length)]


def _make_rank_columns(results: Sequence[_Result]) -> Table:
    """Each rank, and its share of what a random matrix of the shape has."""
    table = []
    for name in _RANKS:
        own = [getattr(one.statistics.ranks, name) for one in results]
        random = [getattr(one.random, name) for one in results]
        if name != "eff_rank":
            table.append(TableColumn(name, "real", own))
        table.append(TableColumn(f"{name}_relative", "real", [*map(_divide_by_random, own, random)]))
    return table


def _make_statistics_columns(results: Sequence[_Result]) -> Table:
    found = [one.statistics for one in results]
    sizes = ("frobenius", "largest", "smallest", "condition")
    return [
        *(TableColumn(name, "real", [getattr(one, name) for one in found]) for name in sizes),
        *(
            TableColumn(f"n{at}", "whole", [one.components[i] for one in found])
            for i, at in enumerate(SHARES)
        ),
        *(
            TableColumn(f"sigma_p{at}", "real", [one.percentiles[i] for one in found])
            for i, at in enumerate(PERCENTILES)
        ),
        TableColumn("alpha", "real", [one.alpha for one in found]),
        TableColumn("alpha_tail", "whole", [one.alpha_tail for one in found]),
        TableColumn("alpha_distance", "real", [one.alpha_distance for one in found]),
    ]


def _make_bias_columns(kernels: Sequence[KernelResult]) -> Table:
    """Sizes of the score's terms, where the model has biases."""
    names = ("content", "key_only", "query_position", "position")
    return [
        TableColumn(f"score_{name}", "real", [getattr(one.biases, name, None) for one in kernels])
        for name in names
    ]


def _find_raw_ranks(results: Sequence[Any], place: Callable[[Any], _Order]) -> list[float | None]:
    """The raw effective rank of the same matrix or kernel."""
    raw = {place(one): one.eff_rank for one in results if one.treatment == "raw"}
    return [raw.get(place(one)) for one in results]


def label_quartiles(kernels: Sequence[KernelResult]) -> list[str]:
    """Low, middle or high: among the heads of the same kernel and treatment."""
    groups = defaultdict(list)
    for one in kernels:
        groups[one.kernel, one.treatment].append(one.eff_rank)
    bounds = {key: np.percentile(ranks, (_LOW, _HIGH)) for key, ranks in groups.items()}
    return [_label_quartile(one, bounds[one.kernel, one.treatment]) for one in kernels]


def _label_quartile(one: KernelResult, bounds: Float[np.ndarray, "2"]) -> str:
    rank = one.eff_rank
    return "low" if rank <= bounds[0] else "high" if rank >= bounds[1] else "middle"


def _divide_by_random(own: float, random: float) -> float:
    return own / random if random else float("nan")


def _find_layer_idx(one: _Result) -> int:
    if isinstance(one, KernelResult):
        return one.head.layer
    return _NO_LAYER if one.weight.layer is None else one.weight.layer


def _locate_matrix(one: MatrixResult) -> _Order:
    expert = -1 if one.weight.expert is None else one.weight.expert
    return _find_layer_idx(one), *order_name(TYPES, one.weight.type), expert, repr(one.weight.view)


def order_matrix(one: MatrixResult) -> _Order:
    return *_locate_matrix(one), *order_treatment(one.treatment)


def _locate_kernel(one: KernelResult) -> _Order:
    return one.head.layer, one.head.index, *order_name(_KERNELS, one.kernel)


def order_kernel(one: KernelResult) -> _Order:
    return *_locate_kernel(one), *order_treatment(one.treatment)


def order_name(order: Sequence[str], name: str) -> tuple[int, str]:
    """Where a name stands: known ones in their order, then the others by name."""
    return (order.index(name), "") if name in order else (len(order), name)
