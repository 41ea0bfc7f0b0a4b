"""A weight type over the layers: its mean, phases, trend, and largest jump and drop.

>>> course = measure_depth_course([0, 1, 2, 3, 4, 5], [8.0, 8, 6, 6, 1, 2], 10.0)
>>> course.thirds, course.trend.label, course.drop
((8.0, 6.0, 1.5), 'falling', LayerChange(layer=4, by=-5.0))
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from glassformer.lens.change_points import find_change_points
from glassformer.lens.results import DepthCourse, LayerChange, LayerValue, MatrixResult
from glassformer.lens.trends import average_thirds, measure_trend

_Numbers = Sequence[float] | Float[np.ndarray, "layer"]
Entry = tuple[str, tuple[int, int], int, float, float]  # type, shape, layer, effective rank, random one


def measure_depth_course(layers: Sequence[int], series: _Numbers, random: _Numbers | float) -> DepthCourse:
    """All about one series; `random` is that of a random matrix, one for all layers or one per layer."""
    values = np.asarray(series, dtype=np.float64)
    starts = find_change_points(values)
    return DepthCourse(
        layers=tuple(layers),
        series=values,
        mean=float(values.mean()),
        std=float(values.std()),
        smallest=LayerValue(layers[int(values.argmin())], float(values.min())),
        largest=LayerValue(layers[int(values.argmax())], float(values.max())),
        relative_to_random=float(np.mean(values / np.asarray(random, dtype=np.float64))),
        thirds=average_thirds(values),
        change_points=tuple(layers[start] for start in starts),
        segments=tuple(float(piece.mean()) for piece in np.split(values, starts)),
        trend=measure_trend(values),
        jump=_find_steepest_change(layers, values, 1),
        drop=_find_steepest_change(layers, values, -1),
    )


def _find_steepest_change(
    layers: Sequence[int], series: Float[np.ndarray, "layer"], sign: int
) -> LayerChange | None:
    """The largest step up (sign 1) or down (-1) between neighbours; none where no step goes that way."""
    steps = np.diff(series)
    if not len(steps) or (sign * steps).max() <= 0:
        return None
    place = int((sign * steps).argmax())
    return LayerChange(layers[place + 1], float(steps[place]))


def measure_depth_courses(matrices: Sequence[MatrixResult]) -> dict[str, DepthCourse]:
    """Weight type, with its shape where a type has several, to its course: raw, experts averaged."""
    return make_depth_courses(
        (m.weight.type, m.shape, m.weight.layer, m.eff_rank, m.random.eff_rank)
        for m in matrices
        if m.treatment == "raw" and m.weight.layer is not None
    )


def make_depth_courses(entries: Iterable[Entry]) -> dict[str, DepthCourse]:
    """One course per type and shape: matrices of different shapes are never one mean."""
    found: dict[tuple[str, tuple[int, int]], dict[int, list[tuple[float, float]]]] = {}
    for kind, shape, layer, rank, random in entries:
        found.setdefault((kind, shape), {}).setdefault(layer, []).append((rank, random))
    shapes = defaultdict(list)
    for kind, shape in found:
        shapes[kind].append(shape)
    return {
        kind if len(shapes[kind]) == 1 else f"{kind} {shape[0]}x{shape[1]}": _average_experts(by_layer)
        for (kind, shape), by_layer in found.items()
    }


def _average_experts(by_layer: Mapping[int, Sequence[tuple[float, float]]]) -> DepthCourse:
    """The mean over the experts of each layer, in the layers' order."""
    layers = sorted(by_layer)
    means = np.array([np.mean(by_layer[layer], axis=0) for layer in layers])
    return measure_depth_course(layers, means[:, 0], means[:, 1])
