"""How fast whole populations of adders train: model-steps a second, all seeds together.

    python benchmarks/population.py                                          one core, one seed
    python benchmarks/population.py --device gpu --seeds 1024 2048 4096      a GPU

A model-step is one optimiser step of one seed, with everything that belongs to it: drawing a batch of 256
sums, forward pass, gradient, clipping, AdamW. The baseline is the same architecture with a free token table
in place of the arc. Its rows have different lengths, so that attention depends on the digits and the engine
finds nothing to work out once; what the arc's structure is worth is the ratio of the two.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # so that a clone on a bare GPU machine runs it

from glassformer.train.setup import set_up_jax

STRETCHES = 3  # timed after the one that compiles; the fastest counts, since machines are noisy


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", default=["glass-39", "microadder-57"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--batch", nargs="+", type=int, default=[256])
    parser.add_argument("--steps", type=int, default=500, help="of one stretch")
    parser.add_argument("--device", choices=["auto", "cpu", "gpu"], default="cpu")
    parser.add_argument("--no-baseline", action="store_true")
    asked = parser.parse_args()
    set_up_jax(asked.device)
    import jax

    print(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}, stretches of {asked.steps} steps")
    print(f"{'model':<16}{'seeds':>7}{'batch':>7}{'model-steps/s':>16}{'free table':>14}{'ratio':>8}")
    for model in asked.models:
        for seeds in asked.seeds:
            for batch in asked.batch:
                print_row(model, seeds, batch, asked.steps, not asked.no_baseline)


def print_row(model: str, seeds: int, batch: int, steps: int, with_baseline: bool) -> None:
    rate = model_steps_per_second(model, seeds, batch, steps)
    line = f"{model:<16}{seeds:>7,}{batch:>7}{rate:>16,.0f}"
    if with_baseline:
        plain = model_steps_per_second(model, seeds, batch, steps, free_table=True)
        line += f"{plain:>14,.0f}{rate / plain:>8.1f}"
    print(line, flush=True)


def model_steps_per_second(model: str, seeds: int, batch: int, steps: int, free_table: bool = False) -> float:
    import numpy as np

    from glassformer.model.token import Table
    from glassformer.train.data import AdditionSource
    from glassformer.train.population import Population
    from glassformer.train.settings import Train
    from glassformer.zoo import ZOO

    entry = ZOO[model]
    architecture = replace(entry.architecture, token=Table()) if free_table else entry.architecture
    train = Train(seeds=seeds, steps=60_000, batch=batch, held_out=256, threads=1)
    population = Population(architecture, AdditionSource(entry.task), train, np.arange(seeds))
    state = population.advance(population.start(), 0, steps).state
    best = 0.0
    for stretch in range(1, STRETCHES + 1):
        began = time.perf_counter()
        state = population.advance(state, stretch * steps, steps).state
        best = max(best, seeds * steps / (time.perf_counter() - began))
    return best


if __name__ == "__main__":
    main()
