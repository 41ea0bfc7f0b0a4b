"""Measures of a model on inputs new to it: the board's protocol, hard pairs, fresh sequences."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glassformer.core.waiting import show_count_bar
from glassformer.core.words import format_count
from glassformer.runs.budget import estimate_test_cost, require_affordable
from glassformer.runs.load import LoadedModel
from glassformer.tasks import Addition
from glassformer.tasks.board import BOARD_BASE, BOARD_SEED, EDGE_CASES, is_board_task
from glassformer.tasks.hard import HARD
from glassformer.verify.addition import QUALIFIES, AdditionReport, measure_addition

_FRESH_SEED = 1  # of the fresh data; run itself uses 0
_SLOW = 100_000  # pairs from which on a bar is worth its line
_SHOWN = 5  # failures in words
_GENERATED, _WRITTEN = 2_000, 400_000  # sequences that a rule model writes, and tokens of all of them at most
_TRIAL = 14.0  # bytes that are kept of a position that was tried


@dataclass(frozen=True)
class Measurement:
    """Measures by name, as `--json` prints them: `result["accuracy"]`."""

    content: dict[str, Any]
    words: str
    qualified: bool = True  # an adder: at least 99% of the protocol right

    def __getitem__(self, name: str) -> Any:
        return self.content[name]


def measure_adder(
    loaded: LoadedModel, seed: int | None, pairs: int, hard: int, show: bool, no_limit: bool = False
) -> Measurement:
    """The board's protocol: edge cases and random pairs; then every hard distribution."""
    seed, began = BOARD_SEED if seed is None else seed, time.perf_counter()
    edges = len(EDGE_CASES) if is_board_task(loaded.addition) else 0
    count = edges + pairs + hard * len(HARD)
    cost = estimate_test_cost(loaded.architecture, count * (loaded.addition.digits + 1))
    require_affordable(cost, Path(), "this test", no_limit)
    with show_count_bar(count, show and count > _SLOW, "pairs") as tell:
        report = measure_addition(loaded, loaded.addition, seed, pairs, hard, tell)
    seconds = time.perf_counter() - began
    content = _gather_adder_content(loaded.origin, report) | {
        "seed": seed,
        "seconds": round(seconds, 3),
        "additions_per_second": round(report.additions / seconds, 1),
    }
    return Measurement(content, _describe_adder(content, edges, loaded.addition), report.protocol.qualified)


def _gather_adder_content(origin: str, report: AdditionReport) -> dict[str, Any]:
    score = report.protocol
    return asdict(score) | {
        "target": origin,
        "accuracy": score.share.value,
        "qualified": score.qualified,
        "failures": [asdict(failure) for failure in score.failures],
        "distributions": {name: asdict(each) for name, each in report.distributions.items()},
        "argmax_accuracy": asdict(score.share),
    }


def _describe_adder(content: dict[str, Any], edges: int, task: Addition) -> str:
    """The protocol, each distribution with its first failure, then the protocol's failures."""
    base, verdict = task.base, _describe_qualification(content["qualified"], edges > 0)
    length = "" if edges else f" of {format_count(task.digits, 'digit')}"  # the edge cases are the board's
    drawn = f"{content['total'] - edges:,} pairs{length} of seed {content['seed']}"
    lines = [f"{content['target']}: {_format_score(content)} right ({content['accuracy']:.2%}{verdict})"]
    lines += [f"  {edges} edge cases and {drawn}" if edges else f"  {drawn}"]
    lines += [f"    {_format_failure(failure, task)}" for failure in content["failures"][:_SHOWN]]
    width = max(map(len, content["distributions"]), default=0)
    for name, score in content["distributions"].items():
        first = "".join(f": {_format_failure(failure, task)}" for failure in score["failures"][:1])
        lines.append(f"  {name:<{width}}  {_format_score(score)}{first}")
    if base != BOARD_BASE and content["distributions"]:
        lines.append(f"  (named as in base ten: 8, 9 and 10 stand for {base - 2}, {base - 1} and {base})")
    return "\n".join([*lines, f"  {content['additions_per_second']:,.0f} additions per second"])


def _describe_qualification(qualified: bool, is_board: bool) -> str:
    """What the board's threshold says; of other pairs than the board's only that too few are right."""
    if is_board:
        return "; qualified" if qualified else f"; not qualified, {QUALIFIES}% are needed"
    return "" if qualified else f"; {QUALIFIES}% are needed"


def _format_score(score: dict[str, Any]) -> str:
    return f"{score['passed']:,} of {score['total']:,}"


def _format_failure(wrong: dict[str, Any], task: Addition) -> str:
    problem = task.write_problem(wrong["a"], wrong["b"])
    return f"{problem} = {wrong['expected']}, the model says {wrong['got']}"


def measure_strings(
    loaded: LoadedModel, positions: int, seed: int | None, no_limit: bool = False
) -> Measurement:
    """Every measure of a model of a rule or a question, on inputs that its run did not use."""
    cost = estimate_test_cost(loaded.architecture, positions, _TRIAL)
    require_affordable(cost, Path(), "this test", no_limit)
    from glassformer.training.setup import set_up_jax

    set_up_jax("cpu", loaded.architecture.precision)
    from glassformer.verify.families import choose_measurer

    measurer = choose_measurer(loaded.task)
    began, seed = time.perf_counter(), _FRESH_SEED if seed is None else seed
    generated = min(_GENERATED, max(1, _WRITTEN // loaded.data.max_length))
    report = measurer.measure(loaded, loaded.task, loaded.data, positions, generated, seed)
    lines = [loaded.origin, *(f"  {line}" for line in measurer.describe_measures(report))]
    content = report | {"verdict": None}
    if sampled := report.get("sampled_error"):
        content |= {"sampled_error": sampled["value"], "sampled": sampled}
    content |= {"target": loaded.origin, "seconds": round(time.perf_counter() - began, 3)}
    return Measurement(content, "\n".join(lines))
