"""A question's proof beside a plain enumeration: every prompt through the model, on the same cores.

    python -m benchmarks.questions                      32 numbers, k = 4, width 16, trained here in seconds
    python -m benchmarks.questions runs/max_of          after `glassformer run max_of`: 16,777,216 prompts

Both count the wrong prompts, and the counts must agree. The enumeration bounds no rounding, so it says less:
a prompt that is right by a hair in a batch may be wrong alone.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from glassformer.commands.run import train
from glassformer.core.spread import count_cores, map_threads
from glassformer.proofs.enumeration import BLOCK, measure_answer_margins
from glassformer.proofs.prove import prove_model
from glassformer.runs.load import LoadedModel, load_model
from glassformer.tasks import Prompts, tabulate_automaton
from glassformer.tasks.strings import require_strings

Found = TypeVar("Found")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", nargs="?", help="a finished run of a question")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        compare(load_model(asked.target or train_small(Path(scratch) / "run")))


def train_small(folder: Path) -> Path:
    """A smaller model, of 1,048,576 prompts, so that all of it takes seconds."""
    options = {"task.numbers": 32, "model.width": 16, "model.layers.0.attention.head_size": 16}
    options |= {"train.seeds": 2, "train.steps": 4_000, "train.batch": 256, "train.held_out": 4_096}
    train("max_of", out=folder, options=options)
    return folder


def compare(loaded: LoadedModel) -> None:
    """The proof, then the enumeration."""
    proof, proved = timed(lambda: prove_model(loaded, loaded.task, loaded.data, "", False, 600.0, None))
    wrong, plain = timed(lambda: count_wrong(loaded))
    error = proof.exact_error or {}
    print(f"{int(proof.inputs):,} prompts on {count_cores()} cores: {proof.verdict}")
    print(
        f"  proof: {proved:.1f} s, {error['count_low']:,} wrong, smallest margin {proof.smallest_margin:.4g}"
    )
    print(f"  enumeration: {plain:.1f} s, {wrong:,} wrong; {plain / proved:.1f} times as long")
    if not error["count_low"] <= wrong <= error["count_high"]:
        raise SystemExit("the two do not agree")


def timed(work: Callable[[], Found]) -> tuple[Found, float]:
    """What it gives, and the seconds that it takes."""
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def count_wrong(loaded: LoadedModel) -> int:
    """Every prompt through the model, block by block, on all cores."""
    prompts = Prompts(tabulate_automaton(require_strings(loaded.task, loaded.origin)))

    def judge(first: int) -> int:
        tokens = prompts.between(first, min(first + BLOCK, prompts.count))
        return int(np.sum(~(measure_answer_margins(loaded, tokens, prompts.answers(tokens)) > 0)))

    blocks: Iterator[int] = iter(range(0, prompts.count, BLOCK))
    return sum(map_threads(judge, blocks))


if __name__ == "__main__":
    main()
