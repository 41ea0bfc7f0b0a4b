"""The summary of a run: what was made, how well it does, what to do next."""

import math
from typing import TYPE_CHECKING, Any

from glassformer.runs.config import Run
from glassformer.tasks import Rule

if TYPE_CHECKING:
    from glassformer.commands.run import RunResult


def report_text(config: Run, result: "RunResult") -> str:
    """`report.md`: the measures, each under its own name."""
    lines = [f"# {config.name}", "", config.about, ""] if config.about else [f"# {config.name}", ""]
    lines += [f"- {line}" for line in summary_lines(config, result)]
    lines += ["", "Repeat it: `glassformer run run.toml --out ANOTHER_FOLDER`", ""]
    return "\n".join(lines)


def summary_lines(config: Run, result: "RunResult") -> list[str]:
    measures = result.measures or {}
    is_rule = isinstance(config.task, Rule)
    reached = f"{measures['seeds_at_999']} of {result.seeds} seeds reach 99.9% on the held-out windows"
    sums = f"all {config.train.held_out:,} held-out sums right"
    right = f"{measures['seeds_right']} of {result.seeds} seeds have {sums}"
    first = (
        f"{result.parameters} parameters; {reached if is_rule else right}; seed {result.best_seed} is kept"
    )
    lines = [first, *(rule_lines(measures) if is_rule else adder_lines(measures))]
    return [*lines, *proof_lines(config, result)]


def proof_lines(config: Run, result: "RunResult") -> list[str]:
    """The verdict in one line; for a population, how many seeds are proved."""
    from glassformer.proof.verdict import Verdict
    from glassformer.proof.verdict_words import every_input, share_lines, verdict_line

    if not result.proof:
        return []
    proof, measures = Verdict(**result.proof), result.measures or {}
    lines = [verdict_line(proof, config.task), *share_lines(proof, config.task)]
    if measures.get("seeds_tried"):
        tried = f"{measures['seeds_tried']} seeds with all held-out {config.task.words.held_out} right"
        lines.append(f"{measures['seeds_proved']} of {tried} are {every_input(config.task)}")
    return lines


def adder_lines(measures: dict[str, Any]) -> list[str]:
    """Whole answers on fresh pairs, on each kind of hard pairs, and by the board's protocol."""
    scores = {f"{name} right": score for name, score in measures["distributions"].items()}
    if measures["board"]:
        scores["the community board's protocol"] = measures["board"]
    return [
        f"whole answers right: {share_text(measures['argmax_accuracy'])}",
        *(f"{name}: {score['passed']:,} of {score['total']:,}" for name, score in scores.items()),
    ]


def rule_lines(measures: dict[str, Any]) -> list[str]:
    """The measures of a rule model, one a line; shares that nothing fell into are left out."""
    shares = {
        "argmax rule accuracy, source in the window": measures["argmax_accuracy"],
        "argmax rule accuracy, source outside": measures["by_source"]["outside"],
        "argmax rule accuracy, source absent": measures["by_source"]["absent"],
        "argmax rule accuracy, all constrained positions": measures["argmax_accuracy_all"],
        "sampled rule error (the model's own sequences, temperature 1)": measures["sampled_error"],
    }
    right, loss, error, floor = (
        number_text(measures[name])
        for name in ("right_probability", "loss", "loss_standard_error", "entropy_floor")
    )
    distances = [f"{d}: {found['value']:.2%}" for d, found in measures["by_distance"].items()]
    return [
        *(
            f"{name}: {share_text(share)}"
            for name, share in shares.items()
            if share["positions"] or "in the" in name
        ),
        f"mean probability of the right tokens, source in the window: {right}",
        f"loss {loss} nats (standard error {error}); entropy floor {floor}",
        "accuracy by tokens that one must look back: " + ", ".join(distances),
    ]


def share_text(share: dict[str, Any]) -> str:
    if not share["positions"]:
        return "no such positions"
    interval = f"95% interval {share['low']:.3%} to {share['high']:.3%}, n = {share['positions']:,}"
    return f"{share['value']:.3%} ({interval})"


def number_text(value: float | None) -> str:
    """Four digits; a measure without any trial is none, in the JSON as here."""
    return "none" if value is None or math.isnan(value) else f"{value:.4f}"
