"""What a finished run says: result.json, which is written last, and what reads it back."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from glassformer.core.atomic import write_json, write_text
from glassformer.core.errors import UserError
from glassformer.core.text_files import read_json
from glassformer.runs.config import Run
from glassformer.runs.folder import read_stored_run
from glassformer.runs.seal import RESULT, digest_files


@dataclass(frozen=True)
class RunResult:
    """What `--json` prints."""

    folder: str
    seconds: float
    seeds: int
    best_seed: int
    argmax_accuracy: dict[str, Any]  # value, low, high, positions: source in the window, or whole answers
    loss: float
    model_steps_per_second: float | None  # while training, compilation left out
    verdict: str | None  # proved, refuted, undecided or not_applicable; none: no proof was asked for
    parameters: int
    sampled_error: float | None = None
    entropy_floor: float | None = None
    measures: dict[str, Any] | None = None  # all the others, by name
    proof: dict[str, Any] | None = None  # as `glassformer prove` prints it
    digests: dict[str, str] = field(default_factory=dict)  # of every file of the run, by its path

    def _repr_html_(self) -> str | None:
        """The run's page, live, in a notebook; nothing where there is none."""
        from glassformer.pages.notebook import make_file_frame

        page = Path(self.folder) / "page.html"
        return make_file_frame(page) if page.exists() else None


def write_result(folder: Path, config: Run, result: RunResult) -> RunResult:
    """The report, then the result with the digest of every file: with it the run is complete."""
    from glassformer.commands.report import make_report

    write_text(folder / "report.md", make_report(config, result))
    result = replace(result, digests=digest_files(folder, config.train.keep_checkpoints))
    write_json(folder / RESULT, asdict(result))
    return result


def read_result(folder: Path) -> RunResult:
    """The result of a run that was finished before."""
    try:
        found = RunResult(**(read_json(folder / RESULT) | {"folder": str(folder)}))  # it may have moved since
    except (UserError, TypeError):
        raise _make_damaged_error(folder) from None
    is_good = all(type(getattr(found, name)) is int for name in ("seeds", "best_seed", "parameters"))
    if not is_good or type(found.seconds) not in (int, float):
        raise _make_damaged_error(folder)
    return found


def _make_damaged_error(folder: Path) -> UserError:
    return UserError(f"{folder / RESULT} is damaged; --overwrite repeats the run")


def summarise_result(folder: Path, result: RunResult) -> list[str]:
    """What a run's result says, in words."""
    from glassformer.commands.report import list_summary_lines

    try:
        return list_summary_lines(read_stored_run(folder), result)
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError):  # a stranger's result
        raise _make_damaged_error(folder) from None
