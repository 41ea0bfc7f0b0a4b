"""`glassformer prove`: right on every input, or an input where it fails, with a certificate.

From Python the same is `glassformer.prove("glass-29")`.
"""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.commands.waiting import bar
from glassformer.errors import UserError, require
from glassformer.proof.prove import prove_model
from glassformer.proof.verdict import Verdict
from glassformer.proof.verdict_words import every_input, input_text, share_lines, verdict_line
from glassformer.runs.atomic import read_arrays
from glassformer.runs.load import Loaded, load
from glassformer.runs.seal import require_unchanged, sealing
from glassformer.tasks import Task

SECONDS = 60.0  # that a proof may take where nothing else is said
STATUS = {"proved": 0, "refuted": 1, "undecided": 3, "not_applicable": 3}
CERTIFICATE = "certificate.json"


def prove(
    target: str,
    model: str | None = None,
    real: bool = False,
    seconds: float = SECONDS,
    out: str | Path | None = None,
) -> Verdict:
    """Decide whether the model that a target names is right on every input; write the certificate."""
    return prove_loaded(load_target(target, model, seconds), real, seconds, out)


def load_target(target: str, model: str | None, seconds: float) -> Loaded:
    """The model, once it is known that there is time to prove it."""
    require(seconds > 0, "time", "above 0 seconds", seconds)
    return load(target, model)


def prove_loaded(loaded: Loaded, real: bool, seconds: float, out: str | Path | None) -> Verdict:
    """The same for a model that is read already."""
    path = Path(out) if out is not None else place(loaded, real)
    with sealing(loaded.folder, path):
        return prove_model(loaded, loaded.task, loaded.data, loaded.origin, real, seconds, path)


def place(loaded: Loaded, real: bool) -> Path:
    """Where the certificate goes: into a run's folder, or beside the user; real numbers have one apart."""
    name = f"real.{CERTIFICATE}" if real else CERTIFICATE
    return loaded.folder / name if loaded.folder else Path(f"{loaded.name}.{name}")


def prove_words(result: Verdict, task: Task, wants_file: bool = False) -> str:
    """The verdict in a line, then what it rests on; `wants_file`: a certificate was asked for by name."""
    lines = [f"{result.target}: {verdict_line(result, task)}"]
    if result.classes["total"]:
        counts = ", ".join(f"{count:,} {name}" for name, count in result.classes.items() if name != "total")
        lines.append(f"  {result.classes['total']:,} classes of inputs: {counts}; {result.seconds:.2f} s")
    if result.verdict == "proved" and result.hardest is not None:
        lines.append(f"  smallest margin {result.smallest_margin:.4g}, at {input_text(result)}")
        if result.rounding_bound and result.arithmetic != "real":
            lines.append(
                f"  rounding in {result.arithmetic} moves a gap by at most {2 * result.rounding_bound:.2g}"
            )
    lines += [f"  {line}" for line in share_lines(result, task)]
    if result.certificate:
        lines.append(f"next: glassformer check {result.certificate}")
    elif wants_file:
        lines.append(f"  no certificate was written: of a {task.words.model} only a counterexample has one")
    return "\n".join(lines)


def prove_whole_population(target: str, seconds: float, show: bool) -> tuple[dict[str, Any], str, int]:
    """Every seed of a run; status 0 where at least one is proved."""
    from glassformer.proof.population import prove_population

    loaded = load(target)
    task, path = loaded.task, Path(loaded.origin).parent / "population.safetensors"
    if not task.proves_seeds:
        raise UserError(f"--population is for adders and questions; {target} {task.words.ability}")
    if not path.exists():
        raise UserError(f"{target} has no population: --population is for the folder of a finished run")
    require_unchanged(path)
    everyone, _ = read_arrays(path)
    seeds = [int(seed) for seed in everyone.pop("seed")]
    began = time.perf_counter()
    with bar(len(seeds), show, "seeds") as tell:
        proofs = prove_population(loaded.architecture, everyone, seeds, task, seconds, tell)
    counts = {verdict: sum(one.verdict == verdict for one in proofs) for verdict in STATUS}
    content = {
        "target": target,
        "seeds": len(seeds),
        **counts,
        "rows": [asdict(one) for one in proofs],
        "seconds": round(time.perf_counter() - began, 3),
    }
    proved = [str(one.seed) for one in proofs if one.verdict == "proved"]
    words = f"{target}: {counts['proved']} of {len(seeds)} seeds {every_input(task)}"
    named = f" (seeds {', '.join(proved)})" if proved else ""
    return content, f"{words}{named}; {content['seconds']:.1f} s", 0 if proved else 1
