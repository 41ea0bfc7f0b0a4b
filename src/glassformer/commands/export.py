"""`glassformer export`: a model as a file that stands alone, loaded again and compared."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glassformer.core.answer import Answer, Request
from glassformer.core.waiting import show_status

if TYPE_CHECKING:
    from glassformer.exports.write import ExportResult

_STATUS = {True: 0, False: 1, None: 3}


def export(
    target: str | Path,
    to: Literal["torch", "adderboard", "onnx", "python"],
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    model: str | None = None,
    show: bool = False,
) -> "ExportResult":
    """Write a model as a stand-alone file, then load that file and compare.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        to (--to): format of the file
        out (FILE): where to write (default: NAME_torch.py, NAME.onnx and so on)
        overwrite: replace a file of that name
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer export glass-29 --to torch                a PyTorch module, glass_29_torch.py
        glassformer export glass-29 --to adderboard --out mine.py  build_model(), add(model, a, b)
        glassformer export runs/lucky7 --to python            plain Python, nothing to install
        glassformer export mine.safetensors --model glass-39 --to onnx

    Exit status: 0 written and equal to the model, 1 written but not equal, 2 bad input,
        3 written but not compared (PyTorch or onnxruntime is not installed)
    """
    from glassformer.exports.write import write_export

    with show_status(f"exporting {target} and comparing", show):
        return write_export(target, to, out, model, overwrite)


def answer_export(result: "ExportResult", request: Request) -> Answer:
    """Whether the file is equal to the model."""
    verdict = {True: "equal to the model", False: "NOT equal to the model", None: "written"}
    size = f"{result.bytes:,} bytes in {result.seconds:.1f} s"
    words = f"{result.file}: {verdict[result.checked_equal]}; {size}\n  {result.reason}"
    return Answer(asdict(result), words, _STATUS[result.checked_equal])
