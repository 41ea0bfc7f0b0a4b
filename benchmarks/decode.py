"""Additions per second: an adder writes every digit itself, greedily, by the generic loop.

    python benchmarks/decode.py
    python benchmarks/decode.py --models glass-29 nanogpt-58-repaired --threads 1

In blocks: 2,048 sums side by side, blocks spread over threads, as `glassformer test` does it. The baseline is
the same model on one sum at a time, which is how submissions to the community's board are written.
"""

import argparse
import os
import time
from collections.abc import Iterator

import numpy as np

from glassformer.core.spread import map_threads
from glassformer.runs.load import LoadedModel, load_model
from glassformer.tasks import add_digits
from glassformer.verify.addition import BLOCK, Pair, write_answers

SECONDS = 4.0  # of each measurement, at least


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", default=["microadder-57", "glass-39", "nanogpt-58-repaired"])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    print(f"{'model':<24}{'threads':>8}{'in blocks, /s':>16}{'one at a time, /s':>20}{'ratio':>9}")
    for name in asked.models:
        model = load_model(name)
        blocks, alone = rate(model, BLOCK, asked.threads), rate(model, 1, 1)
        print(f"{name:<24}{asked.threads:>8}{blocks:>16,.0f}{alone:>20,.0f}{blocks / alone:>9,.0f}")


def rate(model: LoadedModel, batch: int, threads: int) -> float:
    """Sums per second, in blocks of so many."""
    write_answers(model, model.addition, *random_pair(np.random.default_rng(0), batch))
    began, done = time.perf_counter(), 0
    for (x, y), written in map_threads(
        lambda pair: (pair, write_answers(model, model.addition, *pair)), pairs_for(batch, began), threads
    ):
        assert written.shape == add_digits(x, y, 10).shape
        done += written.shape[1]
    return done / (time.perf_counter() - began)


def pairs_for(batch: int, began: float) -> Iterator[Pair]:
    """Random digits until the time is up."""
    random = np.random.default_rng(1)
    while time.perf_counter() < began + SECONDS:
        yield random_pair(random, batch)


def random_pair(random: np.random.Generator, batch: int) -> Pair:
    x, y = random.integers(0, 10, (2, 10, batch), np.int32)
    return x, y


if __name__ == "__main__":
    main()
