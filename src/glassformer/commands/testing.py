"""`glassformer test`: an adder by the board's protocol and on hard pairs, a rule model on fresh sequences."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.commands.waiting import bar
from glassformer.runs.budget import cost_of_test, require_affordable
from glassformer.runs.load import Loaded
from glassformer.tasks.board import BOARD_DIGITS, BOARD_SEED, EDGE_CASES
from glassformer.tasks.hard import HARD
from glassformer.verify.addition import QUALIFIES, AdditionReport, measure_addition

FRESH_SEED = 1  # of the fresh data; run itself uses 0
SLOW = 100_000  # pairs from which on a bar is worth its line
SHOWN = 5  # failures in words
GENERATED, WRITTEN = 2_000, 400_000  # sequences that a rule model writes, and tokens of all of them at most
TRIAL = 14.0  # bytes that are kept of a position that was tried
Answer = tuple[dict[str, Any], str, int]


def test_adder(
    loaded: Loaded, seed: int | None, pairs: int, hard: int, show: bool, no_limit: bool = False
) -> Answer:
    """Status 1 where fewer than 99% of the protocol's answers are right."""
    seed, began = BOARD_SEED if seed is None else seed, time.perf_counter()
    edges = len(EDGE_CASES) if loaded.addition.digits == BOARD_DIGITS else 0
    count = edges + pairs + hard * len(HARD)
    cost = cost_of_test(loaded.architecture, count * (loaded.addition.digits + 1))
    require_affordable(cost, Path(), "this test", no_limit)
    with bar(count, show and count > SLOW, "pairs") as tell:
        report = measure_addition(loaded, loaded.addition, seed, pairs, hard, tell)
    seconds = time.perf_counter() - began
    content = adder_content(loaded.origin, report) | {
        "seed": seed,
        "seconds": round(seconds, 3),
        "additions_per_second": round(report.additions / seconds, 1),
    }
    return content, adder_words(content, edges), 0 if report.protocol.qualified else 1


def adder_content(origin: str, report: AdditionReport) -> dict[str, Any]:
    score = report.protocol
    return asdict(score) | {
        "target": origin,
        "accuracy": score.share.value,
        "qualified": score.qualified,
        "failures": [asdict(failure) for failure in score.failures],
        "distributions": {name: asdict(each) for name, each in report.distributions.items()},
        "argmax_accuracy": asdict(score.share),
    }


def adder_words(content: dict[str, Any], edges: int) -> str:
    """The protocol, each distribution with its first failure, then the protocol's failures."""
    verdict = "qualified" if content["qualified"] else f"not qualified, {QUALIFIES}% are needed"
    drawn = f"{content['total'] - edges:,} pairs of seed {content['seed']}"
    lines = [f"{content['target']}: {score_text(content)} right ({content['accuracy']:.2%}; {verdict})"]
    lines += [f"  {edges} edge cases and {drawn}" if edges else f"  {drawn}"]
    lines += [f"    {failure_text(failure)}" for failure in content["failures"][:SHOWN]]
    width = max(map(len, content["distributions"]), default=0)
    for name, score in content["distributions"].items():
        first = "".join(f": {failure_text(failure)}" for failure in score["failures"][:1])
        lines.append(f"  {name:<{width}}  {score_text(score)}{first}")
    return "\n".join([*lines, f"  {content['additions_per_second']:,.0f} additions a second"])


def score_text(score: dict[str, Any]) -> str:
    return f"{score['passed']:,} of {score['total']:,}"


def failure_text(wrong: dict[str, Any]) -> str:
    return f"{wrong['a']} + {wrong['b']} = {wrong['expected']}, the model says {wrong['got']}"


def test_strings(loaded: Loaded, positions: int, seed: int | None, no_limit: bool = False) -> Answer:
    """Every measure of a model of a rule or a question, on inputs that its run did not use."""
    cost = cost_of_test(loaded.architecture, positions, TRIAL)
    require_affordable(cost, Path(), "this test", no_limit)
    from glassformer.train.setup import set_up_jax

    set_up_jax("cpu", loaded.architecture.precision)
    from glassformer.verify.families import measurer_of

    measurer = measurer_of(loaded.task)
    began, seed = time.perf_counter(), FRESH_SEED if seed is None else seed
    generated = min(GENERATED, max(1, WRITTEN // loaded.data.max_length))
    report = measurer.measure(loaded, loaded.task, loaded.data, positions, generated, seed)
    lines = [loaded.origin, *(f"  {line}" for line in measurer.say_measures(report))]
    content = report | {"verdict": None}
    if sampled := report.get("sampled_error"):
        content |= {"sampled_error": sampled["value"], "sampled": sampled}
    content |= {"target": loaded.origin, "seconds": round(time.perf_counter() - began, 3)}
    return content, "\n".join(lines), 0
