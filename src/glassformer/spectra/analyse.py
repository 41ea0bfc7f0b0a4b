"""All units of an analysis, into its folder: the tables grow while it works."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.errors import UserError
from glassformer.spectra.depth import depths
from glassformer.spectra.difference import Model
from glassformer.spectra.layout import Layout
from glassformer.spectra.plan import Wanted, plan
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.records import Found, PairScores
from glassformer.spectra.relations import relations
from glassformer.spectra.results import Analysis, KernelResult, MatrixResult, Relations
from glassformer.spectra.store import Store
from glassformer.spectra.tables import TYPES, kernel_order, matrix_order, write_growing_tables
from glassformer.spectra.units import Unit, missing_part
from glassformer.spectra.work import Elsewhere, one_blas_thread, work_elsewhere, work_here

Tell = Callable[[float, str], object]  # is told which share of the work is done, and what was done last
PAUSE = 1.0  # seconds between two writings of the tables
PART_OF_TIME = 20  # a writing that took a second is not repeated for twenty


def silent(share: float, name: str) -> None:
    """Tells nobody."""


def analyse(
    checkpoint: Checkpoint,
    layout: Layout,
    wanted: Wanted,
    store: Store,
    tell: Tell = silent,
    workers: int | None = None,
    elsewhere: Elsewhere | None = None,
) -> Analysis:
    """Work on what the folder does not hold yet, here or elsewhere; returns all of it."""
    units, model = plan(checkpoint, layout, wanted), Model(checkpoint, layout)
    found = store.load(units)
    left = [part for unit in units if (part := missing_part(unit, found))]
    tables = Tables(store.folder)
    done, total = 0.0, sum(unit.cost for unit in left)
    with one_blas_thread():
        finished = (
            work_elsewhere(left, model, store, elsewhere)
            if elsewhere
            else work_here(left, model, store, workers)
        )
        try:
            with closing(finished):
                for unit, more in finished:
                    found.update(more)
                    done += unit.cost
                    tables.grow(units, found)
                    tell(done / total, unit.name)
        except UserError as error:
            with suppress(UserError):  # the disk may be full
                write_growing_tables(store.folder, *sorted_results(units, store.load(units)))
            raise UserError(f"{error}; what is finished is kept in {store.folder}") from None
        return whole(checkpoint.name, layout, wanted, units, found)


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
