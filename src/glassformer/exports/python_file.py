"""A model as plain Python, with nothing to install: `forward(tokens)` gives the logits of every position."""

from pathlib import Path

from glassformer.exports import plain_arrays
from glassformer.exports.excerpt import excerpt_definitions
from glassformer.exports.fixed import FixedArray
from glassformer.exports.lines import Dialect, LineWriter, to_python_name
from glassformer.exports.literals import LINE, format_array_literal, squeeze_array
from glassformer.exports.subject import COMPUTED_SIZES, ExportSubject, format_export_header

_NAMES = ("exp", "sqrt", "sin", "cos", "relu", "gelu", "silu", "stack", "join")
_FUNCTIONS = (*_NAMES, "softmax", "scores", "mix", "linear", "lookup", "scatter")
_DIALECT = Dialect(
    leaf="",
    words={name: name for name in _FUNCTIONS} | {"abs": "absolute", "softmax1": "softmax"},
    full="full({shape}, {number})",
)
_READ_AS = "float64"  # Python's own numbers
_CODES = {"float32": "f", "float64": "d"}  # of the module `array`


def format_python_file(subject: ExportSubject) -> str:
    """The whole file: parameters, the pass, and the few operations that it is made of."""
    names = {place: one.name for place, one in subject.fixed.items()}  # local or not
    body = LineWriter(subject.steps, _DIALECT, names, room=LINE - 4).write()
    used = {_DIALECT.words.get(step.operation, step.operation) for step in subject.steps.steps}
    used |= (
        {"Array"} | ({"full"} if "fill" in used else set()) | (set() if subject.is_any_length else {"pad"})
    )
    used |= {name for one in subject.fixed.values() for name in one.rules}
    parts = excerpt_definitions(Path(plain_arrays.__file__).read_text(encoding="utf-8"), used).replace(
        "  # noqa: N802", ""
    )
    imports = [f"import {name}" for name in ("math", "operator") if f"{name}." in parts]
    extra = f"The file needs nothing but Python; every array is rounded to {subject.precision}."
    call = "`forward(tokens, digits=n)` gives the logits; n is {digits} if it is not given."
    return "\n".join(
        [
            format_export_header(subject, "python", extra, call),
            "",
            *imports,
            "from array import array",
            *(["from itertools import repeat"] if "repeat(" in parts else []),
            "",
            f'PRECISION = "{_CODES[subject.precision]}"  # of the numbers in an array: {subject.precision}',
            *([] if subject.is_any_length else [f"POSITIONS = {subject.positions}  # at most"]),
            "",
            "",
            _format_forward_pass(subject, body),
            "",
            "",
            parts,
            "",
            "",
            "# fmt: off",
            *_format_python_arrays(subject),
            "# fmt: on",
            "",
        ]
    )


def _format_forward_pass(subject: ExportSubject, body: list[str]) -> str:
    """The pass, step by step."""
    digits = f", digits={subject.digits}" if subject.is_any_length else ""
    given = "tokens" if subject.is_any_length else "pad(tokens, POSITIONS)"
    return "\n".join(
        [
            f"def forward(tokens{digits}):",
            '    """The logits after each of the tokens: one list per position."""',
            *(["    batch = 1"] if any("batch" in line for line in body) else []),
            "    length = len(tokens)",
            *(f"    {one.name} = {one.format_rule(*COMPUTED_SIZES)}" for one in subject.computed),
            f"    tokens = [[token] for token in {given}]  # pos batch",
            "",
            *(f"    {line}".rstrip() for line in body),
            "",
            "    return [[row[position][0] for row in logits.rows] for position in range(length)]",
        ]
    )


def _format_python_arrays(subject: ExportSubject) -> list[str]:
    """Learned parameters, then fixed ones, each under its name."""
    lines = [f"# {subject.counts['learned']} trainable parameters"]
    lines += [
        _format_array_line(FixedArray(to_python_name(name), array)) for name, array in subject.learned.items()
    ]
    stored = [
        FixedArray(to_python_name(name), array) for name, array in subject.stored(is_learned=False).items()
    ]
    fixed = [*stored, *subject.written]
    return lines + (["# fixed parameters"] if fixed else []) + [_format_array_line(one) for one in fixed]


def _format_array_line(one: FixedArray) -> str:
    start = f"{one.name} = "
    if one.is_rule:
        return f"{start}{one.format_rule('POSITIONS')}"
    if one.array.dtype.kind == "i":
        return f"{start}{format_array_literal(one.array, _READ_AS, 0, len(start))}"
    squeezed, shape = squeeze_array(one.array)
    return (
        f"{start}Array({format_array_literal(squeezed, _READ_AS, 0, len(start) + 6, len(shape) + 1)}){shape}"
    )
