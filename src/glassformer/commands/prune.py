"""`glassformer prune`: fewer learned parameters, the same function, proved again."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.core.answer import Answer, Request
from glassformer.core.errors import require_value
from glassformer.core.waiting import show_status

if TYPE_CHECKING:
    from glassformer.commands.prune_model import PruneResult


def prune(
    target: str | Path,
    *,
    out: str | Path | None = None,
    seconds: float = 60.0,
    model: str | None = None,
    show: bool = False,
) -> "PruneResult":
    """Fix a model's dead and redundant parameters, keep its function, and prove it again.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        out (FILE): file of the pruned model (default: TARGET-pruned-N.safetensors)
        seconds (--time SECONDS): time limit for the proof
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer prune microadder-57                         57 learned parameters, of which 46 are needed
        glassformer prune runs/glass-47 --out smaller.safetensors
        glassformer run smaller.toml                            train the pruned architecture (docs/search.md)
    """
    from glassformer.commands.prune_model import prune_model
    from glassformer.runs.load import load_model

    require_value(seconds > 0, "--time", "above 0 seconds", seconds)
    with show_status(f"reducing {target}", show):
        return prune_model(load_model(target, model), str(target), out, seconds)


def answer_prune(result: "PruneResult", request: Request) -> Answer:
    """What was fixed, what is left, and the verdict."""
    margin = "" if result.smallest_margin is None else f", smallest margin {result.smallest_margin:.4g}"
    lines = [f"{result.target}: {result.learned_before} learned parameters, {result.learned} are enough"]
    lines += [f"dead: {one}" for one in result.dead]
    lines += [f"redundant: {one}" for one in result.redundant]
    lines += [f"chosen constants more than before: {result.constants} (0, 1 and -1 do not count)"]
    lines += [f"logits changed by {result.change:.1e} of the largest", f"{result.verdict}{margin}"]
    lines += [f"{result.file}, with its architecture", f"next: glassformer run {result.run}"]
    return Answer(asdict(result), "\n".join(lines))
