"""`glassformer export`: a model as a file that stands alone, loaded again and compared before it is praised.

From Python the same is `glassformer.export("glass-29", "torch")`.
"""

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from glassformer.errors import UserError, unknown
from glassformer.export.check import Compared, compare
from glassformer.export.subject import Subject
from glassformer.runs.atomic import make_folder, write_bytes
from glassformer.runs.load import load

ENDINGS = {"torch": ".py", "adderboard": ".py", "python": ".py", "onnx": ".onnx"}
CHECKED_WITH = {"torch": "torch", "adderboard": "torch", "onnx": "onnxruntime"}  # what the check must import
INSTALL = {"torch": "pip install 'glassformer[torch]'", "onnxruntime": "pip install 'glassformer[onnx]'"}
STATUS = {True: 0, False: 1, None: 3}


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
    winners_agree: bool | None  # at every place of every input
    sums: int | None  # that the file itself wrote; adderboard
    sums_agree: bool | None
    sha256: str  # of architecture and numbers, as in a certificate
    bytes: int
    seconds: float


def export(
    target: str | Path,
    to: str = "torch",
    out: str | Path | None = None,
    model: str | None = None,
    overwrite: bool = False,
) -> ExportResult:
    """Write the model that a target names as a file of a kind, then load that file and compare."""
    began = time.perf_counter()
    if to not in ENDINGS:
        raise unknown("kind of export", to, ENDINGS, "glassformer export --help")
    subject = Subject(load(target, model), str(target))
    path = Path(out) if out is not None else Path(default_name(subject.loaded.name, to))
    content = content_of(subject, to)
    refuse(path, to, content, overwrite)
    make_folder(path.parent)
    write_bytes(path, content)
    found = compare(path, to, subject.loaded) if is_there(CHECKED_WITH.get(to)) else None
    return ExportResult(
        file=str(path),
        kind=to,
        checked_equal=found.is_equal if found else None,
        reason=reason(to, found),
        **(vars(found) if found else dict.fromkeys(Compared.__dataclass_fields__)),
        sha256=subject.sha256,
        bytes=len(content),
        seconds=round(time.perf_counter() - began, 3),
    )


def content_of(subject: Subject, kind: str) -> bytes:
    """The bytes of the file: the same for the same model and command."""
    if kind == "onnx":
        if not is_there("onnx"):
            raise UserError(f"an ONNX file needs the package onnx: {INSTALL['onnxruntime']}")
        from glassformer.export.onnx_file import onnx_bytes

        return onnx_bytes(subject)
    from glassformer.export.adderboard_file import adderboard_text
    from glassformer.export.python_file import python_text
    from glassformer.export.torch_file import torch_text

    writers = {"torch": torch_text, "adderboard": adderboard_text, "python": python_text}
    return writers[kind](subject).encode()


def default_name(name: str, kind: str) -> str:
    """A file here that Python can import: glass_29_torch.py.

    >>> default_name("glass-29", "torch"), default_name("glass-29", "onnx")
    ('glass_29_torch.py', 'glass_29.onnx')
    """
    stem = "".join(letter if letter.isalnum() else "_" for letter in name)
    return stem + ("" if kind == "onnx" else f"_{kind}") + ENDINGS[kind]


def refuse(path: Path, kind: str, content: bytes, overwrite: bool) -> None:
    """No folder, no other ending; another file is left alone, for it may have been edited since."""
    if path.is_dir() or path.suffix != ENDINGS[kind]:
        raise UserError(
            f"--out must be the name of a file that ends with {ENDINGS[kind]}, but it is '{path}'"
        )
    if path.exists() and not overwrite and path.read_bytes() != content:
        raise UserError(f"{path} is there and is another; --overwrite replaces it, --out names another file")


def is_there(package: str | None) -> bool:
    return package is None or find_spec(package) is not None


def reason(kind: str, found: Compared | None) -> str:
    """Why the file counts as equal, or does not."""
    if found is None:
        package = CHECKED_WITH[kind]
        return f"not compared: {package} is not installed ({INSTALL[package]})"
    share = f"{found.logits:,} logits differ by at most {found.largest_difference:.2g} of the largest"
    winners = "all winners agree" if found.winners_agree else "not all winners agree"
    sums = f"; {'the same' if found.sums_agree else 'NOT the same'} {found.sums} sums" if found.sums else ""
    return f"loaded again on {found.inputs} inputs: {share}, {winners}{sums}"


def export_words(result: ExportResult) -> str:
    """The summary for people."""
    verdict = {True: "equal to the model", False: "NOT equal to the model", None: "written"}
    size = f"{result.bytes:,} bytes in {result.seconds:.1f} s"
    return f"{result.file}: {verdict[result.checked_equal]}; {size}\n  {result.reason}"
