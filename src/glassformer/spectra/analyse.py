"""All units of an analysis, on all cores, into its folder: the tables grow while it works.

One thread a unit and one BLAS thread in each: NumPy lets go of Python's lock, and two large products at a
time are done sooner than one on two cores.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.errors import UserError
from glassformer.spectra.depth import depths
from glassformer.spectra.layout import Layout
from glassformer.spectra.plan import Wanted, plan
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.records import Found, PairScores
from glassformer.spectra.relations import relations
from glassformer.spectra.results import Analysis, KernelResult, MatrixResult, Relations
from glassformer.spectra.store import Store
from glassformer.spectra.tables import TYPES, kernel_order, matrix_order, write_growing_tables
from glassformer.spectra.units import Unit, missing_part
from glassformer.spread import cores

Tell = Callable[[float, str], object]  # is told which share of the work is done, and what was done last
PAUSE = 1.0  # seconds between two writings of the tables
PART_OF_TIME = 20  # a writing that took a second is not repeated for twenty
BAD_NUMBERS = (UserError, ArithmeticError, np.linalg.LinAlgError, MemoryError, OSError)


def silent(share: float, name: str) -> None:
    """Tells nobody."""


def analyse(
    checkpoint: Checkpoint,
    layout: Layout,
    wanted: Wanted,
    store: Store,
    tell: Tell = silent,
    workers: int | None = None,
) -> Analysis:
    """Work on what the folder does not hold yet; returns all of it."""
    units = plan(checkpoint, layout, wanted)
    found = store.load(units)
    left = [part for unit in units if (part := missing_part(unit, found))]
    tables = Tables(store.folder)
    done, total = 0.0, sum(unit.cost for unit in left)

    def taken(unit: Unit, more: dict[str, list[Found]]) -> None:
        nonlocal done
        found.update(more)
        done += unit.cost
        tables.grow(units, found)
        tell(done / total, unit.name)

    with one_blas_thread():
        try:
            work_through(left, lambda unit: finish(unit, checkpoint, layout, store), taken, workers)
        except UserError as error:
            with suppress(UserError):  # the disk may be full
                write_growing_tables(store.folder, *sorted_results(units, store.load(units)))
            raise UserError(f"{error}; what is finished is kept in {store.folder}") from None
        return whole(checkpoint.name, layout, wanted, units, found)


def work_through(
    units: Sequence[Unit],
    work: Callable[[Unit], dict[str, list[Found]]],
    taken: Callable[[Unit, dict[str, list[Found]]], None],
    workers: int | None = None,
) -> None:
    """`work` of every unit on a pool of threads; the first error ends it, and what runs is let finish."""
    pool = ThreadPoolExecutor(workers or cores())
    waiting = {pool.submit(work, unit): unit for unit in units}
    try:
        for future in as_completed(waiting):
            taken(waiting[future], future.result())
    finally:
        pool.shutdown(cancel_futures=True)


def finish(unit: Unit, checkpoint: Checkpoint, layout: Layout, store: Store) -> dict[str, list[Found]]:
    """Compute one unit and keep it; results are what the folder gives back, now and later."""
    try:
        records = unit.work(checkpoint, layout)
    except BAD_NUMBERS as error:
        raise UserError(f"{unit.name}: {error}") from None
    finally:
        for name in unit.tensors & set(checkpoint.tensors):
            checkpoint.tensors[name].forget()
    for record in records:
        store.keep(record)
    return {record.id: unit.restore(record) for record in records}


def one_blas_thread() -> AbstractContextManager[Any]:
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits


@dataclass
class Tables:
    """Written after the first result, and then now and then."""

    folder: Path
    next: float = field(default=0.0)  # seconds of the clock

    def grow(self, units: Sequence[Unit], found: dict[str, list[Found]]) -> None:
        began = time.perf_counter()
        if began < self.next:
            return
        write_growing_tables(self.folder, *sorted_results(units, found))
        ended = time.perf_counter()
        self.next = ended + max(PAUSE, PART_OF_TIME * (ended - began))


def sorted_results(
    units: Sequence[Unit], found: dict[str, list[Found]]
) -> tuple[list[MatrixResult], list[KernelResult]]:
    """In the order of the tables, whatever the order of work was."""
    every = results(units, found)
    matrices = [one for one in every if isinstance(one, MatrixResult)]
    kernels = [one for one in every if isinstance(one, KernelResult)]
    return sorted(matrices, key=matrix_order), sorted(kernels, key=kernel_order)


def results(units: Iterable[Unit], found: dict[str, list[Found]]) -> list[Found]:
    return [one for unit in units for id in unit.ids for one in found.get(id, ())]


def whole(
    name: str, layout: Layout, wanted: Wanted, units: Sequence[Unit], found: dict[str, list[Found]]
) -> Analysis:
    matrices, kernels = sorted_results(units, found)
    pairs = [one for one in results(units, found) if isinstance(one, PairScores)]
    between = between_layers(layout, wanted, matrices, pairs)
    return Analysis(name, layout, tuple(matrices), tuple(kernels), depths(matrices), between)


def between_layers(
    layout: Layout, wanted: Wanted, matrices: Sequence[MatrixResult], pairs: Sequence[PairScores]
) -> Relations | None:
    if wanted.relations == "none" or not layout.width:
        return None
    composition = {(one.writer, one.reader): one.scores for one in pairs}
    return relations(comparable(matrices), layout.width, composition)


def comparable(matrices: Sequence[MatrixResult]) -> list[MatrixResult]:
    """Those with as many leading directions as the others of their type, and types with enough of them.

    As many directions are compared as the shortest has: a layer of zeros, or a router of 4 experts, would
    leave the great matrices with none, or with 4.
    """
    sizes: dict[str, int] = {}
    for one in matrices:
        if one.vectors is not None:
            sizes[one.weight.type] = max(sizes.get(one.weight.type, 1), len(one.vectors))
    known = [sizes[type] for type in TYPES if type in sizes] or [*sizes.values()]
    kept = {type: size for type, size in sizes.items() if size >= min(known)}
    return [
        one for one in matrices if one.vectors is not None and len(one.vectors) == kept.get(one.weight.type)
    ]
