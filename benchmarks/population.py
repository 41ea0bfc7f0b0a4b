"""How fast whole populations of adders train: model-steps per second, all seeds together, and the floor.

    python benchmarks/population.py                                                    one core, a minute
    python benchmarks/population.py --device gpu --seeds 1024 4096 --json rows.json    a GPU
    python benchmarks/population.py --device gpu --kernel plain fused --models glass-39 --no-baseline

A model-step is one optimiser step of one seed, with everything that belongs to it: drawing a batch of
sums, forward pass, gradient, clipping, AdamW. The baseline is the same architecture with a free token table
instead of the arc. Its rows have different lengths, so that attention depends on the digits and the engine
finds nothing to work out once; what the arc's structure is worth is the ratio of the two.

The floor is what the device allows: operations and bytes counted in the traced step (benchmarks/floor.py)
against rates measured in the same run (benchmarks/ceilings.py). `floor` is with the batch drawn inside the
step, as the trainer does; `reached` is the measured share of it. `drawing` is what drawing the batches takes
by itself, as a share of the whole.
"""

import argparse
import dataclasses
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # so that a clone on a bare GPU machine runs it

from glassformer.training.setup import set_up_jax

STRETCHES = 3  # timed after the one that compiles; the fastest counts, since machines are noisy
KERNELS = ("auto", "plain", "fused")
# One core, about a minute: every architecture at a batch of 256, then other batches and numbers of seeds.
CPU_CASES = (
    ("glass-39", 1, 64),
    ("glass-39", 1, 256),
    ("glass-39", 4, 256),
    ("microadder-57", 1, 256),
    ("rope-36", 1, 256),
)
HEAD = (
    f"{'model':<15}{'kernel':<7}{'seeds':>7}{'batch':>7}{'model-steps/s':>15}{'drawing':>9}"
    f"{'free table':>12}{'ratio':>7}{'floor':>14}{'set by':>9}{'reached':>9}"
)


@dataclass(frozen=True)
class Row:
    """One measurement; what was not asked for is none."""

    model: str
    parameters: int
    kernel: str
    seeds: int
    batch: int
    steps: int  # of one stretch
    rate: float  # model-steps per second
    free_table: float | None
    floor: float  # model-steps per second that the device allows
    limit: str  # what sets the floor
    floor_drawn_outside: float
    operations: dict[str, int]  # of one model-step, by kind; drawing included
    drawing: dict[str, int]
    state_bytes: int
    token_bytes: int
    device: str
    drawing_share: float | None = None  # of the time of a step: what drawing its batch takes alone


def main() -> None:
    asked = parse()
    if asked.device == "cpu" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core for everything below
    set_up_jax(asked.device)
    import jax

    from benchmarks.ceilings import measure

    ceilings, rows = measure(), []
    about = {"jax": jax.__version__, "ceilings": asdict(ceilings)}
    print(head_lines(about), flush=True)
    for model, seeds, batch in cases(asked):
        for kernel in asked.kernel:
            rows.append(measured(asked, ceilings, model, seeds, batch, kernel))
            print(line_of(rows[-1]), flush=True)
    print(work_lines(rows))
    if asked.json:
        asked.json.write_text(
            json.dumps(about | {"rows": [asdict(row) for row in rows]}, indent=1), encoding="utf-8"
        )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", help="zoo ids of adders")
    parser.add_argument("--seeds", nargs="+", type=int)
    parser.add_argument("--batch", nargs="+", type=int)
    parser.add_argument("--steps", type=int, help="of one stretch; 100 on a CPU, 2,000 on a GPU")
    parser.add_argument("--device", choices=["auto", "cpu", "gpu"], default="cpu")
    parser.add_argument("--kernel", nargs="+", choices=KERNELS, default=["auto"])
    parser.add_argument("--no-baseline", action="store_true", help="leave the free token table out")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    asked = parser.parse_args()
    asked.steps = asked.steps or (100 if asked.device == "cpu" else 2_000)  # recipes: 2,000
    return asked


def cases(asked: argparse.Namespace) -> list[tuple[str, int, int]]:
    """Every combination of what was asked for; if nothing was, the cases of one core."""
    if not (asked.models or asked.seeds or asked.batch) and asked.device == "cpu":
        return list(CPU_CASES)
    models = asked.models or ["glass-39", "microadder-57"]
    seeds = asked.seeds or [1 if asked.device == "cpu" else 1024]
    return [(m, s, b) for m in models for s in seeds for b in asked.batch or [256]]


def measured(
    asked: argparse.Namespace, ceilings: Any, model: str, seeds: int, batch: int, kernel: str
) -> Row:

    from benchmarks.floor import floor_of, work_of
    from glassformer.models.token import LearnedTable
    from glassformer.tasks.sampler import SumSampler
    from glassformer.training.flat import make_flat_layout
    from glassformer.zoo import ZOO

    entry = ZOO[model]
    source, train = SumSampler(entry.task), settings(seeds, batch, kernel, asked.device)
    rate = model_steps_per_second(entry.architecture, source, train, asked.steps)
    draws = draws_per_second(source, train, asked.steps)
    free = None
    if not asked.no_baseline:
        plain = settings(seeds, batch, "plain" if kernel != "auto" else "auto", asked.device)
        free = model_steps_per_second(
            replace(entry.architecture, token=LearnedTable()), source, plain, asked.steps
        )
    work = work_of(entry.architecture, source, train)
    floor = floor_of(work, ceilings)
    return Row(
        model=model,
        parameters=make_flat_layout(entry.architecture).size,
        kernel=kernel,
        seeds=seeds,
        batch=batch,
        steps=asked.steps,
        rate=rate,
        drawing_share=rate / draws,
        free_table=free,
        floor=floor.rate,
        limit=floor.limit,
        floor_drawn_outside=floor.rate_drawn_outside,
        operations=dict(work.operations()),
        drawing=dict(work.drawing),
        state_bytes=work.state_bytes,
        token_bytes=work.token_bytes,
        device=ceilings.device,
    )


def settings(seeds: int, batch: int, kernel: str, device: str) -> Any:
    """The recipe's; the kernel is passed on where the trainer has a choice of kernels."""
    from glassformer.training.settings import TrainSettings

    train = TrainSettings(seeds=seeds, steps=60_000, batch=batch, held_out=256, threads=1, device=device)
    if any(field.name == "kernel" for field in dataclasses.fields(TrainSettings)):
        return replace(train, kernel=kernel)
    if kernel == "fused":
        sys.exit("this version of the trainer has no fused kernel")
    return train


def model_steps_per_second(architecture: Any, source: Any, train: Any, steps: int) -> float:
    import numpy as np

    from glassformer.training.population import Population

    population = Population(architecture, source, train, np.arange(train.seeds))
    state = population.advance(population.start(), 0, steps).state
    return train.seeds * steps / fastest(lambda: population.advance(state, steps, steps))


def draws_per_second(source: Any, train: Any, steps: int) -> float:
    """Batches per second, drawn as the trainer draws them; only their sum is kept."""
    import jax.numpy as jnp
    import numpy as np

    from glassformer.training.kernels import choose_sampler
    from glassformer.training.population import GROUP
    from glassformer.training.rows import compile_for_rows
    from glassformer.training.streams import make_stream_key

    seeds, source = np.arange(train.seeds), choose_sampler(source, train)

    def drawn(seed: Any, first: Any) -> Any:
        numbers = first + jnp.arange(GROUP)
        return jnp.sum(source.draw((), make_stream_key(seed, "steps"), numbers, train.batch), dtype=jnp.int32)

    program = compile_for_rows(drawn, train)
    program(seeds, (np.int32(0),))
    groups = max(1, steps // GROUP)
    seconds = fastest(lambda: [program(seeds, (np.int32(GROUP * i),)) for i in range(groups)])
    return train.seeds * groups * GROUP / seconds


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the best go."""
    times = []
    for _ in range(STRETCHES):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def line_of(row: Row) -> str:
    drawing = f"{'':>9}" if row.drawing_share is None else f"{row.drawing_share:>9.0%}"
    baseline = f"{'':>19}"
    if row.free_table:
        baseline = f"{row.free_table:>12,.0f}{row.rate / row.free_table:>7.1f}"
    return (
        f"{row.model:<15}{row.kernel:<7}{row.seeds:>7,}{row.batch:>7,}{row.rate:>15,.0f}{drawing}{baseline}"
        f"{row.floor:>14,.0f}{row.limit:>9}{row.rate / row.floor:>9.2%}"
    )


def tables_of(measured: dict[str, Any]) -> str:
    """What a file of --json says, as it was printed."""
    rows = [Row(**row) for row in measured["rows"]]
    return "\n".join([head_lines(measured), *(line_of(row) for row in rows), work_lines(rows)])


def head_lines(about: dict[str, Any]) -> str:
    """Device, ceilings, and the columns."""
    rates = [f"{name} {rate / 1e9:,.1f}" for name, rate in about["ceilings"].items() if name != "device"]
    device = f"{about['ceilings']['device']}, JAX {about['jax']}"
    return f"{device}\nmeasured ceilings, billions per second: {', '.join(rates)}\n\n{HEAD}"


def work_lines(rows: list[Row]) -> str:
    """What one model-step asks for, once a model and batch."""
    head = f"\n{'one model-step':<15}{'batch':>7}" + "".join(
        f"{name:>11}" for name in ("plain", "divide", "exp", "erf", "draw: int")
    )
    head += f"{'state, B':>10}{'tokens, B':>11}{'floor, drawn outside':>22}"
    seen = {(row.model, row.batch): row for row in rows}
    return "\n".join([head, *(work_line(row) for row in seen.values())])


def work_line(row: Row) -> str:
    counts = Counter(row.operations)
    numbers = "".join(f"{counts[kind]:>11,}" for kind in ("plain", "divide", "exp", "erf", "integer"))
    bytes_moved = f"{row.state_bytes:>10,}{row.token_bytes:>11,}"
    return f"{row.model:<15}{row.batch:>7,}{numbers}{bytes_moved}{row.floor_drawn_outside:>22,.0f}"


if __name__ == "__main__":
    main()
