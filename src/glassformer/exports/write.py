"""A model as a file that stands alone, loaded again and compared before it is called equal."""

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from glassformer.core.atomic import make_folder, write_bytes
from glassformer.core.errors import UserError, make_unknown_error
from glassformer.exports.check import ExportComparison, compare_export
from glassformer.exports.subject import ExportSubject
from glassformer.runs.load import load_model

_ENDINGS = {"torch": ".py", "adderboard": ".py", "python": ".py", "onnx": ".onnx"}
_CHECKED_WITH = {"torch": "torch", "adderboard": "torch", "onnx": "onnxruntime"}  # what the check must import
_INSTALL = {"torch": "pip install 'glassformer[torch]'", "onnxruntime": "pip install 'glassformer[onnx]'"}


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
    sha256: str  # of architecture and parameters, as in a certificate
    bytes: int
    seconds: float


def write_export(
    target: str | Path, to: str, out: str | Path | None, model: str | None, overwrite: bool
) -> ExportResult:
    """Write the model that a target names as a file of a kind, then load that file and compare."""
    began = time.perf_counter()
    if to not in _ENDINGS:
        raise make_unknown_error("kind of export", to, _ENDINGS, "glassformer export --help")
    subject = ExportSubject(load_model(target, model), str(target))
    path = Path(out) if out is not None else Path(_choose_export_name(subject.loaded.name, to))
    content = _make_export_content(subject, to)
    _refuse_other_file(path, to, content, overwrite)
    make_folder(path.parent)
    write_bytes(path, content)
    found = compare_export(path, to, subject.loaded) if _is_installed(_CHECKED_WITH.get(to)) else None
    return ExportResult(
        file=str(path),
        kind=to,
        checked_equal=found.is_equal if found else None,
        reason=_describe_comparison(to, found),
        **(vars(found) if found else dict.fromkeys(ExportComparison.__dataclass_fields__)),
        sha256=subject.sha256,
        bytes=len(content),
        seconds=round(time.perf_counter() - began, 3),
    )


def _make_export_content(subject: ExportSubject, kind: str) -> bytes:
    """The bytes of the file: the same for the same model and command."""
    if kind == "onnx":
        if not _is_installed("onnx"):
            raise UserError(f"an ONNX file needs the package onnx: {_INSTALL['onnxruntime']}")
        from glassformer.exports.onnx_file import encode_onnx_file

        return encode_onnx_file(subject)
    from glassformer.exports.adderboard_file import format_adderboard_file
    from glassformer.exports.python_file import format_python_file
    from glassformer.exports.torch_file import format_torch_file

    writers = {"torch": format_torch_file, "adderboard": format_adderboard_file, "python": format_python_file}
    return writers[kind](subject).encode()


def _choose_export_name(name: str, kind: str) -> str:
    """A file here that Python can import: glass_29_torch.py.

    >>> _choose_export_name("glass-29", "torch"), _choose_export_name("glass-29", "onnx")
    ('glass_29_torch.py', 'glass_29.onnx')
    """
    stem = "".join(letter if letter.isalnum() else "_" for letter in name)
    return stem + ("" if kind == "onnx" else f"_{kind}") + _ENDINGS[kind]


def _refuse_other_file(path: Path, kind: str, content: bytes, overwrite: bool) -> None:
    """No folder, no other ending; another file is left alone, for it may have been edited since."""
    if path.is_dir() or path.suffix != _ENDINGS[kind]:
        raise UserError(
            f"--out must be the name of a file that ends with {_ENDINGS[kind]}, but it is '{path}'"
        )
    if path.exists() and not overwrite and path.read_bytes() != content:
        raise UserError(f"{path} is there and is another; --overwrite replaces it, --out names another file")


def _is_installed(package: str | None) -> bool:
    return package is None or find_spec(package) is not None


def _describe_comparison(kind: str, found: ExportComparison | None) -> str:
    """Why the file counts as equal, or does not."""
    if found is None:
        package = _CHECKED_WITH[kind]
        return f"not compared: {package} is not installed ({_INSTALL[package]})"
    share = f"{found.logits:,} logits differ by at most {found.largest_difference:.2g} of the largest"
    winners = "all winners agree" if found.winners_agree else "not all winners agree"
    sums = f"; {'the same' if found.sums_agree else 'NOT the same'} {found.sums} sums" if found.sums else ""
    return f"loaded again on {found.inputs} inputs: {share}, {winners}{sums}"
