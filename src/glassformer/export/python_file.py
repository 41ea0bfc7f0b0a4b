"""A model as plain Python, with nothing to install: `forward(tokens)` gives the logits of every place."""

from pathlib import Path

from glassformer.export import plain_arrays
from glassformer.export.excerpt import excerpt
from glassformer.export.fixed import Fixed
from glassformer.export.lines import Dialect, Writer, python_name
from glassformer.export.literals import LINE, literal, number, without_ones
from glassformer.export.subject import Subject, header

NAMES = ("exp", "sqrt", "sin", "cos", "relu", "gelu", "silu", "stack", "join")
FUNCTIONS = (*NAMES, "softmax", "scores", "mix", "linear", "lookup", "scatter")
DIALECT = Dialect(
    leaf="",
    words={name: name for name in FUNCTIONS} | {"abs": "absolute", "softmax1": "softmax"},
    full="full({shape}, {number})",
)
READ_AS = "float64"  # Python's own numbers
CODES = {"float32": "f", "float64": "d"}  # of the module `array`


def python_text(subject: Subject) -> str:
    """The whole file: numbers, the pass, and the few operations that it is made of."""
    names = {place: one.name for place, one in subject.fixed.items()}
    body = Writer(subject.steps, DIALECT, names, room=LINE - 4).write()
    used = {DIALECT.words.get(step.operation, step.operation) for step in subject.steps.steps}
    used |= {"Array", "pad"} | ({"full"} if "fill" in used else set())
    used |= {"causal"} if any(one.slope is not None for one in subject.fixed.values()) else set()
    parts = excerpt(Path(plain_arrays.__file__).read_text(encoding="utf-8"), used).replace(
        "  # noqa: N802", ""
    )
    imports = [f"import {name}" for name in ("math", "operator") if f"{name}." in parts]
    extra = f"The file needs nothing but Python; every array is rounded to {subject.precision}."
    return "\n".join(
        [
            header(subject, "python", extra),
            "",
            *imports,
            "from array import array",
            *(["from itertools import repeat"] if "repeat(" in parts else []),
            "",
            f'PRECISION = "{CODES[subject.precision]}"  # of the numbers in an array: {subject.precision}',
            f"PLACES = {subject.places}  # at most",
            "",
            "",
            forward_text(body),
            "",
            "",
            parts,
            "",
            "",
            "# fmt: off",
            *numbers_text(subject),
            "# fmt: on",
            "",
        ]
    )


def forward_text(body: list[str]) -> str:
    """The pass, step by step."""
    return "\n".join(
        [
            "def forward(tokens):",
            '    """The logits after each of the tokens: one list a place."""',
            *(["    batch = 1"] if any("batch" in line for line in body) else []),
            "    length = len(tokens)",
            "    tokens = [[token] for token in pad(tokens, PLACES)]  # pos batch",
            "",
            *(f"    {line}".rstrip() for line in body),
            "",
            "    return [[row[place][0] for row in logits.rows] for place in range(length)]",
        ]
    )


def numbers_text(subject: Subject) -> list[str]:
    """Learned numbers, then fixed ones, each under its name."""
    lines = [f"# {subject.counts['learned']} learned numbers"]
    lines += [array_text(Fixed(python_name(name), array)) for name, array in subject.learned.items()]
    stored = [Fixed(python_name(name), array) for name, array in subject.stored(is_learned=False).items()]
    fixed = [*stored, *subject.fixed.values()]
    return lines + (["# fixed numbers"] if fixed else []) + [array_text(one) for one in fixed]


def array_text(one: Fixed) -> str:
    start = f"{one.name} = "
    if one.slope is not None:
        return f"{start}causal(PLACES{f', {number(one.slope, READ_AS)}' if one.slope else ''})"
    if one.array.dtype.kind == "i":
        return f"{start}{literal(one.array, READ_AS, 0, len(start))}"
    squeezed, shape = without_ones(one.array)
    return f"{start}Array({literal(squeezed, READ_AS, 0, len(start) + 6, len(shape) + 1)}){shape}"
