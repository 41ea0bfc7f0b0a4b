"""All units of an analysis, into its folder: the tables grow while it works."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.core.errors import UserError
from glassformer.core.spread import limit_blas_threads
from glassformer.lens.depth import measure_depth_courses
from glassformer.lens.difference import LensModel
from glassformer.lens.layout import ModelLayout
from glassformer.lens.plan import AnalysisRequest, plan_units
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.records import Found, PairScores
from glassformer.lens.relations import measure_relations
from glassformer.lens.results import Analysis, KernelResult, MatrixResult, Relations
from glassformer.lens.store import Store
from glassformer.lens.tables import TYPES, order_kernel, order_matrix, write_growing_tables
from glassformer.lens.units import Unit, find_missing_part
from glassformer.lens.work import RemoteWork, work_units_elsewhere, work_units_here

_Tell = Callable[[float, str], object]  # is told which share of the work is done, and what was done last
_PAUSE = 1.0  # seconds between two writings of the tables
_PART_OF_TIME = 20  # a writing that took a second is not repeated for twenty


def _ignore_progress(share: float, name: str) -> None:
    """Tells nobody."""


def analyse_checkpoint(
    checkpoint: Checkpoint,
    layout: ModelLayout,
    wanted: AnalysisRequest,
    store: Store,
    tell: _Tell = _ignore_progress,
    workers: int | None = None,
    elsewhere: RemoteWork | None = None,
) -> Analysis:
    """Work on what the folder does not hold yet, here or elsewhere; returns all of it."""
    units, model = plan_units(checkpoint, layout, wanted), LensModel(checkpoint, layout)
    found = store.load(units)
    left = [part for unit in units if (part := find_missing_part(unit, found))]
    tables = _GrowingTables(store.folder)
    done, total = 0.0, sum(unit.cost for unit in left)
    with limit_blas_threads():
        finished = (
            work_units_elsewhere(left, model, store, elsewhere)
            if elsewhere
            else work_units_here(left, model, store, workers)
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
                write_growing_tables(store.folder, *_sort_results(units, store.load(units)))
            raise UserError(f"{error}; what is finished is kept in {store.folder}") from None
        return _make_analysis(checkpoint.name, layout, wanted, units, found)


@dataclass
class _GrowingTables:
    """Written after the first result, and then now and then."""

    folder: Path
    next: float = field(default=0.0)  # seconds of the clock

    def grow(self, units: Sequence[Unit], found: dict[str, list[Found]]) -> None:
        began = time.perf_counter()
        if began < self.next:
            return
        write_growing_tables(self.folder, *_sort_results(units, found))
        ended = time.perf_counter()
        self.next = ended + max(_PAUSE, _PART_OF_TIME * (ended - began))


def _sort_results(
    units: Sequence[Unit], found: dict[str, list[Found]]
) -> tuple[list[MatrixResult], list[KernelResult]]:
    """In the order of the tables, whatever the order of work was."""
    every = _list_unit_results(units, found)
    matrices = [one for one in every if isinstance(one, MatrixResult)]
    kernels = [one for one in every if isinstance(one, KernelResult)]
    return sorted(matrices, key=order_matrix), sorted(kernels, key=order_kernel)


def _list_unit_results(units: Iterable[Unit], found: dict[str, list[Found]]) -> list[Found]:
    return [one for unit in units for id in unit.ids for one in found.get(id, ())]


def _make_analysis(
    name: str,
    layout: ModelLayout,
    wanted: AnalysisRequest,
    units: Sequence[Unit],
    found: dict[str, list[Found]],
) -> Analysis:
    matrices, kernels = _sort_results(units, found)
    pairs = [one for one in _list_unit_results(units, found) if isinstance(one, PairScores)]
    between = _find_layer_relations(layout, wanted, matrices, pairs)
    return Analysis(name, layout, tuple(matrices), tuple(kernels), measure_depth_courses(matrices), between)


def _find_layer_relations(
    layout: ModelLayout,
    wanted: AnalysisRequest,
    matrices: Sequence[MatrixResult],
    pairs: Sequence[PairScores],
) -> Relations | None:
    if wanted.relations == "none" or not layout.width:
        return None
    composition = {(one.writer, one.reader): one.scores for one in pairs}
    return measure_relations(_choose_comparable_matrices(matrices), layout.width, composition)


def _choose_comparable_matrices(matrices: Sequence[MatrixResult]) -> list[MatrixResult]:
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
