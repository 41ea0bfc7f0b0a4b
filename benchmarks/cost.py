"""What a million seeds cost: a model of cost whose every rate is measured in this run.

    python benchmarks/cost.py                                           one core
    python benchmarks/cost.py --device gpu --json cost.json             a GPU
    python benchmarks/cost.py --model glass-23 --seeds 1e7 --reached 0.004 --price 3.5

A sweep is units of (configuration, block of seeds), and a unit takes

    overhead + block x steps / rate + polished x polish + block x share reached x proof       seconds.

The rate is that of the recipe, evaluations included; the polish is L-BFGS of the best seeds of a block; the
proof is one core's. Units know nothing of each other, so N devices work through them N at a time: the time
is that of the device with the most units. What the sweep does between units, writing a file, is left out.
"""

import argparse
import csv
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # so that a clone on a bare GPU machine runs it

from glassformer.training.setup import set_up_jax

SWEEP = Path(__file__).parents[1] / "docs" / "sweeps" / "adders.csv"
DEVICES = (1, 8, 64)
PROOFS, NUDGE = 3, 1e-5  # proofs that are timed; by how much the parameters of these models differ
ASSUMED = 0.02  # share reached, of a model that no sweep has measured


@dataclass(frozen=True)
class Rates:
    """What was measured on one device."""

    device: str
    model: str
    steps: int
    block: int  # seeds per work unit
    polished: int  # of them
    rate: float  # model-steps per second, evaluations included
    polish: float  # seconds of a polished seed
    proof: float  # seconds of a reached seed, on one core
    overhead: float  # seconds of a unit, programs compiled already
    reached: float  # share of the seeds
    reached_source: str


def main() -> None:
    asked = parse()
    if asked.device == "cpu" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core for everything below
    set_up_jax(asked.device)
    share, source = (asked.reached, "as given") if asked.reached else share_reached(asked.model)
    rates = measure(asked.model, asked.device, asked.block, share, source)
    print("\n".join(cost_lines([rates], int(asked.seeds), asked.price)))
    if asked.json:
        asked.json.write_text(json.dumps({"cost": asdict(rates)}, indent=1), encoding="utf-8")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="glass-39", help="a trained adder of the zoo")
    parser.add_argument("--seeds", type=float, default=1e6)
    parser.add_argument("--block", type=int, default=1024, help="seeds per work unit")
    parser.add_argument(
        "--reached", type=float, help="share of the seeds; else that of docs/sweeps/adders.csv"
    )
    parser.add_argument("--price", type=float, help="of one device, an hour")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--json", type=Path, help="write the measured rates to this file")
    return parser.parse_args()


def share_reached(model: str, table: Path = SWEEP) -> tuple[float, str]:
    """Of the sweep that is in docs; where it does not know the model, an assumption that says so."""
    if table.exists():
        with table.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["configuration"] == model and int(row["seeds"]):
                    hits, seeds = int(row["reached"]), int(row["seeds"])
                    return hits / seeds, f"{hits:,} of {seeds:,} in {table.name}"
    return ASSUMED, "assumed"


def measure(model: str, device: str, block: int, reached: float, source: str) -> Rates:
    """Train a stretch, polish and prove; on a CPU one seed stands for all."""
    import jax

    seeds = 1 if device == "cpu" else block
    train, overhead, rate, polish = train_and_polish(model, device, seeds)
    return Rates(
        device="one core" if device == "cpu" else jax.devices()[0].device_kind,
        model=model,
        steps=train.steps,
        block=block,
        polished=min(train.polish_seeds, block) if train.polish_steps else 0,
        rate=rate,
        polish=polish,
        proof=proof_seconds(model),
        overhead=overhead,
        reached=reached,
        reached_source=source,
    )


def train_and_polish(model: str, device: str, seeds: int) -> tuple[Any, float, float, float]:
    """The recipe, seconds of overhead per unit, model-steps per second, seconds of a polished seed."""
    from dataclasses import replace

    import numpy as np

    from glassformer.runs.adders import ADDERS
    from glassformer.tasks.sampler import SumSampler
    from glassformer.training.population import Population

    run = ADDERS[model]
    train = replace(run.train, seeds=seeds, first_seed=0, threads=1, device=device)
    steps = train.evaluate_every

    def unit() -> tuple[Any, Any, float]:
        began = time.perf_counter()
        population = Population(run.architecture, SumSampler(run.task), train, np.arange(seeds))
        state = population.advance(population.start(), 0, steps).state
        return population, state, time.perf_counter() - began

    unit()  # compiles, and leaves the programs in the cache
    population, state, whole = unit()
    stretch = seconds_of(lambda: population.advance(state, steps, steps))
    lanes = np.arange(min(seeds, train.polish_seeds))
    population.polished(state, lanes)
    polish = seconds_of(lambda: population.polished(state, lanes)) / len(lanes)
    return train, max(whole - stretch, 0.0), seeds * steps / stretch, polish


def proof_seconds(model: str) -> float:
    """A proof of the zoo's model, its parameters nudged, by what a sweep calls; one at a time."""
    import numpy as np

    from glassformer.models.model import Model
    from glassformer.proofs.population import prove_seed
    from glassformer.runs.load import load_model

    given, random = load_model(model), np.random.default_rng(0)
    times = []
    for seed in range(PROOFS):
        params = {
            name: (part * (1 + NUDGE * random.normal(size=part.shape))).astype(part.dtype)
            for name, part in given.params.items()
        }
        made = Model(given.architecture, params)
        times.append(seconds_of(lambda made=made, seed=seed: prove_seed(made, seed, given.addition, 20.0)))
    return sorted(times)[len(times) // 2]


def seconds_of(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def unit_seconds(rates: Rates) -> dict[str, float]:
    """By what takes them."""
    return {
        "overhead": rates.overhead,
        "training": rates.block * rates.steps / rates.rate,
        "polish": rates.polished * rates.polish,
        "proof": rates.block * rates.reached * rates.proof,
    }


def hours(rates: Rates, seeds: int, devices: int) -> float:
    """Until the last unit is done."""
    units = math.ceil(seeds / rates.block)
    return math.ceil(units / devices) * sum(unit_seconds(rates).values()) / 3600


def cost_lines(measured: Sequence[Rates], seeds: int = 1_000_000, price: float | None = None) -> list[str]:
    """A table for every device that was measured."""
    lines: list[str] = []
    for rates in measured:
        parts = unit_seconds(rates)
        lines += [
            f"{rates.device}: {rates.model}, {seeds:,} seeds of {rates.steps:,} steps, "
            f"units of {rates.block:,} seeds, the best {rates.polished} polished, "
            f"{rates.reached:.2%} reached ({rates.reached_source})",
            f"measured: {rates.rate:,.0f} model-steps/s, polish {rates.polish:.2f} s per seed, "
            f"proof {rates.proof:.2f} s per seed, overhead {rates.overhead:.1f} s per unit",
            "a unit, s: " + ", ".join(f"{name} {seconds:,.1f}" for name, seconds in parts.items()),
            f"{'devices':>8}{'days':>10}{'device-hours':>15}{'at 1 $/hour':>14}"
            + (f"{f'at {price:g} $/hour':>17}" if price else ""),
        ]
        for devices in DEVICES:
            spent = hours(rates, seeds, devices)
            line = f"{devices:>8}{spent / 24:>10,.2f}{spent * devices:>15,.1f}{spent * devices:>14,.0f}"
            lines.append(line + (f"{spent * devices * price:>17,.0f}" if price else ""))
        lines.append("")
    return lines[:-1]


if __name__ == "__main__":
    main()
