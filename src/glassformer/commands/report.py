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
    reached = f"{measures['seeds_at_999']} of {result.seeds} seeds reach 99.9% on the held-out windows"
    lines = [f"{result.parameters} parameters; {reached}; seed {result.best_seed} is kept"]
    if not isinstance(config.task, Rule):
        return [*lines, f"whole answers right: {share_text(result.argmax_accuracy)}"]
    lines.append(f"argmax rule accuracy, source in the window: {share_text(result.argmax_accuracy)}")
    for source in ("outside", "absent"):
        if measures["by_source"][source]["positions"]:
            found = share_text(measures["by_source"][source])
            lines.append(f"argmax rule accuracy, source {source}: {found}")
    own = share_text(measures["sampled_error"])
    right = number_text(measures["right_probability"])
    lines += [
        f"sampled rule error (the model's own sequences, temperature 1): {own}",
        f"mean probability of the right tokens, source in the window: {right}",
        f"loss {number_text(result.loss)} nats; entropy floor {number_text(result.entropy_floor)}",
    ]
    distances = [f"{d}: {found['value']:.2%}" for d, found in measures["by_distance"].items()]
    return [*lines, "accuracy by tokens that one must look back: " + ", ".join(distances)]


def share_text(share: dict[str, Any]) -> str:
    if not share["positions"]:
        return "no such positions"
    interval = f"95% interval {share['low']:.3%} to {share['high']:.3%}, n = {share['positions']:,}"
    return f"{share['value']:.3%} ({interval})"


def number_text(value: float | None) -> str:
    """Four digits; a measure without any trial is none, in the JSON as here."""
    return "none" if value is None or math.isnan(value) else f"{value:.4f}"
