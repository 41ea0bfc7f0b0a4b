"""`glassformer prove`: right on every input, or an input where it fails, with a certificate."""

import time as clock
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.commands.values import read_digits
from glassformer.core.answer import Answer, Request
from glassformer.core.errors import UserError, require_value
from glassformer.core.waiting import show_count_bar, show_status

if TYPE_CHECKING:
    from glassformer.proofs.verdict import Verdict
    from glassformer.runs.load import LoadedModel

CERTIFICATE = "certificate.json"
_MOST_PROVED = 200  # digits: longer ones take minutes, and the proof of every length covers them
_STATUS = {"proved": 0, "refuted": 1, "undecided": 3, "not_applicable": 3}


def prove(
    target: str | Path,
    *,
    real: bool = False,
    any_backend: bool = False,
    seconds: float = 60.0,
    digits: int | None = None,
    out: str | Path | None = None,
    model: str | None = None,
    show: bool = False,
) -> "Verdict":
    """Prove a model right on every input, or find an input where it fails.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        real: prove in exact real arithmetic instead of floating point
        any_backend: prove it of an adder in every IEEE evaluation (JAX, PyTorch, ONNX, GPUs): sums in any
            order, fused or not, functions within 4 units in the last place
        seconds (--time SECONDS): time limit; with --population, per seed; with --bits, of the search
        digits (N): numbers of N digits: of an adder of every length this length alone, of a hand-built one
            (hand-4 to hand-6, the repaired ones) the model that its formulas give for N digits
        out (FILE): where to write the certificate (default: in the run folder or the current folder); with
            --bits, the rounded model
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer prove any-8                             numbers of every length
        glassformer prove any-8 --digits 20                 numbers of twenty digits
        glassformer prove hand-6 --digits 20                the same formulas, computed for twenty digits
        glassformer prove glass-29                          all 10^20 pairs, in the model's own arithmetic
        glassformer prove glass-8 --any-backend             the same, in whatever order sums are added
        glassformer prove nanogpt-58                        refuted, with a pair that it gets wrong
        glassformer prove runs/plus_last_even --time 120    a rule: the exact share of contexts that break it
        glassformer prove runs/modular                      a question: all prompts
        glassformer prove mine.safetensors --model microadder-57
        glassformer prove runs/glass-39 --population        every seed of a run
        glassformer prove glass-8 --bits                    a coarse rounding that stays proved

    Exit status: 0 proved, 1 refuted, 2 bad input, 3 undecided or not applicable;
        of a rule by the contexts that the rule can produce (`lawful` in --json);
        with --population: 0 if at least one seed is proved, else 1

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     verdict = prove("glass-8", out=Path(folder) / "certificate.json")
    >>> verdict.verdict, verdict.inputs, round(verdict.smallest_margin, 3)
    ('proved', '100000000000000000000', 6.436)
    """
    from glassformer.proofs.prove import prove_model
    from glassformer.runs.load import load_model
    from glassformer.runs.seal import seal_written_files

    require_value(seconds > 0, "time", "above 0 seconds", seconds)
    loaded, digits = load_model(target, model), read_digits(digits, _MOST_PROVED)
    adder = loaded.with_digits(digits)
    path = Path(out) if out is not None else _choose_certificate(loaded, real, any_backend, digits)
    with (
        show_status(f"proving {target}, at most {seconds:g} s", show),
        seal_written_files(loaded.folder, path),
    ):
        return prove_model(
            adder,
            adder.task,
            loaded.data,
            loaded.origin,
            real,
            seconds,
            path,
            any_backend=any_backend,
            is_one_length=digits is not None,
        )


def _choose_certificate(loaded: "LoadedModel", real: bool, any_backend: bool, digits: int | None) -> Path:
    """In a run's folder, or beside the user; real numbers, any backend and one length have one apart."""
    name = f"real.{CERTIFICATE}" if real else f"any.{CERTIFICATE}" if any_backend else CERTIFICATE
    name = name if digits is None else f"{digits}-digits.{name}"
    return loaded.folder / name if loaded.folder else Path(f"{loaded.name}.{name}")


def answer_prove(result: "Verdict", request: Request) -> Answer:
    """The verdict in a line, then what it rests on."""
    from glassformer.proofs import verdict_words as words
    from glassformer.runs.load import load_model

    task = load_model(request.target, request.options["model"]).task
    lines = [f"{result.target}: {words.describe_verdict(result, task)}"]
    if result.classes["total"]:
        counts = ", ".join(f"{count:,} {name}" for name, count in result.classes.items() if name != "total")
        lines.append(f"  {result.classes['total']:,} classes of inputs: {counts}; {result.seconds:.2f} s")
    if result.verdict == "proved" and result.hardest is not None:
        hardest = words.format_hardest_input(result, task)
        lines.append(f"  smallest margin {result.smallest_margin:.4g}, at {hardest}")
        if result.rounding_bound and result.arithmetic != "real":
            most = f"at most {2 * result.rounding_bound:.2g}"
            if 2 * result.rounding_bound > (result.smallest_margin or 0.0):
                most += ", and nowhere by as much as that gap"
            lines.append(f"  {result.arithmetic} rounding changes a logit gap by {most}")
    lines += [f"  {line}" for line in words.describe_error_shares(result, task)]
    if less := result.details.get("certified"):
        lines.append(f"  the certificate holds less: {less}")
    if result.certificate:
        lines.append(f"next: glassformer check {result.certificate}")
    elif request.options["out"]:
        lines.append("  no certificate was written: none can hold this proof (docs/certificate.md)")
    return Answer(result.content(), "\n".join(lines), _STATUS[result.main_verdict])


@dataclass(frozen=True)
class PopulationVerdict:
    """What `glassformer prove --population --json` prints."""

    target: str
    seeds: int
    proved: int  # seeds; so are the next three
    refuted: int
    undecided: int
    not_applicable: int
    rows: list[dict[str, Any]]  # per seed: its verdict and margin
    seconds: float


def prove_population(target: str | Path, *, seconds: float = 60.0, show: bool = False) -> PopulationVerdict:
    """Prove every seed of a run (adders and questions).

    Args:
        target (TARGET): a run folder or a run's name
        seconds (--time SECONDS): time limit per seed
        show: show progress on standard error
    """
    from glassformer.core.atomic import read_arrays
    from glassformer.proofs.population import prove_seeds
    from glassformer.runs.load import load_model
    from glassformer.runs.seal import require_unchanged

    require_value(seconds > 0, "time", "above 0 seconds", seconds)
    loaded = load_model(target)
    task, path = loaded.task, Path(loaded.origin).parent / "population.safetensors"
    if not task.proves_seeds:
        raise UserError(f"--population is for adders and questions; {target} {task.words.ability}")
    if not path.exists():
        raise UserError(f"{target} has no population: --population is for the folder of a finished run")
    require_unchanged(path)
    everyone, _ = read_arrays(path)
    seeds = [int(seed) for seed in everyone.pop("seed")]
    began = clock.perf_counter()
    with show_count_bar(len(seeds), show, "seeds") as tell:
        proofs = prove_seeds(loaded.architecture, everyone, seeds, task, seconds, tell)
    counts = {verdict: sum(one.verdict == verdict for one in proofs) for verdict in _STATUS}
    rows, took = [asdict(one) for one in proofs], round(clock.perf_counter() - began, 3)
    return PopulationVerdict(str(target), len(seeds), **counts, rows=rows, seconds=took)


def answer_prove_population(result: PopulationVerdict, request: Request) -> Answer:
    """How many seeds are proved, and which; status 0 where at least one is."""
    from glassformer.proofs.verdict_words import describe_proved_inputs
    from glassformer.runs.load import load_model

    proved: Sequence[str] = [str(row["seed"]) for row in result.rows if row["verdict"] == "proved"]
    loaded = load_model(request.target)
    right = describe_proved_inputs(loaded.task, loaded.architecture)
    named = f" (seeds {', '.join(proved)})" if proved else ""
    words = f"{result.target}: {result.proved} of {result.seeds} seeds {right}{named}; {result.seconds:.1f} s"
    return Answer(asdict(result), words, 0 if proved else 1)
