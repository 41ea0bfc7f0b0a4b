"""The table of a sweep: a row a configuration, with success rates and their exact 95% intervals over seeds.

Of 256 seeds 20 are right on all held-out sums and 7 of them are proved: reached 20, proved 7, rate 0.0273,
which lies between 0.0111 and 0.0555 with 95% confidence. Times stand elsewhere, so that the same sweep always
gives the same bytes.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median
from typing import Any

from glassformer.model.forward import parameters
from glassformer.runs.config import Run
from glassformer.runs.resolve import leaves
from glassformer.runs.tree import to_tree
from glassformer.sweep.identity import counts
from glassformer.sweep.plan import Sweep
from glassformer.sweep.unit import NO_PROOF
from glassformer.verify.share import Share

Seed = dict[str, Any]  # the row of a seed in a unit's result
MOST = 6  # settings: configurations that differ in more are told apart by their names
SEED_COLUMNS = (
    *("configuration", "seed", "reached", "proved", "verdict", "loss", "argmax_accuracy", "whole_accuracy"),
    *("smallest_margin", "margin_bound", "counterexample"),
)


@dataclass(frozen=True)
class TableRow:
    """One configuration, over the seeds that are done."""

    configuration: str
    settings: str  # those that differ from other configurations of the sweep, where they are few
    parameters: int
    seeds: int
    reached: int  # right on all held-out windows
    reached_rate: float | None  # of the seeds
    reached_low: float
    reached_high: float
    tried: int  # that a proof was tried for: all that reached; of rules the best of each unit
    proved: int  # right on every input
    success: str  # what the rate is of: proved; of rules reached, since few are tried
    rate: float | None
    low: float
    high: float
    median_margin: float | None  # of the seeds that reached: the smallest on held-out windows
    best_margin: float | None  # the same, the best of them
    proved_margin: float | None  # the best lower bound that is proved for every input


def table_of(sweep: Sweep, found: Mapping[str, Sequence[Seed]]) -> list[TableRow]:
    """`found` has the seeds that are done, by configuration."""
    differing = differing_settings(sweep.configurations)
    return [table_row(run, differing[run.name], found.get(run.name, ())) for run in sweep.configurations]


def table_row(run: Run, settings: str, seeds: Sequence[Seed]) -> TableRow:
    reached, proved = ([seed for seed in seeds if seed[name]] for name in ("reached", "proved"))
    held_out = present(seed["smallest_margin"] for seed in reached)
    success = "proved" if run.task.proves_seeds else "reached"
    reaching = Share.of(len(reached), len(seeds))
    rate = Share.of(len(proved), len(seeds)) if success == "proved" else reaching
    return TableRow(
        configuration=run.name,
        settings=settings,
        parameters=sum(one.free for one in parameters(run.architecture).values()),
        seeds=len(seeds),
        reached=len(reached),
        reached_rate=reaching.value if seeds else None,
        reached_low=reaching.low,
        reached_high=reaching.high,
        tried=sum(seed["verdict"] not in NO_PROOF for seed in seeds),
        proved=len(proved),
        success=success,
        rate=rate.value if seeds else None,
        low=rate.low,
        high=rate.high,
        median_margin=median(held_out) if held_out else None,
        best_margin=max(held_out, default=None),
        proved_margin=max(present(seed["margin_bound"] for seed in proved), default=None),
    )


def present(numbers: Iterable[float | None]) -> list[float]:
    """Infinite margins were stored as null."""
    return [number for number in numbers if number is not None]


def differing_settings(runs: Sequence[Run]) -> dict[str, str]:
    """By configuration: `train.peak_rate=0.01 train.batch=64`; nothing where there is one configuration."""
    every = {run.name: leaves(to_tree(run)) for run in runs}
    paths = dict.fromkeys(path for settings in every.values() for path in settings if counts(path))
    other = [path for path in paths if len({repr(one.get(path)) for one in every.values()}) > 1]
    shown = other if len(other) <= MOST else []
    return {
        name: " ".join(f"{path}={settings[path]}" for path in shown if path in settings)
        for name, settings in every.items()
    }


def table_text(rows: Sequence[TableRow]) -> str:
    return csv_text([field.name for field in fields(TableRow)], [asdict(row) for row in rows])


def seeds_text(sweep: Sweep, found: Mapping[str, Sequence[Seed]]) -> str:
    """One row a seed, in the order of the sweep."""
    rows = [
        seed | {"configuration": run.name, "counterexample": example_words(seed["counterexample"])}
        for run in sweep.configurations
        for seed in found.get(run.name, ())
    ]
    return csv_text(SEED_COLUMNS, rows)


def example_words(example: Mapping[str, Any] | None) -> str:
    """`57+68: 115` or `4 1 +: 7`: what was asked and what the model wrote."""
    if not example:
        return ""
    asked = f"{example['a']}+{example['b']}" if "a" in example else str(example.get("context", ""))
    return f"{asked}: {example['got']}"


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: cell(row[name]) for name in columns} for row in rows)
    return text.getvalue()


def cell(value: Any) -> Any:
    """Six digits are enough for any number here."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else value
