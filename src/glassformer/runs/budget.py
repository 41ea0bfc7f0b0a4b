"""What a piece of work will take, from its settings alone, and whether this machine has it.

    estimate_run_cost(run)                      memory, disk and time of a training run
    require_affordable(cost, folder, "...")     one sentence where there is less of one of them

Sizes are sums over what is held at the same time. Times are those of a fast machine, so that a sentence says
"at least"; they are for telling a month from a minute.
"""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from glassformer.core.errors import UserError
from glassformer.core.spread import count_cores
from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.runs.config import Run

_WEEK = 7 * 24 * 3600.0  # seconds: what a command may take unasked
_FAST = 2e10  # multiply-adds per second of one core; what was measured is in docs/reliability.md
_GPU = 3_000  # cores that a GPU is worth: 4.13 million model-steps per second where a core makes 1,456
_BACK = 3  # passes of a step: forward, and twice as much backward
_GPU_LANES, _FEW_LANES = 1024, 64  # seeds side by side, as in training/rows.py
_GROUP = 100  # steps whose windows are drawn at once, as in training/population.py
_ROW = 700  # bytes of a row of metrics in memory; 110 on disk
_ROW_ON_DISK = 110
_SPARE = 0.9  # share of the free memory that a command may take
_ANYWAY = "--no-limit runs it anyway"
_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6))
_SPANS = (("years", 365 * 24 * 3600.0), ("days", 24 * 3600.0), ("hours", 3600.0), ("minutes", 60.0))


@dataclass(frozen=True)
class ResourceCost:
    """Bytes and seconds."""

    memory: float = 0.0
    disk: float = 0.0
    seconds: float = 0.0


def estimate_run_cost(run: Run, gpu: bool = False) -> ResourceCost:
    """Training and measurement of a whole population; the proof has its own limit, and the rest is small."""
    model, train, data = run.architecture, run.train, run.data
    size = sum(one.size for one in list_parameters(model).values())
    number = 8 if model.precision == "float64" else 4
    evaluations = -(-train.steps // train.evaluate_every) + 1
    lanes = min(train.seeds, _GPU_LANES if gpu else train.threads or count_cores())
    windows = max(lanes * train.batch * _BACK, min(lanes, _FEW_LANES) * train.held_out)
    polished = min(lanes, train.polish_seeds, _FEW_LANES) * train.polish_batch * _BACK * train.is_polished
    _, asking = run.task.random_inputs(model.context, 1)
    memory = max(windows, polished) * _estimate_window_bytes(model, number, asking)
    memory += lanes * _GROUP * train.batch * (model.context + 1) * 4.0
    memory += data.count * data.max_length * 8.0 + train.held_out * model.context * (run.vocab + 8.0)
    memory += train.seeds * (size * number * 8.0 + evaluations * _ROW)
    memory = max(
        memory,
        run.measure.generated * (_estimate_window_bytes(model, number, asking) + data.max_length * 8.0),
    )
    disk = evaluations * train.seeds * (size * number + _ROW_ON_DISK)
    passes = train.steps * train.batch * _BACK + evaluations * train.held_out
    polish = (train.polish_steps + train.margin_steps) * train.polish_batch * _BACK
    work = train.seeds * passes + min(train.seeds, train.polish_seeds) * (1 + train.mine) * polish
    rate = _FAST * (_GPU if gpu else count_cores())
    return ResourceCost(memory, float(disk), work * _estimate_window_work(model) / rate)


def estimate_test_cost(model: Architecture, passes: int, kept: float = 0.0) -> ResourceCost:
    """So many passes of a finished model, and bytes that are kept of each."""
    return ResourceCost(
        memory=passes * kept, seconds=passes * _estimate_window_work(model) / (_FAST * count_cores())
    )


def _estimate_window_work(model: Architecture) -> float:
    """Multiply-adds of one window."""
    each = model.context * model.width * model.vocab
    for layer in model.layers:
        if layer.attention:
            sizes = layer.attention.head_size + layer.attention.values
            each += layer.attention.heads * sizes * model.context * (model.width + model.context)
        if layer.feedforward:
            each += 2 * model.context * model.width * layer.feedforward.units(model.width)
    return float(each)


def _estimate_window_bytes(model: Architecture, number: int, asking: int) -> float:
    """What is held of one window in a pass: the stream, heads, scores, hidden units and logits.

    In the last layer only the last positions ask, and only they have hidden units and logits.
    """
    held = 2 * model.context * model.width + 3 * asking * model.vocab
    for index, layer in enumerate(model.layers):
        here = asking if index == len(model.layers) - 1 else model.context
        held += 2 * here * model.width
        if layer.attention:
            sizes = layer.attention.head_size + layer.attention.values
            held += layer.attention.heads * 2 * (model.context * sizes + here * model.context)
        if layer.feedforward:
            held += 2 * here * layer.feedforward.units(model.width)
    return float(held * number)


def require_affordable(cost: ResourceCost, folder: Path, what: str, no_limit: bool = False) -> None:
    """One sentence where the machine has less than that; nothing was made yet."""
    if no_limit:
        return
    for much, limit, words, unit in (
        (cost.memory, _SPARE * measure_free_memory(), "of memory", _format_byte_size),
        (cost.disk, measure_free_disk(folder), "on the disk", _format_byte_size),
        (cost.seconds, _WEEK, "here", _format_duration),
    ):
        if much > limit:
            least = "at least " if unit is _format_duration else "about "
            has = "the limit is" if unit is _format_duration else "there are"
            raise UserError(f"{what} would take {least}{unit(much)} {words}, {has} {unit(limit)}; {_ANYWAY}")


def measure_free_memory() -> float:
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


def measure_free_disk(folder: Path) -> float:
    """Bytes where a folder is, or would be made."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    return float(shutil.disk_usage(there).free)


def _format_byte_size(size: float) -> str:
    """
    >>> _format_byte_size(3.21e9), _format_byte_size(4e20)
    ('3.2 GB', '400,000,000 TB')
    """
    name, unit = next(((name, unit) for name, unit in _UNITS if size >= unit), ("kB", 1e3))
    return f"{size / unit:,.1f} {name}" if size < 100 * unit else f"{size / unit:,.0f} {name}"


def _format_duration(seconds: float) -> str:
    """
    >>> _format_duration(7200.0), _format_duration(1e12)
    ('2 hours', '31,710 years')
    """
    name, span = next(((name, span) for name, span in _SPANS if seconds >= 2 * span), ("seconds", 1.0))
    return f"{seconds / span:,.0f} {name}"
