"""How long numbers may be for models of one length: fills a section of docs/every-length.md.

Hand-built adders are computed anew for every length by their formulas, and proved length by length. Trained
ones keep their parameters; their circle of columns is drawn for the length.

python -m tools.longest_numbers
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from glassformer.models.model import Model
from glassformer.models.position import SpiralPosition
from glassformer.proofs.adder import AdderProof, prove_adder
from glassformer.runs.load import load_model
from glassformer.tasks import add_digits
from glassformer.verify.addition import write_answers

PAGE = Path("docs/every-length.md")
BEGIN, END = "<!-- longest -->\n", "<!-- longest end -->"
FORMULAS = ("hand-6", "hand-5", "hand-4", "nanogpt-58-repaired", "tinyadder-95-repaired")
TRAINED = ("glass-10", "glass-9", "glass-8")
MOST = 60  # digits that are tried: a proof takes seconds, a check of it a minute
SECONDS = 60.0
LENGTHS = (9, 10, 11, 12, 20)
PAIRS = 2_000


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    section = "\n".join([*format_formulas(), "", *format_trained(), ""])
    PAGE.write_text(before + BEGIN + section + END + rest.partition(END)[2], encoding="utf-8")


def format_formulas() -> Iterator[str]:
    yield "| formulas of | digits, proved | first longer one that is not |"
    yield "|---|---|---|"
    for name in FORMULAS:
        proofs = list(prove_lengths(name, MOST))
        yield f"| `{name}` | {describe_proved(proofs)} | {describe_failure(proofs)} |"


def prove_lengths(name: str, most: int) -> Iterator[AdderProof]:
    """One length after the other, to the first above ten that fails: none is known to follow from others."""
    loaded = load_model(name)
    for digits in range(1, most + 1):
        model = loaded.with_digits(digits)
        proof = prove_adder(model, model.addition, seconds=SECONDS)
        yield proof
        if proof.verdict != "proved" and digits > loaded.addition.digits:
            return


def describe_proved(proofs: list[AdderProof]) -> str:
    """`2, 4 to 30`."""
    proved = [digits for digits, proof in enumerate(proofs, 1) if proof.verdict == "proved"]
    first = [digits for digits in proved if digits - 1 not in proved]
    last = [digits for digits in proved if digits + 1 not in proved]
    ends = zip(first, last, strict=True)
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in ends)


def describe_failure(proofs: list[AdderProof]) -> str:
    """A pair of the last length that was tried, if it is not proved."""
    if proofs[-1].verdict == "proved":
        return "longer ones were not tried"
    wrong = proofs[-1].counterexample
    if not wrong:
        return f"{len(proofs)}: {proofs[-1].verdict}"
    got = wrong["got"] if isinstance(wrong["got"], int) else "no number"
    return f"{len(proofs)}: {wrong['a']} + {wrong['b']} gives {got}"


def format_trained() -> Iterator[str]:
    yield f"| right of {PAIRS:,} random pairs | {' | '.join(f'{digits} digits' for digits in LENGTHS)} |"
    yield "|---" * (len(LENGTHS) + 1) + "|"
    for name in TRAINED:
        shares = (measure_stretched(name, digits) for digits in LENGTHS)
        yield f"| `{name}` | {' | '.join(f'{share:.1%}' for share in shares)} |"


def measure_stretched(name: str, digits: int) -> float:
    """The share of random pairs that come out right where the circle has one column more than the numbers."""
    loaded = load_model(name)
    position = loaded.architecture.position
    assert isinstance(position, SpiralPosition)
    task = replace(loaded.addition, digits=digits)
    columns = tuple(range(digits))
    circle = replace(position, period=digits + 1.0, slots=(*columns, digits, *columns, digits, *columns))
    shape = replace(loaded.architecture, position=circle, context=task.written().length - 1)
    x, y = np.random.default_rng(0).integers(0, task.base, (2, digits, PAIRS))
    answers = write_answers(Model(shape, loaded.params), task, x, y)
    return float((answers == add_digits(x, y, task.base)).all(0).mean())


if __name__ == "__main__":
    began = time.perf_counter()
    main()
    print(f"{PAGE} written in {time.perf_counter() - began:.0f} s")
