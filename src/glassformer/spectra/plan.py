"""Which units an analysis has, and in which order they are worked on."""

from dataclasses import dataclass
from typing import Any, Literal

from glassformer.spectra.composition import layer_pairs
from glassformer.spectra.layout import Head, Layout
from glassformer.spectra.matrix import view_matrix
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.treatments import Treatment
from glassformer.spectra.units import HeadsUnit, MatrixUnit, PairUnit, Unit, digest

DIRECTIONS = 50_000_000  # numbers, 200 MB: above it, those of thousands of experts stay on the disk
Pairs = Literal["near", "all", "none"]  # of layers whose heads are compared


@dataclass(frozen=True)
class Wanted:
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


def plan(checkpoint: Checkpoint, layout: Layout, wanted: Wanted) -> list[Unit]:
    """All units, in the order of work: heads of layer 0 first, so that there is soon something to see.

    What belongs to no layer (the embeddings, the largest of all) comes after the first layer: at the end it
    would keep one core busy while the others wait.
    """
    units: list[Unit] = []
    rest = matrix_units(checkpoint, layout, wanted, None) if wanted.has_rest else []
    for layer in wanted.layers:
        units += heads_units(layout, wanted, layer)
        units += matrix_units(checkpoint, layout, wanted, layer)
        if layer == wanted.layers[0]:
            units += rest
    return (units or rest) + pair_units(layout, wanted)


def heads_units(layout: Layout, wanted: Wanted, layer: int) -> list[Unit]:
    heads = heads_of(layout, layer)
    return [HeadsUnit(layer, heads, wanted.treatments, digest(heads))] if heads else []


def matrix_units(checkpoint: Checkpoint, layout: Layout, wanted: Wanted, layer: int | None) -> list[Unit]:
    """The matrices of a layer, the costly ones first."""
    if not wanted.has_matrices:
        return []
    is_folded = any(treatment.is_folded for treatment in wanted.treatments)
    keeps = len(layout.weights) * wanted.top * layout.width <= DIRECTIONS
    units = []
    for weight in layout.weights:
        if weight.layer != layer:
            continue
        shape = view_matrix(checkpoint, weight.view).shape
        units.append(MatrixUnit(weight, shape, False, wanted.top, wanted.device, keeps))
        if is_folded and (weight.view.gain or weight.view.gain_after):
            units.append(MatrixUnit(weight, shape, True, wanted.top, wanted.device, keeps))
    return [*sorted(units, key=lambda unit: -unit.cost)]


def pair_units(layout: Layout, wanted: Wanted) -> list[Unit]:
    if wanted.relations == "none":
        return []
    heads = {layer: there for layer in wanted.layers if (there := heads_of(layout, layer))}
    marks = {layer: digest(there) for layer, there in heads.items()}
    return [
        PairUnit(writer, reader, heads[writer] + heads[reader], marks[writer] + marks[reader])
        for writer, reader in layer_pairs(heads, wanted.relations)
    ]


def heads_of(layout: Layout, layer: int) -> tuple[Head, ...]:
    return tuple(head for head in layout.attention if head.layer == layer)
