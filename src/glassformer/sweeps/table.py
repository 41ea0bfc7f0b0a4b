"""The table of a sweep: a row per configuration, with success rates and their exact 95% intervals over seeds.

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

from glassformer.core.share import MeasuredShare
from glassformer.models.count import count_learned
from glassformer.models.forward import list_parameters
from glassformer.runs.config import Run
from glassformer.runs.resolve import list_setting_leaves
from glassformer.runs.tree import to_tree
from glassformer.sweeps.identity import is_counted_setting
from glassformer.sweeps.plan import Sweep
from glassformer.sweeps.unit import NO_PROOF

Seed = dict[str, Any]  # the row of a seed in a unit's result
_MOST = 6  # settings: configurations that differ in more are told apart by their names
_SEED_COLUMNS = (
    *("configuration", "seed", "reached", "proved", "verdict", "loss", "argmax_accuracy", "whole_accuracy"),
    *("smallest_margin", "margin_bound", "counterexample"),
)


@dataclass(frozen=True)
class ConfigurationRow:
    """One configuration, over the seeds that are done."""

    configuration: str
    settings: str  # those that differ from other configurations of the sweep, where they are few
    parameters: int  # learned: entries that the architecture fixes are none
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


def make_sweep_table(sweep: Sweep, found: Mapping[str, Sequence[Seed]]) -> list[ConfigurationRow]:
    """`found` has the seeds that are done, by configuration."""
    differing = _find_differing_settings(sweep.configurations)
    return [
        _make_configuration_row(run, differing[run.name], found.get(run.name, ()))
        for run in sweep.configurations
    ]


def _make_configuration_row(run: Run, settings: str, seeds: Sequence[Seed]) -> ConfigurationRow:
    reached, proved = ([seed for seed in seeds if seed[name]] for name in ("reached", "proved"))
    held_out = _drop_missing(seed["smallest_margin"] for seed in reached)
    success = "proved" if run.task.proves_seeds else "reached"
    reaching = MeasuredShare.of(len(reached), len(seeds))
    rate = MeasuredShare.of(len(proved), len(seeds)) if success == "proved" else reaching
    return ConfigurationRow(
        configuration=run.name,
        settings=settings,
        parameters=count_learned(list_parameters(run.architecture)),
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
        proved_margin=max(_drop_missing(seed["margin_bound"] for seed in proved), default=None),
    )


def _drop_missing(numbers: Iterable[float | None]) -> list[float]:
    """Infinite margins were stored as null."""
    return [number for number in numbers if number is not None]


def _find_differing_settings(runs: Sequence[Run]) -> dict[str, str]:
    """By configuration: `train.peak_rate=0.01 train.batch=64`; nothing where there is one configuration."""
    every = {run.name: list_setting_leaves(to_tree(run)) for run in runs}
    paths = dict.fromkeys(
        path for settings in every.values() for path in settings if is_counted_setting(path)
    )
    other = [path for path in paths if len({repr(one.get(path)) for one in every.values()}) > 1]
    shown = other if len(other) <= _MOST else []
    return {
        name: " ".join(f"{path}={settings[path]}" for path in shown if path in settings)
        for name, settings in every.items()
    }


def format_sweep_table(rows: Sequence[ConfigurationRow]) -> str:
    return _format_csv_rows([field.name for field in fields(ConfigurationRow)], [asdict(row) for row in rows])


def format_seed_table(sweep: Sweep, found: Mapping[str, Sequence[Seed]]) -> str:
    """One row per seed, in the order of the sweep."""
    rows = [
        seed | {"configuration": run.name, "counterexample": _format_counterexample(seed["counterexample"])}
        for run in sweep.configurations
        for seed in found.get(run.name, ())
    ]
    return _format_csv_rows(_SEED_COLUMNS, rows)


def _format_counterexample(example: Mapping[str, object] | None) -> str:
    """`57+68: 115` or `4 1 +: 7`: what was asked and what the model wrote."""
    if not example:
        return ""
    asked = f"{example['a']}+{example['b']}" if "a" in example else str(example.get("context", ""))
    return f"{asked}: {example['got']}"


def _format_csv_rows(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _format_csv_cell(row[name]) for name in columns} for row in rows)
    return text.getvalue()


def _format_csv_cell(value: object) -> Any:
    """Six digits are enough for any number here."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else value
