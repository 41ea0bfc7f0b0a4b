"""The summary of a run: what was made, how well it does, what to do next."""

from typing import TYPE_CHECKING

from glassformer.runs.config import Run
from glassformer.verify.families import measurer_of

if TYPE_CHECKING:
    from glassformer.commands.run_result import RunResult


def report_text(config: Run, result: "RunResult") -> str:
    """`report.md`: the measures, each under its own name."""
    lines = [f"# {config.name}", "", config.about, ""] if config.about else [f"# {config.name}", ""]
    lines += [f"- {line}" for line in summary_lines(config, result)]
    lines += ["", "Repeat it: `glassformer run run.toml --out ANOTHER_FOLDER`", ""]
    return "\n".join(lines)


def summary_lines(config: Run, result: "RunResult") -> list[str]:
    measures, held_out = result.measures or {}, config.task.words.held_out
    reached = f"{measures['seeds_at_999']} of {result.seeds} seeds reach 99.9% on the held-out {held_out}"
    sums = f"all {config.task.held_out(config.train.held_out):,} held-out {held_out} right"
    right = f"{measures['seeds_right']} of {result.seeds} seeds have {sums}"
    seeds = right if config.task.proves_seeds else reached
    first = f"{result.parameters} parameters; {seeds}; seed {result.best_seed} is kept"
    return [first, *measurer_of(config.task).say_measures(measures), *proof_lines(config, result)]


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
