"""An analysis in a few numbers: what `--json` prints, and the same in words.

>>> _describe_rank_summary("QK", {"mean": 51.62, "min": 15.5, "max": 60.06, "std": 7.0,
...     "argmin": {"layer": 0, "head": 8}, "argmax": {"layer": 9, "head": 2}}, 64)
'QK effective rank: mean 51.6 of 64, from 15.5 (layer 0 head 8) to 60.1 (layer 9 head 2)'
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from glassformer.core.words import format_count
from glassformer.lens.results import (
    Analysis,
    DepthCourse,
    Kernel,
    KernelResult,
    LayerChange,
    MatrixResult,
    Trend,
)
from glassformer.lens.tables import TYPES, order_name
from glassformer.lens.words import describe_course

_PHASES = ("early", "middle", "late")


def summarise_analysis(analysis: Analysis) -> dict[str, Any]:
    """The fields of the contract that are about the model."""
    layout = analysis.layout
    return {
        "model": analysis.name,
        "architecture": layout.architecture,
        "layers": layout.layers,
        "heads": layout.heads,
        "kv_heads": layout.kv_heads,
        "head_dim": layout.head_dim,
        "qk_effective_rank": _summarise_kernel_ranks(analysis.kernels, "QK"),
        "ov_effective_rank": _summarise_kernel_ranks(analysis.kernels, "OV"),
        "weights": _summarise_weights(analysis),
        "notes": list(layout.notes),
    }


def _summarise_kernel_ranks(kernels: Sequence[KernelResult], kernel: Kernel) -> dict[str, Any] | None:
    """Over all heads, raw; none where no heads were read."""
    chosen = [one for one in kernels if one.kernel == kernel and one.treatment == "raw"]
    if not chosen:
        return None
    ranks = np.array([one.eff_rank for one in chosen])
    lowest, highest = chosen[int(ranks.argmin())].head, chosen[int(ranks.argmax())].head
    return {
        "min": float(ranks.min()),
        "max": float(ranks.max()),
        "mean": float(ranks.mean()),
        "std": float(ranks.std()),
        "argmin": {"layer": lowest.layer, "head": lowest.index},
        "argmax": {"layer": highest.layer, "head": highest.index},
        "relative_to_random": float(np.mean([one.relative_rank for one in chosen])),
    }


def _summarise_weights(analysis: Analysis) -> dict[str, dict[str, Any]]:
    """Weight type to its course over depth; what belongs to no layer has no course."""
    raw = [one for one in analysis.matrices if one.treatment == "raw"]
    rest = {
        one.weight.type: _summarise_single_matrix(one)
        for one in raw
        if one.weight.layer is None and one.weight.type not in analysis.depth
    }
    return summarise_courses(analysis.depth) | rest


def summarise_courses(depth: Mapping[str, DepthCourse]) -> dict[str, dict[str, Any]]:
    """In the order of the tables."""
    names = sorted(depth, key=lambda name: order_name(TYPES, name.partition(" ")[0]))
    return {name: summarise_course(depth[name]) for name in names}


def summarise_course(course: DepthCourse) -> dict[str, Any]:
    thirds = dict(zip(_PHASES, course.thirds, strict=False))
    segments = {"change_points": list(course.change_points), "segments": list(course.segments)}
    return {
        "mean": course.mean,
        "std": course.std,
        "min": asdict(course.smallest),
        "max": asdict(course.largest),
        "relative_to_random": course.relative_to_random,
        "phases": thirds | segments,
        "trend": asdict(course.trend),
        "jump": _to_change_tree(course.jump),
        "drop": _to_change_tree(course.drop),
    }


def _summarise_single_matrix(one: MatrixResult) -> dict[str, Any]:
    """Embeddings and unembeddings: one matrix, the same fields."""
    empty = dict.fromkeys(("min", "max", "phases", "trend", "jump", "drop"))
    rank = one.eff_rank
    return {"mean": rank, "std": 0.0, "relative_to_random": one.relative_rank} | empty


def _to_change_tree(change: LayerChange | None) -> dict[str, Any] | None:
    return asdict(change) if change else None


def describe_summary(content: Mapping[str, Any]) -> list[str]:
    """The same for people, a line each."""
    lines = []
    if content["heads"]:
        is_shared = content["kv_heads"] != content["heads"]
        shared = f", {content['kv_heads']} for keys and values" if is_shared else ""
        heads, dims = format_count(content["heads"], "head"), format_count(content["head_dim"], "dimension")
        lines.append(f"{heads} of {dims}{shared}")
    for kernel, field in (("QK", "qk_effective_rank"), ("OV", "ov_effective_rank")):
        if content[field]:
            lines.append(_describe_rank_summary(kernel, content[field], content["head_dim"]))
    lines += _describe_weight_summaries(content["weights"])
    return lines + [f"note: {note}" for note in content["notes"]]


def _describe_rank_summary(kernel: str, ranks: Mapping[str, Any], size: int) -> str:
    ends = [
        f"{ranks[end]:.1f} (layer {place['layer']} head {place['head']})"
        for end, place in (("min", ranks["argmin"]), ("max", ranks["argmax"]))
    ]
    if f"{ranks['min']:.1f}" == f"{ranks['max']:.1f}":
        return f"{kernel} effective rank: {ranks['mean']:.1f} of {size}"
    return f"{kernel} effective rank: mean {ranks['mean']:.1f} of {size}, from {ends[0]} to {ends[1]}"


def _describe_weight_summaries(weights: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line per weight type, in columns."""
    rows = [
        (
            name,
            f"{one['mean']:,.1f}",
            f"{one['relative_to_random']:.3f} of random",
            describe_stored_trend(one["trend"]),
        )
        for name, one in weights.items()
    ]
    if not rows:
        return []
    wide = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = [
        f"{name:<{wide[0]}}  {mean:>{wide[1]}}  {share:>{wide[2]}}  {trend}".rstrip()
        for name, mean, share, trend in rows
    ]
    return ["effective rank of the weights, mean over the layers:", *(f"  {line}" for line in lines)]


def describe_stored_trend(trend: Mapping[str, Any] | None) -> str:
    found = Trend(**trend) if trend else None
    return "" if found is None or found.tested == "too few layers" else describe_course(found)
