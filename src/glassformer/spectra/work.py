"""The units of an analysis, worked on here by threads or elsewhere by the workers of an engine, a layer each.

Here, one thread a unit and one BLAS thread in each: NumPy lets go of Python's lock, and two large products at
a time are done sooner than one on two cores. Elsewhere a worker opens the checkpoint itself, by its path, and
sends back what is kept of a layer; only the driver writes.
"""

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from glassformer.errors import UserError
from glassformer.scale.engine import Engine
from glassformer.scale.here import Here
from glassformer.spectra.adapt.opened import from_anywhere, opened
from glassformer.spectra.difference import Model, difference
from glassformer.spectra.records import Found, Record
from glassformer.spectra.store import Store
from glassformer.spectra.units import Unit
from glassformer.spread import cores

BAD_NUMBERS = (UserError, ArithmeticError, np.linalg.LinAlgError, MemoryError, OSError)
Finished = Generator[tuple[Unit, dict[str, list[Found]]], None, None]


@dataclass(frozen=True)
class Elsewhere:
    """An engine, and the words that open the model where its workers are; two: the second less the first."""

    engine: Engine
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Layer:
    """What one worker does at a time."""

    layer: int | None
    units: tuple[Unit, ...]

    @property
    def name(self) -> str:
        return "what belongs to no layer" if self.layer is None else f"layer {self.layer}"


def work_here(units: Sequence[Unit], model: Model, store: Store, threads: int | None = None) -> Finished:
    """As they are finished; the first error ends it, and what runs is let finish and kept."""

    def finish(unit: Unit) -> dict[str, list[Found]]:
        return kept(unit, records_of(unit, model), store)

    yield from Here(threads or cores()).work(finish, units)


def work_elsewhere(units: Sequence[Unit], model: Model, store: Store, place: Elsewhere) -> Finished:
    targets = tuple(map(from_anywhere, place.targets))
    job = partial(layer_records, targets, model.checkpoint.fingerprint)
    for layer, records in place.engine.work(job, by_layer(units)):
        for unit, made in zip(layer.units, records, strict=True):
            yield unit, kept(unit, made, store)


def by_layer(units: Sequence[Unit]) -> list[Layer]:
    """In the order in which the layers are first seen."""
    layers: dict[int | None, list[Unit]] = {}
    for unit in units:
        layers.setdefault(unit.layer, []).append(unit)
    return [Layer(layer, tuple(there)) for layer, there in layers.items()]


def layer_records(targets: tuple[str, ...], fingerprint: str, layer: Layer) -> list[list[Record]]:
    """The job of a worker: the records of every unit, if it sees the weights that the driver sees."""
    model = model_of(targets, fingerprint)
    if model.checkpoint.fingerprint != fingerprint:
        raise UserError(f"{' and '.join(targets)}: a worker finds other weights there than this process does")
    with one_blas_thread():
        return [records_of(unit, model) for unit in layer.units]


@lru_cache(maxsize=1)
def model_of(targets: tuple[str, ...], fingerprint: str) -> Model:
    """Opened once by a worker, and again where the driver has seen other weights."""
    models = [Model(*opened(target)) for target in targets]
    return difference(*models) if len(models) == 2 else models[0]


def records_of(unit: Unit, model: Model) -> list[Record]:
    """What is kept of a unit; nothing that was read for it stays in memory."""
    checkpoint = model.checkpoint
    try:
        return unit.work(checkpoint, model.layout)
    except BAD_NUMBERS as error:
        raise UserError(f"{unit.name}: {error}") from None
    finally:
        for name in unit.tensors & set(checkpoint.tensors):
            checkpoint.tensors[name].forget()


def kept(unit: Unit, records: Sequence[Record], store: Store) -> dict[str, list[Found]]:
    """Results are what the folder gives back, now and later."""
    for record in records:
        store.keep(record)
    return {record.id: unit.restore(record) for record in records}


def one_blas_thread() -> AbstractContextManager[Any]:
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits
