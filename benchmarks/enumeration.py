"""The verdicts of `glassformer prove` beside full enumeration: two digits, all pairs, many nudged models.

    python -m benchmarks.enumeration --models 1000
    python -m benchmarks.enumeration --train-only --trained trained --seeds 1024 --steps 40000 --device gpu
    python -m benchmarks.enumeration --trained trained --models 20000 --processes 16

A nudged model has every parameter changed by a random share of itself, between 1e-9 and 1e-1: some stay
right, some do not. Hand-built families (hand-6, nanogpt, tinyadder) are built for each base. The trained ones
(microadder, glass, mirror, rope) are trained first, where the folder `--trained` does not have them yet
(`benchmarks/two_digits.py`); half of their models are nudges of the best seed, the others of all kept ones.

Enumeration runs the deployed pass on all pairs, each digit fed back. A verdict is wrong where a model is
proved though a pair fails, or refuted though none does; undecided ones are counted apart. `near` are the
models for which some, but less than a hundredth, of the pairs fail.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.two_digits import DIGITS, TRAINED, load_population, locate_population, train_population
from glassformer.models.architecture import Architecture
from glassformer.models.model import Model
from glassformer.tasks import Addition, add_digits, to_digits
from glassformer.training.setup import set_up_jax
from glassformer.verify.addition import write_answers
from glassformer.zoo.nanogpt import make_repaired_entry as make_nanogpt_entry
from glassformer.zoo.smallest import make_one_head_entry
from glassformer.zoo.tinyadder import make_repaired_entry as make_tinyadder_entry

BUILT = {"hand": make_one_head_entry, "nanogpt": make_nanogpt_entry, "tinyadder": make_tinyadder_entry}
BASES = (2, 7, 10)
NUDGES = (-9.0, -1.0)  # powers of ten of the share by which parameters change, from smallest to largest
SECONDS = 5.0  # for one proof
BLOCK = 5_000  # pairs at a time
SHARE = 10  # models of one job
NEAR = 0.99  # share of pairs from which a wrong model is near the border
COLUMNS = ("models", "right", "near", "agreed", "wrong", "undecided", "run")

Nudged = tuple[Architecture, Mapping[str, np.ndarray], Addition]


def main() -> None:
    asked = parse()
    cells = [(family, base) for family in asked.families for base in BASES]
    train_missing(asked, cells)
    if not asked.train_only:
        raise SystemExit(compare_cells(asked, cells))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = (*BUILT, *TRAINED)
    parser.add_argument("--models", type=int, default=1_000, help="of all families and bases together")
    parser.add_argument("--seed", type=int, default=0, help="of the nudges")
    parser.add_argument("--families", nargs="+", choices=every, default=every)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--trained", type=Path, default=Path("trained"), help="folder of trained populations")
    parser.add_argument("--train-only", action="store_true", help="make that folder and end")
    parser.add_argument("--seeds", type=int, default=32, help="trained per family and base")
    parser.add_argument("--steps", type=int, default=40_000, help="of training")
    parser.add_argument("--device", choices=["auto", "cpu", "gpu"], default="cpu", help="of training")
    return parser.parse_args()


def train_missing(asked: argparse.Namespace, cells: list[tuple[str, int]]) -> None:
    """The populations that the folder does not have yet, one file each."""
    missing = [
        cell for cell in cells if cell[0] in TRAINED and not locate_population(asked.trained, *cell).exists()
    ]
    if missing:
        set_up_jax(asked.device)
    for family, base in missing:
        began = time.perf_counter()
        train_population(asked.trained, family, base, asked.seeds, asked.steps, asked.device)
        best = load_population(asked.trained, family, base).right
        said = f"{(best == 1).sum()} of {len(best)} kept seeds right on held-out sums, best {best[0]:.2%}"
        print(f"{family} base {base}: {said} ({time.perf_counter() - began:.0f} s)", flush=True)


def compare_cells(asked: argparse.Namespace, cells: list[tuple[str, int]]) -> int:
    """A line per family and base, and what is missing in which; 1 where a verdict is wrong, else 0."""
    share = -(-asked.models // len(cells))
    print(f"{'family':<12}{'base':>5}" + "".join(f"{name:>10}" for name in COLUMNS), flush=True)
    total, poor = Counter[str](), []
    # Not forked: a process that has trained runs the threads of JAX.
    with ProcessPoolExecutor(asked.processes, get_context("spawn"), use_one_thread) as pool:
        jobs = [
            [
                pool.submit(compare_models, asked.trained, family, base, SHARE, (asked.seed, number, job))
                for job in range(-(-share // SHARE))
            ]
            for number, (family, base) in enumerate(cells)
        ]
        for (family, base), some in zip(cells, jobs, strict=True):
            counts = sum((one.result() for one in some), Counter[str]())
            total += counts
            print(format_counts(f"{family:<12}{base:>5}", counts), flush=True)
            if not counts["right"] or counts["right"] == counts["models"]:
                poor.append(f"{family} in base {base} has no {'wrong' if counts['right'] else 'right'} model")
    print(format_counts(f"{'all':<17}", total))
    print("\n".join(poor or ["right and wrong models in every row"]))
    return 1 if total["wrong"] else 0


def use_one_thread() -> None:
    """One core per process."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"


def format_counts(name: str, counts: Mapping[str, int]) -> str:
    return name + "".join(f"{counts[column]:>10}" for column in COLUMNS)


def compare_models(folder: Path, family: str, base: int, count: int, seed: tuple[int, ...]) -> Counter[str]:
    """How many models are right, and how many verdicts agree with enumeration, are wrong, or undecided."""
    from glassformer.proofs.adder import prove_adder

    random, counts = np.random.default_rng(seed), Counter[str]()
    for _ in range(count):
        shape, params, task = draw_model(folder, family, base, random)
        size = 10.0 ** random.uniform(*NUDGES)
        model = Model(shape, {name: nudge_array(part, size, random) for name, part in params.items()})
        share = enumerate_pairs(model, task)
        proof = prove_adder(model, task, seconds=SECONDS, margins=False)
        verdict, run = proof.verdict, proof.run is not None
        outcome = judge_verdict(verdict, share == 1)
        counts.update(models=1, right=share == 1, near=NEAR <= share < 1, run=run, **{outcome: 1})
        if outcome == "wrong":
            print(
                f"{family} base {base}, seed {seed}: {verdict}, but {share:.6%} of pairs are right",
                flush=True,
            )
    return counts


def judge_verdict(verdict: str, is_right: bool) -> str:
    if verdict in ("undecided", "not_applicable"):
        return "undecided"
    return "agreed" if (verdict == "proved") == is_right else "wrong"


def draw_model(folder: Path, family: str, base: int, random: np.random.Generator) -> Nudged:
    """The hand-built model of a base, or one of the trained seeds: every other time the best."""
    if family in BUILT:
        entry = BUILT[family](DIGITS, base)
        assert entry.build
        return entry.architecture, entry.build(), entry.task
    seeds = load_population(folder, family, base)
    row = random.integers(len(seeds)) * random.integers(2)
    return seeds.architecture, seeds.pick(int(row)), seeds.task


def nudge_array(part: np.ndarray, size: float, random: np.random.Generator) -> np.ndarray:
    """Every number changed by about this share of itself, in its own precision."""
    return np.asarray(part * (1 + size * random.normal(size=part.shape)), part.dtype)


def enumerate_pairs(model: Model, task: Addition) -> float:
    """The share of pairs for which the deployed pass writes the right sum."""
    count = task.base**task.digits
    sides = np.divmod(np.arange(count * count), count)
    x, y = (to_digits(side.tolist(), task.digits, task.base) for side in sides)
    right, blocks = add_digits(x, y, task.base), range(0, count * count, BLOCK)
    with np.errstate(all="ignore"):
        found = [write_answers(model, task, *(side[:, b : b + BLOCK] for side in (x, y))) for b in blocks]
    return float((np.concatenate(found, 1) == right).all(0).mean())


if __name__ == "__main__":
    main()
