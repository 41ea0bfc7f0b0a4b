"""What a piece of work will take, from its settings alone, and whether this machine has it.

    cost_of_run(run)                            memory, disk and time of a training run
    require_affordable(cost, folder, "...")     one sentence where there is less of one of them

Sizes are sums over what is held at the same time. Times are those of a fast machine, so that a sentence says
"at least"; they are for telling a month from a minute.
"""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from glassformer.errors import UserError
from glassformer.model.architecture import Architecture
from glassformer.model.forward import parameters
from glassformer.runs.config import Run
from glassformer.spread import cores

WEEK = 7 * 24 * 3600.0  # seconds: what a command may take unasked
FAST = 2e10  # multiply-adds a second of one core; what was measured is in docs/reliability.md
GPU = 1_000  # cores that a GPU is worth: 1.26 million model-steps a second where a core makes 1,456
BACK = 3  # passes of a step: forward, and twice as much backward
GROUP = 100  # steps whose windows are drawn at once, as in train/population.py
ROW = 700  # bytes of a row of metrics in memory; 110 on disk
ROW_ON_DISK = 110
SPARE = 0.9  # share of the free memory that a command may take
ANYWAY = "--no-limit does it all the same"
UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6))
SPANS = (("years", 365 * 24 * 3600.0), ("days", 24 * 3600.0), ("hours", 3600.0), ("minutes", 60.0))


@dataclass(frozen=True)
class Cost:
    """Bytes and seconds."""

    memory: float = 0.0
    disk: float = 0.0
    seconds: float = 0.0


def cost_of_run(run: Run, gpu: bool = False) -> Cost:
    """Training and measurement of a whole population; the proof has its own limit, and the rest is small."""
    model, train, data = run.architecture, run.train, run.data
    size = sum(one.size for one in parameters(model).values())
    number = 8 if model.precision == "float64" else 4
    evaluations = -(-train.steps // train.evaluate_every) + 1
    lanes = min(train.seeds, 1024 if gpu else train.threads or cores())
    windows = max(train.batch * BACK, train.held_out, train.polish_batch * BACK * train.is_polished)
    memory = lanes * windows * window_bytes(model, number)
    memory += lanes * GROUP * train.batch * (model.context + 1) * 4.0
    memory += data.count * data.max_length * 8.0 + train.held_out * model.context * (run.vocab + 8.0)
    memory += train.seeds * (size * number * 8.0 + evaluations * ROW)
    memory = max(memory, run.measure.generated * (window_bytes(model, number) + data.max_length * 8.0))
    disk = evaluations * train.seeds * (size * number + ROW_ON_DISK)
    passes = train.steps * train.batch * BACK + evaluations * train.held_out
    polish = (train.polish_steps + train.margin_steps) * train.polish_batch * BACK
    work = train.seeds * passes + min(train.seeds, train.polish_seeds) * (1 + train.mine) * polish
    rate = FAST * (GPU if gpu else cores())
    return Cost(memory, float(disk), work * window_work(model) / rate)


def cost_of_test(model: Architecture, passes: int, kept: float = 0.0) -> Cost:
    """So many passes of a finished model, and bytes that are kept of each."""
    return Cost(memory=passes * kept, seconds=passes * window_work(model) / (FAST * cores()))


def window_work(model: Architecture) -> float:
    """Multiply-adds of one window."""
    each = model.context * model.width * model.vocab
    for layer in model.layers:
        if layer.attention:
            sizes = layer.attention.head_size + layer.attention.values
            each += layer.attention.heads * sizes * model.context * (model.width + model.context)
        if layer.feedforward:
            each += 2 * model.context * model.width * layer.feedforward.units(model.width)
    return float(each)


def window_bytes(model: Architecture, number: int) -> float:
    """What is held of one window in a pass: the stream, heads, scores, hidden units and logits."""
    held = model.context * (2 * model.width + 3 * model.vocab)
    for layer in model.layers:
        held += 2 * model.context * model.width
        if layer.attention:
            sizes = layer.attention.head_size + layer.attention.values
            held += layer.attention.heads * model.context * (2 * sizes + 2 * model.context)
        if layer.feedforward:
            held += 2 * model.context * layer.feedforward.units(model.width)
    return float(held * number)


def require_affordable(cost: Cost, folder: Path, what: str, no_limit: bool = False) -> None:
    """One sentence where the machine has less than that; nothing was made yet."""
    if no_limit:
        return
    for much, limit, words, unit in (
        (cost.memory, SPARE * free_memory(), "of memory", say_size),
        (cost.disk, free_disk(folder), "on the disk", say_size),
        (cost.seconds, WEEK, "here", say_time),
    ):
        if much > limit:
            least = "at least " if unit is say_time else "about "
            has = "the limit is" if unit is say_time else "there are"
            raise UserError(f"{what} would take {least}{unit(much)} {words}, {has} {unit(limit)}; {ANYWAY}")


def free_memory() -> float:
    """Bytes that this process may still take: the machine's, or those of its container."""
    found = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))]
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        found.append(1024.0 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]))
    with suppress(OSError, ValueError):
        most, used = (
            Path(f"/sys/fs/cgroup/memory.{name}").read_text(encoding="utf-8") for name in ("max", "current")
        )
        found.append(float(most) - float(used))
    return max(0.0, min(found))


def free_disk(folder: Path) -> float:
    """Bytes where a folder is, or would be made."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    return float(shutil.disk_usage(there).free)


def say_size(size: float) -> str:
    """
    >>> say_size(3.21e9), say_size(4e20)
    ('3.2 GB', '400,000,000 TB')
    """
    name, unit = next(((name, unit) for name, unit in UNITS if size >= unit), ("kB", 1e3))
    return f"{size / unit:,.1f} {name}" if size < 100 * unit else f"{size / unit:,.0f} {name}"


def say_time(seconds: float) -> str:
    """
    >>> say_time(7200.0), say_time(1e12)
    ('2 hours', '31,710 years')
    """
    name, span = next(((name, span) for name, span in SPANS if seconds >= 2 * span), ("seconds", 1.0))
    return f"{seconds / span:,.0f} {name}"
