"""A comparison as tables and as the few numbers that `--json` prints; what is not known is an empty cell."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from glassformer.lens.compare import UNKNOWN, Comparison, HeadPair, TypePair, WeightPair
from glassformer.lens.table_files import Table, TableColumn

MOST = 10  # heads that are named
NAMES = ("comparison", "comparison_heads")

Thing = TypeVar("Thing")


def make_comparison_tables(both: Comparison) -> dict[str, Table]:
    """comparison.csv, a row per weight, and comparison_heads.csv, a row per head and kernel."""
    tables = {"comparison": _make_weight_pairs_table(both.weights)} if both.weights else {}
    return tables | ({"comparison_heads": _make_head_pairs_table(both.heads)} if both.heads else {})


def _make_weight_pairs_table(pairs: Sequence[WeightPair]) -> Table:
    layers = [pair.first.weight.layer for pair in pairs]
    table = [
        TableColumn("layer_idx", "whole", [-1 if layer is None else layer for layer in layers]),
        TableColumn("weight_type", "text", [pair.first.weight.type for pair in pairs]),
        TableColumn("expert", "whole", [pair.first.weight.expert for pair in pairs]),
    ]
    for prefix, side in (("", [pair.first for pair in pairs]), ("other_", [pair.second for pair in pairs])):
        table += [
            TableColumn(f"{prefix}shape", "text", ["x".join(map(str, one.shape)) for one in side]),
            _make_real_column(f"{prefix}eff_rank", side, lambda one: one.eff_rank),
            _make_real_column(f"{prefix}eff_rank_relative", side, lambda one: one.relative_rank),
            _make_real_column(f"{prefix}frobenius", side, lambda one: one.statistics.frobenius),
        ]
    return [
        *table,
        _make_real_column("change_norm", pairs, lambda pair: pair.change_norm),
        _make_real_column("change_eff_rank", pairs, lambda pair: pair.change_rank),
        _make_real_column("change_eff_rank_relative", pairs, lambda pair: pair.change_relative),
        _make_real_column("change_n90", pairs, lambda pair: pair.change_components),
        _make_real_column("similarity", pairs, lambda pair: pair.similarity),
    ]


def _make_head_pairs_table(pairs: Sequence[HeadPair]) -> Table:
    table = [
        TableColumn("layer_idx", "whole", [pair.first.head.layer for pair in pairs]),
        TableColumn("head_idx", "whole", [pair.first.head.index for pair in pairs]),
        TableColumn("kernel", "text", [pair.first.kernel for pair in pairs]),
    ]
    for prefix, side in (("", [pair.first for pair in pairs]), ("other_", [pair.second for pair in pairs])):
        table += [
            _make_real_column(f"{prefix}eff_rank", side, lambda one: one.eff_rank),
            _make_real_column(f"{prefix}asymmetry", side, lambda one: one.asymmetry),
            _make_real_column(f"{prefix}copying", side, lambda one: one.copying),
        ]
    return [*table, _make_real_column("eff_rank_change", pairs, lambda pair: pair.by)]


def _make_real_column(name: str, things: Iterable[Thing], number: Callable[[Thing], float]) -> TableColumn:
    """A number of each, none where it is not known."""
    return TableColumn(name, "real", [_drop_nan(number(thing)) for thing in things])


def _drop_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def summarise_comparison(both: Comparison) -> dict[str, Any]:
    """What `--json` says under `comparison`: means a weight type, and the heads that changed most."""
    return {
        "first": both.first.name,
        "second": both.second.name,
        "subtracted": len(both.subtracted),
        "changed": len(both.changed),
        "weights": {
            one.name: {name: _drop_nan(value) for name, value in summarise_type_pair(one).items()}
            for one in both.types
        },
        "heads_changed_most": [
            {"layer": pair.first.head.layer, "head": pair.first.head.index}
            | {"kernel": pair.first.kernel, "by": pair.by}
            for pair in both.most_changed_heads[:MOST]
        ],
    }


def summarise_type_pair(one: TypePair) -> dict[str, float]:
    """Means of the ranks over all matrices of each model; the rest about what changed; nan: not known.

    The change's ranks are means in which a weight counts by the energy of its change: where all weights were
    rounded and some were tuned too, it is the tuning that is told about.
    """
    changed = one.changed or one.subtracted
    return {
        "mean": average_known([matrix.eff_rank for matrix in one.first]),
        "other_mean": average_known([matrix.eff_rank for matrix in one.second]),
        "subtracted": len(one.subtracted),
        "changed": len(one.changed),
        "change_norm": _measure_joint_change(changed),
        "change_eff_rank": _average_by_energy(changed, lambda pair: pair.change_rank),
        "change_relative": _average_by_energy(changed, lambda pair: pair.change_relative),
        "change_n90": _average_by_energy(changed, lambda pair: pair.change_components),
        "similarity": average_known([pair.similarity for pair in changed or one.pairs]),
    }


def _measure_joint_change(pairs: Sequence[WeightPair]) -> float:
    """|second - first| / |first| of all these weights as if they were one."""
    changed = math.hypot(*(pair.change.statistics.frobenius for pair in pairs if pair.change))
    whole = math.hypot(*(pair.first.statistics.frobenius for pair in pairs))
    return changed / whole if whole > 0 else UNKNOWN if changed > 0 or not pairs else 0.0


def _average_by_energy(pairs: Sequence[WeightPair], number: Callable[[WeightPair], float]) -> float:
    """The mean of a number, weighted by |second - first|^2; plain where nothing changed."""
    sizes = np.array([pair.change.statistics.frobenius if pair.change else 0.0 for pair in pairs])
    if not sizes.any():
        return average_known([number(pair) for pair in pairs])
    return float(np.average([number(pair) for pair in pairs], weights=(sizes / sizes.max()) ** 2))


def average_known(numbers: Sequence[float]) -> float:
    """Of those that are known."""
    found = [number for number in numbers if not math.isnan(number)]
    return float(np.mean(found)) if found else UNKNOWN
