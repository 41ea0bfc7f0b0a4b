"""What a finished run says: result.json, which is written last, and what reads it back."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.runs.atomic import write_json, write_text
from glassformer.runs.config import Run
from glassformer.runs.folder import stored
from glassformer.runs.seal import RESULT, digest_files
from glassformer.runs.text_files import read_json


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
        from glassformer.page.notebook import frame_of

        page = Path(self.folder) / "page.html"
        return frame_of(page) if page.exists() else None


def write_result(folder: Path, config: Run, result: RunResult) -> RunResult:
    """The report, then the result with the digest of every file: with it the run is complete."""
    from glassformer.commands.report import report_text

    write_text(folder / "report.md", report_text(config, result))
    result = replace(result, digests=digest_files(folder, config.train.keep_checkpoints))
    write_json(folder / RESULT, asdict(result))
    return result


def read_result(folder: Path) -> RunResult:
    """The result of a run that was finished before."""
    try:
        found = RunResult(**(read_json(folder / RESULT) | {"folder": str(folder)}))  # it may have moved since
    except (UserError, TypeError):
        raise damaged_result(folder) from None
    is_good = all(type(getattr(found, name)) is int for name in ("seeds", "best_seed", "parameters"))
    if not is_good or type(found.seconds) not in (int, float):
        raise damaged_result(folder)
    return found


def damaged_result(folder: Path) -> UserError:
    return UserError(f"{folder / RESULT} is damaged; --overwrite makes the run anew")


def summarise(folder: Path, result: RunResult) -> list[str]:
    """What a run's result says, in words."""
    from glassformer.commands.report import summary_lines

    try:
        return summary_lines(stored(folder), result)
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError):  # a stranger's result
        raise damaged_result(folder) from None
