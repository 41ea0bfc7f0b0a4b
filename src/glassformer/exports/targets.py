"""What a model can be exported to: one entry per kind of file, with all that differs.

>>> TARGETS["torch"].name_file("glass-29"), TARGETS["onnx"].name_file("glass-29")
('glass_29_torch.py', 'glass_29.onnx')

Another kind is a module with its writer, an entry here, and its name in `commands/export.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from glassformer.core.errors import UserError
from glassformer.exports.subject import ExportSubject

# Scripts that run the written file in another process: `given` has batches of tokens, each with what the file
# must be told beside them (`digits`, or nothing), and `answer` the logits of each.
_LOAD_MODULE = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("exported", sys.argv[1])
exported = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exported)
given = json.load(sys.stdin)
"""
_RUN_PYTHON = f"""{_LOAD_MODULE}
answer = {{'logits': []}}
for tokens, sizes in given['batches']:
    answer['logits'].append([exported.forward(one, **sizes) for one in tokens])
"""
_RUN_MODULE = """
with torch.no_grad():
    logits = [model(torch.tensor(tokens), **sizes).double().tolist() for tokens, sizes in given['batches']]
"""
_RUN_TORCH = f"""{_LOAD_MODULE}
import torch
torch.set_num_threads(1)
model = exported.Model()
{_RUN_MODULE}
answer = {{'logits': logits}}
"""
_RUN_ADDERBOARD = f"""{_LOAD_MODULE}
import torch
torch.set_num_threads(1)
model, about = exported.build_model()
{_RUN_MODULE}
sums = [[exported.add(model, a, b) for a, b in pairs] for pairs in given['pairs']]
answer = {{'logits': logits, 'sums': sums}}
"""
_RUN_ONNX = """
import json, sys, numpy, onnxruntime
given = json.load(sys.stdin)
session = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])
answer = {'logits': []}
for tokens, sizes in given['batches']:
    inputs = {name: numpy.array(value, numpy.int64) for name, value in {'tokens': tokens, **sizes}.items()}
    answer['logits'].append(session.run(['logits'], inputs)[0].tolist())
"""


@dataclass(frozen=True)
class ExportTarget:
    """One kind of file."""

    ending: str  # of the file's name
    encode: Callable[[ExportSubject], bytes]  # the same bytes for the same model and command
    script: str  # runs the file, for the comparison with the model
    runs_with: str = ""  # the package that the script imports
    install: str = ""  # how to get that package
    inputs: int = 256  # that file and model are compared on
    inputs_if_large: int = 256  # the same for a large model
    writes_sums: bool = False  # the file has a function that adds two numbers

    @property
    def suffix(self) -> str:
        return f".{self.ending.rpartition('.')[2]}"

    @property
    def can_run(self) -> bool:
        """Whether the file can be loaded and compared here."""
        return not self.runs_with or find_spec(self.runs_with) is not None

    def name_file(self, model: str) -> str:
        """A file that Python can import."""
        return "".join(letter if letter.isalnum() else "_" for letter in model) + self.ending


def _encode_torch(subject: ExportSubject) -> bytes:
    from glassformer.exports.torch_file import format_torch_file

    return format_torch_file(subject).encode()


def _encode_adderboard(subject: ExportSubject) -> bytes:
    from glassformer.exports.adderboard_file import format_adderboard_file

    return format_adderboard_file(subject).encode()


def _encode_onnx(subject: ExportSubject) -> bytes:
    if find_spec("onnx") is None:
        raise UserError(f"an ONNX file needs the package onnx: {_INSTALL_ONNX}")
    from glassformer.exports.onnx_file import encode_onnx_file

    return encode_onnx_file(subject)


def _encode_python(subject: ExportSubject) -> bytes:
    from glassformer.exports.python_file import format_python_file

    return format_python_file(subject).encode()


_INSTALL_TORCH = "pip install 'glassformer[torch]'"
_INSTALL_ONNX = "pip install 'glassformer[onnx]'"
TARGETS = {
    "torch": ExportTarget("_torch.py", _encode_torch, _RUN_TORCH, "torch", _INSTALL_TORCH),
    "adderboard": ExportTarget(
        "_adderboard.py", _encode_adderboard, _RUN_ADDERBOARD, "torch", _INSTALL_TORCH, writes_sums=True
    ),
    "onnx": ExportTarget(".onnx", _encode_onnx, _RUN_ONNX, "onnxruntime", _INSTALL_ONNX),
    # Plain Python takes a second per input of a large model.
    "python": ExportTarget("_python.py", _encode_python, _RUN_PYTHON, inputs=32, inputs_if_large=4),
}
