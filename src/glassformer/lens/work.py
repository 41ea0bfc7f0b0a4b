"""The units of an analysis, worked on here by threads or elsewhere by the workers of an engine, a layer each.

Here, one thread per unit and one BLAS thread in each: NumPy lets go of Python's lock, and two large products
at a time are done sooner than one on two cores. Elsewhere a worker opens the checkpoint itself, by its path,
and sends back what is kept of a layer; only the driver writes.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from glassformer.core.errors import UserError
from glassformer.core.spread import count_cores, limit_blas_threads
from glassformer.lens.adapt.opened import make_target_absolute, open_target
from glassformer.lens.difference import LensModel, subtract_models
from glassformer.lens.records import Found, Record
from glassformer.lens.store import Store
from glassformer.lens.units import Unit
from glassformer.scale.engine import Engine
from glassformer.scale.here import LocalEngine

_BAD_NUMBERS = (UserError, ArithmeticError, np.linalg.LinAlgError, MemoryError, OSError)
_Finished = Generator[tuple[Unit, dict[str, list[Found]]], None, None]


@dataclass(frozen=True)
class RemoteWork:
    """An engine, and the words that open the model where its workers are; two: the second minus the first."""

    engine: Engine
    targets: tuple[str, ...]


@dataclass(frozen=True)
class _LayerUnits:
    """What one worker does at a time."""

    layer: int | None
    units: tuple[Unit, ...]

    @property
    def name(self) -> str:
        return "what belongs to no layer" if self.layer is None else f"layer {self.layer}"


def work_units_here(
    units: Sequence[Unit], model: LensModel, store: Store, threads: int | None = None
) -> _Finished:
    """As they are finished; the first error ends it, and what runs is let finish and kept."""

    def finish(unit: Unit) -> dict[str, list[Found]]:
        return _keep_records(unit, _compute_unit_records(unit, model), store)

    yield from LocalEngine(threads or count_cores()).work(finish, units)


def work_units_elsewhere(
    units: Sequence[Unit], model: LensModel, store: Store, place: RemoteWork
) -> _Finished:
    targets = tuple(map(make_target_absolute, place.targets))
    job = partial(compute_layer_records, targets, model.checkpoint.fingerprint)
    for layer, records in place.engine.work(job, group_by_layer(units)):
        for unit, made in zip(layer.units, records, strict=True):
            yield unit, _keep_records(unit, made, store)


def group_by_layer(units: Sequence[Unit]) -> list[_LayerUnits]:
    """In the order in which the layers are first seen."""
    layers: dict[int | None, list[Unit]] = {}
    for unit in units:
        layers.setdefault(unit.layer, []).append(unit)
    return [_LayerUnits(layer, tuple(there)) for layer, there in layers.items()]


def compute_layer_records(
    targets: tuple[str, ...], fingerprint: str, layer: _LayerUnits
) -> list[list[Record]]:
    """The job of a worker: the records of every unit, if it sees the weights that the driver sees."""
    model = _open_worker_model(targets, fingerprint)
    if model.checkpoint.fingerprint != fingerprint:
        raise UserError(f"{' and '.join(targets)}: a worker finds other weights there than this process does")
    with limit_blas_threads():
        return [_compute_unit_records(unit, model) for unit in layer.units]


@lru_cache(maxsize=1)
def _open_worker_model(targets: tuple[str, ...], fingerprint: str) -> LensModel:
    """Opened once by a worker, and again where the driver has seen other weights."""
    models = [LensModel(*open_target(target)) for target in targets]
    return subtract_models(*models) if len(models) == 2 else models[0]


def _compute_unit_records(unit: Unit, model: LensModel) -> list[Record]:
    """What is kept of a unit; nothing that was read for it stays in memory."""
    checkpoint = model.checkpoint
    try:
        return unit.work(checkpoint, model.layout)
    except _BAD_NUMBERS as error:
        raise UserError(f"{unit.name}: {error}") from None
    finally:
        for name in unit.tensors & set(checkpoint.tensors):
            checkpoint.tensors[name].forget()


def _keep_records(unit: Unit, records: Sequence[Record], store: Store) -> dict[str, list[Found]]:
    """Results are what the folder gives back, now and later."""
    for record in records:
        store.keep(record)
    return {record.id: unit.restore(record) for record in records}
