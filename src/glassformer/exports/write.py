"""A model as a file that stands alone, loaded again and compared before it is called equal."""

import time
from dataclasses import dataclass
from pathlib import Path

from glassformer.core.atomic import make_folder, write_bytes
from glassformer.core.errors import UserError, make_unknown_error
from glassformer.exports.check import ExportComparison, compare_export
from glassformer.exports.subject import ExportSubject
from glassformer.exports.targets import TARGETS, ExportTarget
from glassformer.runs.load import load_model


@dataclass(frozen=True)
class ExportResult:
    """What `--json` prints; numbers of the comparison are none where there was none."""

    file: str
    kind: str
    checked_equal: bool | None  # none: not compared
    reason: str  # in words
    inputs: int | None  # that both were given
    logits: int | None  # that were compared
    largest_difference: float | None  # relative to the largest logit of the input
    tolerance: float | None
    winners_agree: bool | None  # at every position of every input
    sums: int | None  # that the file itself wrote; adderboard
    sums_agree: bool | None
    digits: tuple[int, ...] | None  # lengths of numbers compared, of an adder for every length
    sha256: str  # of architecture and parameters, as in a certificate
    bytes: int
    seconds: float


def write_export(
    target: str | Path, to: str, out: str | Path | None, model: str | None, overwrite: bool
) -> ExportResult:
    """Write the model that a target names as a file of a kind, then load that file and compare."""
    began = time.perf_counter()
    if to not in TARGETS:
        raise make_unknown_error("kind of export", to, TARGETS, "glassformer export --help")
    kind = TARGETS[to]
    subject = ExportSubject(load_model(target, model), str(target))
    path = Path(out) if out is not None else Path(kind.name_file(subject.loaded.name))
    content = kind.encode(subject)
    _refuse_other_file(path, kind.suffix, content, overwrite)
    make_folder(path.parent)
    write_bytes(path, content)
    found = compare_export(path, kind, subject.loaded) if kind.can_run else None
    return ExportResult(
        file=str(path),
        kind=to,
        checked_equal=found.is_equal if found else None,
        reason=_describe_comparison(kind, found),
        **(vars(found) if found else dict.fromkeys(ExportComparison.__dataclass_fields__)),
        sha256=subject.sha256,
        bytes=len(content),
        seconds=round(time.perf_counter() - began, 3),
    )


def _refuse_other_file(path: Path, suffix: str, content: bytes, overwrite: bool) -> None:
    """No folder, no other ending; another file is left alone, for it may have been edited since."""
    if path.is_dir() or path.suffix != suffix:
        raise UserError(f"--out must be the name of a file that ends with {suffix}, but it is '{path}'")
    if path.exists() and not overwrite and path.read_bytes() != content:
        raise UserError(f"{path} is there and is another; --overwrite replaces it, --out names another file")


def _describe_comparison(kind: ExportTarget, found: ExportComparison | None) -> str:
    """Why the file counts as equal, or does not."""
    if found is None:
        return f"not compared: {kind.runs_with} is not installed ({kind.install})"
    share = f"{found.logits:,} logits differ by at most {found.largest_difference:.2g} of the largest"
    winners = "all winners agree" if found.winners_agree else "not all winners agree"
    sums = f"; {'the same' if found.sums_agree else 'NOT the same'} {found.sums} sums" if found.sums else ""
    lengths = f" of {', '.join(map(str, found.digits))} digits" if found.digits else ""
    return f"loaded again on {found.inputs} inputs{lengths}: {share}, {winners}{sums}"
