"""Seconds of a proof: against the model's size, the number of digits, and a rule's vocabulary.

    python benchmarks/prove.py
    python benchmarks/prove.py --models glass-29 rope-62 --population 256

The columns: `prove` decides and finds the hardest pairs; `check` verifies the certificate in Arb's balls.
Digits grow with a hand-built adder of the zoo, whose circle takes any number of them. Vocabularies grow with
plus_last_even on random parameters of the reference model, a context of six. The population is one model
nudged.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from glassformer.checker.certificate import check_certificate
from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.proofs.population import prove_seeds
from glassformer.proofs.rule import prove_rule
from glassformer.runs.load import load_model
from glassformer.tasks import Addition, Sequences, make_rule
from glassformer.zoo.nanogpt import make_repaired_entry

MODELS = [
    "glass-23",
    "glass-29",
    "glass-39",
    "glass-54",
    "microadder-57",
    "microadder-74",
    "rope-62",
    "hand-4",
]
DIGITS, HIGHS = (5, 10, 20, 40, 60), (3, 5, 7, 9)
NUDGE = 1e-5  # share by which the parameters of a population differ


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--population", type=int, default=16, help="seeds")
    asked = parser.parse_args()
    prove_adder(load_model("glass-23"), Addition())  # imports, and the first use of libraries
    by_size(asked.models)
    by_digits()
    by_vocabulary()
    whole_population(asked.population)


def timed(work: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    return work(*given), time.perf_counter() - began


def by_size(names: list[str]) -> None:
    print(f"{'model':<16}{'parameters':>11}{'verdict':>10}{'margin':>12}{'prove, s':>10}", end="")
    print(f"{'check, s':>10}{'ratio':>7}")
    for name in names:
        model = load_model(name)
        proof, seconds = timed(prove_adder, model, model.addition)
        content = make_adder_certificate(proof, model, model.addition, name)
        checked, again = timed(check_certificate, content)
        assert checked.valid, checked.reason
        size = sum(part.size for part in model.params.values())
        print(
            f"{name:<16}{size:>11}{proof.verdict:>10}{proof.smallest_margin:>12.4g}{seconds:>10.2f}", end=""
        )
        print(f"{again:>10.2f}{again / seconds:>7.1f}")


def by_digits() -> None:
    print(f"\n{'digits':>6}{'inputs':>9}{'classes':>9}{'verdict':>10}{'margin':>12}{'prove, s':>10}", end="")
    print(f"{'s/digit':>9}")
    for digits in DIGITS:
        model, task = longer(digits)
        proof, seconds = timed(prove_adder, model, task)
        print(f"{digits:>6}{f'10^{2 * digits}':>9}{proof.classes['total']:>9,}{proof.verdict:>10}", end="")
        print(f"{proof.smallest_margin:>12.3g}{seconds:>10.2f}{seconds / digits:>9.3f}")


def longer(digits: int) -> tuple[Model, Addition]:
    """nanogpt-58-repaired for numbers of other lengths."""
    entry = make_repaired_entry(digits, base=10)
    assert entry.build
    return Model(entry.architecture, entry.build()), entry.task


def by_vocabulary() -> None:
    print(f"\n{'vocabulary':>10}{'contexts':>14}{'share that breaks the rule':>29}{'prove, s':>10}")
    for high in HIGHS:
        rule = make_rule("plus_last_even", high=high)
        shape, random = (
            make_reference_architecture(vocab=len(rule.tokens()), context=6),
            np.random.default_rng(0),
        )
        numbers = {
            key: random.normal(size=p.shape).astype("float32") for key, p in list_parameters(shape).items()
        }
        proof, seconds = timed(prove_rule, Model(shape, numbers), rule, Sequences())
        error = proof.content()["exact_error"]
        share = f"{error['low']:.6%} to {error['high']:.6%}"
        print(f"{shape.vocab:>10}{shape.vocab**6:>14,}{share:>29}{seconds:>10.2f}")


def whole_population(count: int) -> None:
    model, random = load_model("microadder-57"), np.random.default_rng(0)
    everyone = {
        key: np.stack([part * (1 + NUDGE * random.normal(size=part.shape)) for _ in range(count)]).astype(
            "float32"
        )
        for key, part in model.params.items()
    }
    seeds = list(range(count))
    proofs, seconds = timed(prove_seeds, model.architecture, everyone, seeds, model.addition)
    proved = sum(proof.verdict == "proved" for proof in proofs)
    print(f"\npopulation of {count}: {proved} proved, {seconds:.1f} s, {seconds / count:.3f} s per model")


if __name__ == "__main__":
    main()
