"""Matrices and kernels of an analysis as a figure wants them: by type and layer, by layer and head.

A type with several shapes is several groups, since matrices of different shapes are never averaged:

>>> _format_group_name("W_Q", (4, 8), shapes=2), _format_group_name("W_Q", (4, 8), shapes=1)
('W_Q 4x8', 'W_Q')
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from glassformer.core.errors import UserError
from glassformer.lens.results import Analysis, Kernel, KernelResult, MatrixResult
from glassformer.lens.words import order_treatment

_ORDER = ("W_Q", "W_K", "W_V", "W_O", "W_gate", "W_up", "W_down", "W_E", "W_U")
MOST_TYPES = 12  # panels on a sheet

_Groups = dict[str, tuple[MatrixResult, ...]]


def group_by_type(analysis: Analysis, needs_layer: bool = True) -> _Groups:
    """Raw matrices by type and shape, in the usual order, largest types first where they are too many."""
    raw = [one for one in analysis.matrices if one.treatment == "raw"]
    raw = [one for one in raw if one.weight.layer is not None or not needs_layer]
    shapes: dict[str, set[tuple[int, int]]] = {}
    for one in raw:
        shapes.setdefault(one.weight.type, set()).add(one.shape)
    found: dict[str, list[MatrixResult]] = {}
    for one in raw:
        name = _format_group_name(one.weight.type, one.shape, len(shapes[one.weight.type]))
        found.setdefault(name, []).append(one)
    return {name: tuple(found[name]) for name in sorted(found, key=order_type)}


def _format_group_name(type: str, shape: tuple[int, int], shapes: int) -> str:
    return f"{type} {shape[0]}x{shape[1]}" if shapes > 1 else type


def order_type(name: str) -> tuple[int, str]:
    """Known types in their order, then the others by name."""
    type = name.split(" ")[0]
    return (_ORDER.index(type) if type in _ORDER else len(_ORDER), name)


def keep_largest_groups(groups: _Groups) -> _Groups:
    """At most as many groups as a sheet has room for: those with the most numbers."""
    if not groups:
        raise UserError("there is no weight matrix in a layer")
    numbers = {name: sum(one.shape[0] * one.shape[1] for one in group) for name, group in groups.items()}
    kept = sorted(groups, key=lambda name: -numbers[name])[:MOST_TYPES]
    return {name: group for name, group in groups.items() if name in kept}


def average_over_layers(
    group: Iterable[MatrixResult], number: Callable[[MatrixResult], float | np.ndarray]
) -> tuple[tuple[int, ...], Float[np.ndarray, "layer *numbers"]]:
    """A number, or numbers, of each layer: the mean over its experts."""
    found: dict[int, list[np.ndarray]] = {}
    for one in group:
        layer = one.weight.layer if one.weight.layer is not None else 0
        found.setdefault(layer, []).append(np.asarray(number(one), np.float64))
    layers = tuple(sorted(found))
    return layers, np.array([np.mean(found[layer], axis=0) for layer in layers])


def list_all_layers(types: Mapping[str, Mapping[str, Any]]) -> tuple[int, ...]:
    """The layers of all types that are drawn; a type that belongs to no layer says so in `is_layered`."""
    layered = [one["layers"] for one in types.values() if one.get("is_layered", True)]
    return tuple(sorted({layer for layers in layered for layer in layers}))


def count_experts(group: Iterable[MatrixResult]) -> int:
    """How many matrices of the group a layer has."""
    counts: dict[int | None, int] = {}
    for one in group:
        counts[one.weight.layer] = counts.get(one.weight.layer, 0) + 1
    return max(counts.values(), default=0)


def select_kernels(analysis: Analysis, kernel: Kernel, treatment: str = "raw") -> list[KernelResult]:
    return [one for one in analysis.kernels if one.kernel == kernel and one.treatment == treatment]


def require_read_heads(analysis: Analysis) -> None:
    if not analysis.kernels:
        raise UserError("the heads of this model were not read")


def list_treatments(analysis: Analysis, kernel: Kernel) -> tuple[str, ...]:
    """Raw, folded, then turned ones by their offset."""
    found = {one.treatment for one in analysis.kernels if one.kernel == kernel}
    return tuple(sorted(found, key=order_treatment))


def make_head_grid(
    kernels: Iterable[KernelResult], number: Callable[[KernelResult], float], layers: tuple[int, ...]
) -> Float[np.ndarray, "layer head"]:
    """One number per head; nan where a layer has no such head."""
    kernels = list(kernels)
    heads = 1 + max(one.head.index for one in kernels)
    grid = np.full((len(layers), heads), np.nan)
    for one in kernels:
        grid[layers.index(one.head.layer), one.head.index] = number(one)
    return grid


def list_head_layers(analysis: Analysis) -> tuple[int, ...]:
    return tuple(sorted({one.head.layer for one in analysis.kernels}))


def compute_cumulative_energy(values: Float[np.ndarray, "component"]) -> Float[np.ndarray, "component"]:
    """Share of sum(sigma^2) in the first components; none of it where the matrix is 0."""
    energy = np.cumsum(values.astype(np.float64) ** 2)
    return np.asarray(energy / energy[-1]) if energy[-1] > 0 else energy
