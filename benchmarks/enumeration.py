"""The verdicts of `glassformer prove` beside full enumeration: two digits, all pairs, many nudged models.

    python benchmarks/enumeration.py --models 1000

A nudged model has every parameter changed by a random share of itself, small enough that some stay right and
large enough that some do not. Hand-built families (hand-6, nanogpt, tinyadder) are built for each base. The
trained ones (microadder, glass, mirror, rope) have shipped weights for ten digits of base ten alone, so that
at two digits they get random parameters: these are wrong, and must never be proved.

Enumeration runs the deployed pass on all pairs, each digit fed back. A verdict is wrong where a model is
proved though a pair fails, or refuted though none does; undecided ones are counted apart.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.position import SpiralPosition
from glassformer.proofs.adder import prove_adder
from glassformer.tasks import Addition, add_digits, to_digits
from glassformer.verify.addition import write_answers
from glassformer.zoo import ZOO
from glassformer.zoo.entry import ZooEntry
from glassformer.zoo.nanogpt import make_repaired_entry as make_nanogpt_entry
from glassformer.zoo.smallest import make_one_head_entry
from glassformer.zoo.tinyadder import make_repaired_entry as make_tinyadder_entry

BUILT = {"hand": make_one_head_entry, "nanogpt": make_nanogpt_entry, "tinyadder": make_tinyadder_entry}
TRAINED = {"microadder": "microadder-57", "glass": "glass-29", "mirror": "glass-10", "rope": "rope-62"}
BASES, DIGITS = (2, 7, 10), 2
NUDGES = (-9.0, -1.0)  # powers of ten of the share by which parameters change, from smallest to largest
SECONDS = 5.0  # for one proof
BLOCK = 5_000  # pairs at a time


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=1_000, help="of all families and bases together")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    cells = [(family, base) for family in (*BUILT, *TRAINED) for base in BASES]
    wrong = 0
    print(f"{'family':<12}{'base':>5}{'models':>8}{'right':>7}{'agreed':>8}{'wrong':>7}{'undecided':>11}")
    for number, (family, base) in enumerate(cells):
        random = np.random.default_rng([asked.seed, number])
        counts = compare_models(family, base, -(-asked.models // len(cells)), random)
        wrong += counts["wrong"]
        share = counts["undecided"] / counts["models"]
        print(f"{family:<12}{base:>5}{counts['models']:>8}{counts['right']:>7}{counts['agreed']:>8}", end="")
        print(f"{counts['wrong']:>7}{share:>11.1%}", flush=True)
    raise SystemExit(1 if wrong else 0)


def compare_models(family: str, base: int, count: int, random: np.random.Generator) -> Counter[str]:
    """How many models are right, and how many verdicts agree with enumeration, are wrong, or undecided."""
    counts: Counter[str] = Counter(models=0, right=0, agreed=0, wrong=0, undecided=0)
    for model, task in draw_models(family, base, count, random):
        is_right = enumerate_pairs(model, task)
        verdict = prove_adder(model, task, seconds=SECONDS, margins=False).verdict
        counts["models"] += 1
        counts["right"] += is_right
        if verdict in ("undecided", "not_applicable"):
            counts["undecided"] += 1
        else:
            counts["agreed" if (verdict == "proved") == is_right else "wrong"] += 1
    return counts


def draw_models(
    family: str, base: int, count: int, random: np.random.Generator
) -> Iterator[tuple[Model, Addition]]:
    """Nudged models of a hand-built family, or random ones of a trained family's architecture."""
    for _ in range(count):
        if family in BUILT:
            yield nudge_model(BUILT[family](DIGITS, base), 10.0 ** random.uniform(*NUDGES), random)
        else:
            yield draw_model(ZOO[TRAINED[family]], base, random)


def nudge_model(entry: ZooEntry, size: float, random: np.random.Generator) -> tuple[Model, Addition]:
    assert entry.build
    params = {
        name: part * (1 + size * random.normal(size=part.shape)) for name, part in entry.build().items()
    }
    return Model(entry.architecture, params), entry.task


def draw_model(entry: ZooEntry, base: int, random: np.random.Generator) -> tuple[Model, Addition]:
    """The architecture for two digits of a base, with random parameters."""
    task = replace(entry.task, digits=DIGITS, base=base)
    shape = replace(entry.architecture, vocab=len(task.tokens()), context=task.written().length - 1)
    if isinstance(shape.position, SpiralPosition):
        slots = (0, 1, "zero", 0, 1, 1.5, 0, 1)
        shape = replace(shape, position=replace(shape.position, slots=slots))
    params = {name: random.normal(size=one.shape) for name, one in list_parameters(shape).items()}
    return Model(shape, {name: part.astype(shape.precision) for name, part in params.items()}), task


def enumerate_pairs(model: Model, task: Addition) -> bool:
    """Whether the deployed pass writes the right sum for every pair of numbers."""
    count = task.base**task.digits
    sides = np.divmod(np.arange(count * count), count)
    x, y = (to_digits(side.tolist(), task.digits, task.base) for side in sides)
    blocks = [slice(begin, begin + BLOCK) for begin in range(0, count * count, BLOCK)]
    with np.errstate(all="ignore"):
        return all(
            (write_answers(model, task, x[:, some], y[:, some]) == add_digits(x, y, task.base)[:, some]).all()
            for some in blocks
        )


if __name__ == "__main__":
    main()
