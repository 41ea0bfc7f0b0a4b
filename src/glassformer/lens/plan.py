"""Which units an analysis has, and in which order they are worked on."""

from dataclasses import dataclass
from typing import Any, Literal

from glassformer.lens.composition import list_layer_pairs
from glassformer.lens.layout import HeadLayout, ModelLayout
from glassformer.lens.matrix import view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.treatments import Treatment
from glassformer.lens.units import HeadsUnit, MatrixUnit, PairUnit, Unit, digest_location

_DIRECTIONS = 50_000_000  # numbers, 200 MB: above it, those of thousands of experts stay on the disk
Pairs = Literal["near", "all", "none"]  # of layers whose heads are compared


@dataclass(frozen=True)
class AnalysisRequest:
    """What an analysis is to contain."""

    layers: tuple[int, ...]
    treatments: tuple[Treatment, ...]
    has_matrices: bool = True
    has_rest: bool = True  # matrices of no layer: embeddings
    relations: Pairs = "near"
    top: int = 16  # leading directions of a matrix that are compared
    device: str = "cpu"

    @property
    def numbers(self) -> dict[str, Any]:
        """The settings that change the numbers of a record."""
        return {"top": self.top, "device": self.device}


def plan_units(checkpoint: Checkpoint, layout: ModelLayout, wanted: AnalysisRequest) -> list[Unit]:
    """All units, in the order of work: heads of layer 0 first, so that there is soon something to see.

    What belongs to no layer (the embeddings, the largest of all) comes after the first layer: at the end it
    would keep one core busy while the others wait.
    """
    units: list[Unit] = []
    rest = _list_matrix_units(checkpoint, layout, wanted, None) if wanted.has_rest else []
    for layer in wanted.layers:
        units += _list_heads_units(layout, wanted, layer)
        units += _list_matrix_units(checkpoint, layout, wanted, layer)
        if layer == wanted.layers[0]:
            units += rest
    return (units or rest) + _list_pair_units(layout, wanted)


def _list_heads_units(layout: ModelLayout, wanted: AnalysisRequest, layer: int) -> list[Unit]:
    heads = _list_layer_heads(layout, layer)
    return [HeadsUnit(layer, heads, wanted.treatments, digest_location(heads))] if heads else []


def _list_matrix_units(
    checkpoint: Checkpoint, layout: ModelLayout, wanted: AnalysisRequest, layer: int | None
) -> list[Unit]:
    """The matrices of a layer, the costly ones first."""
    if not wanted.has_matrices:
        return []
    is_folded = any(treatment.is_folded for treatment in wanted.treatments)
    keeps = len(layout.weights) * wanted.top * layout.width <= _DIRECTIONS
    units = []
    for weight in layout.weights:
        if weight.layer != layer:
            continue
        shape = view_matrix(checkpoint, weight.view).shape
        units.append(MatrixUnit(weight, shape, False, wanted.top, wanted.device, keeps))
        if is_folded and (weight.view.gain or weight.view.gain_after):
            units.append(MatrixUnit(weight, shape, True, wanted.top, wanted.device, keeps))
    return [*sorted(units, key=lambda unit: -unit.cost)]


def _list_pair_units(layout: ModelLayout, wanted: AnalysisRequest) -> list[Unit]:
    if wanted.relations == "none":
        return []
    heads = {layer: there for layer in wanted.layers if (there := _list_layer_heads(layout, layer))}
    marks = {layer: digest_location(there) for layer, there in heads.items()}
    return [
        PairUnit(writer, reader, heads[writer] + heads[reader], marks[writer] + marks[reader])
        for writer, reader in list_layer_pairs(heads, wanted.relations)
    ]


def _list_layer_heads(layout: ModelLayout, layer: int) -> tuple[HeadLayout, ...]:
    return tuple(head for head in layout.attention if head.layer == layer)
