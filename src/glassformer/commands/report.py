"""The summary of a run: what was made, how well it does, what to do next."""

from typing import TYPE_CHECKING

from glassformer.runs.adders import begins_where_some_succeed
from glassformer.runs.config import Run
from glassformer.verify.families import choose_measurer

if TYPE_CHECKING:
    from glassformer.commands.run_result import RunResult


def make_report(config: Run, result: "RunResult") -> str:
    """`report.md`: the measures, each under its own name."""
    lines = [f"# {config.name}", "", config.about, ""] if config.about else [f"# {config.name}", ""]
    lines += [f"- {line}" for line in list_summary_lines(config, result)]
    lines += ["", "Repeat this run: `glassformer run run.toml --out ANOTHER_FOLDER`", ""]
    return "\n".join(lines)


def list_summary_lines(config: Run, result: "RunResult") -> list[str]:
    measures, held_out = result.measures or {}, config.task.words.held_out
    reached = f"{measures['seeds_at_999']} of {result.seeds} seeds reach 99.9% on the held-out {held_out}"
    sums = f"all {config.task.held_out(config.train.held_out):,} held-out {held_out} right"
    right = f"{measures['seeds_right']} of {result.seeds} seeds have {sums}"
    seeds = right if config.task.proves_seeds else reached
    first = f"{result.parameters} parameters; {seeds}; seed {result.best_seed} is kept"
    return [
        first,
        *_list_seed_lines(config),
        *choose_measurer(config.task).describe_measures(measures),
        *_list_proof_lines(config, result),
    ]


def _list_seed_lines(config: Run) -> list[str]:
    """That the seeds of a recipe were chosen, where they were."""
    if not begins_where_some_succeed(config):
        return []
    begin, end = config.train.first_seed, config.train.first_seed + config.train.seeds - 1
    seeds = f"seeds {begin} to {end} were" if end > begin else f"seed {begin} was"
    succeeds = "some of them succeed" if end > begin else "it is near some that succeed"
    return [f"{seeds} chosen because {succeeds}; `glassformer sweep {config.name}` measures how often all do"]


def _list_proof_lines(config: Run, result: "RunResult") -> list[str]:
    """The verdict in one line; for a population, how many seeds are proved."""
    from glassformer.proofs.verdict import Verdict
    from glassformer.proofs.verdict_words import (
        describe_error_shares,
        describe_proved_inputs,
        describe_verdict,
    )

    if not result.proof:
        return []
    proof, measures = Verdict(**result.proof), result.measures or {}
    lines = [describe_verdict(proof, config.task), *describe_error_shares(proof, config.task)]
    if measures.get("seeds_tried"):
        tried = f"{measures['seeds_tried']} seeds with all held-out {config.task.words.held_out} right"
        right = describe_proved_inputs(config.task, config.architecture)
        lines.append(f"{measures['seeds_proved']} of {tried} are {right}")
    return lines
