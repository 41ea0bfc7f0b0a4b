"""A model as a PyTorch module in a stand-alone file: `Model()(tokens)` gives logits `batch pos tok`."""

from glassformer.exports.curves import format_curve
from glassformer.exports.fixed import FixedArray
from glassformer.exports.lines import Dialect, LineWriter, choose_dialect_key, to_python_name
from glassformer.exports.literals import format_array_literal, squeeze_array
from glassformer.exports.subject import (
    COMPUTED_SIZES,
    ExportSubject,
    clean_docstring_text,
    format_export_header,
)

_DIALECT = Dialect(
    leaf="self.",
    words={
        **{name: f"torch.{name}" for name in ("exp", "sqrt", "sin", "cos", "abs", "relu", "stack")},
        "gelu": "functional.gelu",
        "silu": "functional.silu",
        "join": "torch.cat",
        **{name: name for name in ("softmax", "softmax1", "scores", "mix", "linear", "lookup", "scatter")},
    },
    full="tokens.new_full({shape}, {number}, dtype=DTYPE)",
)
_FUNCTIONS = {
    "lookup": '''def lookup(table: Tensor, tokens: Tensor) -> Tensor:
    """Row `token` of the table for every token: `pos batch` gives `dim pos batch`."""
    return table[tokens].permute(2, 0, 1)''',
    "linear": '''def linear(weight: Tensor, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """The weight `out dim` times `dim ...`, plus one bias per output."""
    y = (weight @ x.reshape(x.shape[0], -1)).reshape(-1, *x.shape[1:])
    return y if bias is None else y + bias.reshape(-1, *[1] * (y.ndim - 1))''',
    "scores": '''def scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Products `query key batch` of `dim query batch` and `dim key batch`."""
    return (queries.permute(2, 1, 0) @ keys.permute(2, 0, 1)).permute(1, 2, 0)''',
    "softmax": '''def softmax(x: Tensor) -> Tensor:
    """Shares over the keys of `query key batch`."""
    return torch.softmax(x, 1)''',
    "softmax1": '''def softmax1(x: Tensor, extra: float) -> Tensor:
    """Shares over the keys; `extra` is one more part of the whole, which nobody gets."""
    top = x.amax(1, keepdim=True).clamp(min=0.0)
    powers = torch.exp(x - top)
    return powers / (powers.sum(1, keepdim=True) + extra * torch.exp(-top))''',
    "mix": '''def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Sums `dim query batch` of values `dim key batch`, weighted by `query key batch`."""
    return (weights.permute(2, 0, 1) @ values.permute(2, 1, 0)).permute(2, 1, 0)''',
    "scatter": '''def scatter(values: Tensor, indices: Tensor, shape: tuple[int, int]) -> Tensor:
    """A matrix of zeros with the values at these indices, counted row by row."""
    flat = values.new_zeros(shape[0] * shape[1])
    return flat.index_put((indices,), values).reshape(shape)''',
    "causal": '''def causal(positions: int, slope: float = 0.0) -> Tensor:
    """Added to scores `query key 1`: a slope per position back, -1e30 for a later position."""
    back = torch.arange(positions)[:, None] - torch.arange(positions)
    mask = torch.where(back < 0, -1e30, -slope * back.to(torch.float64))
    return mask.to(DTYPE)[:, :, None]''',
    "columns_up": '''def columns_up(positions: int, columns: int) -> Tensor:
    """Columns from a query up to a key, `query key`; no later key counts."""
    query = torch.arange(positions)[:, None]
    key = torch.minimum(query, torch.arange(positions))
    return (key % columns - query % columns).to(DTYPE)''',
    "square_columns": '''def square_columns(positions: int, columns: int, peak: float) -> Tensor:
    """Squared columns from a peak, so many columns above the query, to a key: `query key`."""
    return (columns_up(positions, columns) - peak) ** 2''',
    "mask_columns": '''def mask_columns(positions: int, columns: int, highest: int) -> Tensor:
    """Added to scores `query key`: -1e30 for keys that are later, or more than `highest` columns up."""
    is_later = torch.arange(positions)[:, None] < torch.arange(positions)
    is_hidden = is_later | (columns_up(positions, columns) > highest)
    return torch.where(is_hidden, -1e30, 0.0).to(DTYPE)''',
    "circle": '''def circle(
    positions: int,
    dims: int,
    period: int,
    amplitude: float = 1.0,
    at: int = 0,
    loud: int = 0,
    loud_amplitude: float = 1.0,
) -> Tensor:
    """Position p: amplitude (sin, cos)(2 pi p / period) from dimension `at` on; the first are loud."""
    place = torch.arange(positions, dtype=torch.float64)
    angle = 2 * torch.pi * (place % period) / period
    size = torch.where(place < loud, loud_amplitude, amplitude)
    table = torch.zeros(dims, positions, 1, dtype=DTYPE)
    wave = torch.stack([torch.sin(angle), torch.cos(angle)])
    table[at : at + 2, :, 0] = (size * wave).to(DTYPE)
    return table''',
    "spiral": '''def spiral(
    slots: list[float | None],
    period: float,
    amplitude: float,
    phase: float = 0.0,
    slope: float = 0.0,
    offset: float = 0.0,
) -> Tensor:
    """Slot i: amplitude (cos, sin)(2 pi i / period + phase), slope i + offset; None: 0. `dim pos 1`."""
    turn = torch.tensor([slot or 0.0 for slot in slots], dtype=DTYPE)
    angle = turn * (2 * torch.pi / period) + phase
    circle = amplitude * torch.cos(angle), amplitude * torch.sin(angle)
    is_on_curve = torch.tensor([slot is not None for slot in slots])
    return (torch.stack([*circle, slope * turn + offset]) * is_on_curve)[:, :, None]''',
}
_IMPORT_FUNCTIONAL = "from torch.nn import functional\n"
_IMPORTS = f"import torch\nfrom torch import Tensor, nn\n{_IMPORT_FUNCTIONAL}"


def format_torch_file(subject: ExportSubject) -> str:
    """The whole file."""
    extra = "The file needs PyTorch alone; `Model()` is a module like any other, and can be trained on."
    call = "`Model()(tokens, digits=n)` gives the logits; n is {digits} if it is not given."
    return "\n".join([format_export_header(subject, "torch", extra, call), "", format_torch_model(subject)])


def format_torch_model(subject: ExportSubject) -> str:
    """Imports, the functions that the pass uses, and the module."""
    needed = {choose_dialect_key(step) for step in subject.steps.steps}
    needed |= {name for one in subject.fixed.values() for name in one.rules}
    curves = (_format_curve(subject, one) for one in subject.written)
    needed |= {curve.partition("(")[0] for curve in curves if curve}
    used = [text for name, text in _FUNCTIONS.items() if name in needed]
    body = "\n\n\n".join([*used, _format_module_class(subject)])
    imports = _IMPORTS if "functional." in body else _IMPORTS.replace(_IMPORT_FUNCTIONAL, "")
    parts = [
        imports,
        f"DTYPE = torch.{subject.precision}",
        *([] if subject.is_any_length else [f"POSITIONS = {subject.positions}  # at most"]),
        "\n",
        body,
        "",
    ]
    return "\n".join(parts)


def _format_module_class(subject: ExportSubject) -> str:
    """The class: its parameters, and the pass step by step."""
    computed = [one.name for one in subject.computed]
    names = {
        place: one.name if one.name in computed else f"{_DIALECT.leaf}{one.name}"
        for place, one in subject.fixed.items()
    }
    body = LineWriter(subject.steps, _DIALECT, names).write()
    name, needs_batch = clean_docstring_text(subject.loaded.name), any("batch" in line for line in body)
    size = "batch, length = tokens.shape" if needs_batch else "length = tokens.shape[1]"
    return "\n".join(
        [
            "class Model(nn.Module):",
            f'    """{name}: trainable arrays are parameters, fixed ones are buffers."""',
            "",
            "    def __init__(self) -> None:",
            "        super().__init__()",
            "        # fmt: off",
            *_format_torch_arrays(subject),
            "        # fmt: on",
            "",
            *_format_forward_start(subject, size),
            "",
            *(f"        {line}".rstrip() for line in body),
            "",
            f"        return logits.permute(2, 1, 0){'' if subject.is_any_length else '[:, :length]'}",
        ]
    )


def _format_forward_start(subject: ExportSubject, size: str) -> list[str]:
    """The pass up to its first step: tokens filled up, or what depends on how many there are."""
    if subject.is_any_length:
        return [
            f"    def forward(self, tokens: Tensor, digits: int = {subject.digits}) -> Tensor:",
            '        """Logits `batch pos tok` for tokens `batch pos`; each number has so many digits."""',
            f"        {size}",
            *(
                f"        {one.name} = {one.format_rule(*COMPUTED_SIZES)}.to(tokens.device)"
                for one in subject.computed
            ),
            "        tokens = tokens.T",
        ]
    return [
        "    def forward(self, tokens: Tensor) -> Tensor:",
        '        """Logits `batch pos tok` for tokens `batch pos`."""',
        f"        {size}",
        "        if length > POSITIONS:",
        '            raise ValueError(f"at most {POSITIONS} positions, but there are {length}")',
        "        # No position sees a later one: what fills up a shorter input changes nothing.",
        "        tokens = functional.pad(tokens, (0, POSITIONS - length)).T",
    ]


def _format_torch_arrays(subject: ExportSubject) -> list[str]:
    """Parameters, then buffers, each under its name."""
    precision = subject.precision
    lines = [f"        # {subject.counts['learned']} trainable parameters"]
    for name, array in subject.learned.items():
        start = f"        self.{to_python_name(name)} = nn.Parameter(torch.tensor("
        text = format_array_literal(array, precision, 8, len(start), len(", dtype=DTYPE))"))
        lines.append(f"{start}{text}, dtype=DTYPE))")
    stored = [
        FixedArray(to_python_name(name), array) for name, array in subject.stored(is_learned=False).items()
    ]
    fixed = [*stored, *subject.written]
    lines += ["        # fixed parameters"] if fixed else []
    return lines + [_format_buffer_line(one, precision, _format_curve(subject, one)) for one in fixed]


def _format_curve(subject: ExportSubject, one: FixedArray) -> str | None:
    return format_curve(subject.loaded.architecture, one.array)


def _format_buffer_line(one: FixedArray, precision: str, formula: str | None) -> str:
    start = f'        self.register_buffer("{one.name}", '
    if formula:
        return f"{start}{formula}, persistent=False)"
    if one.is_rule:
        return f"{start}{one.format_rule('POSITIONS')}, persistent=False)"
    squeezed, shape = squeeze_array(one.array)
    kind = "torch.int64" if one.array.dtype.kind == "i" else "DTYPE"
    end = f", dtype={kind}){shape}, persistent=False)"
    text = format_array_literal(squeezed, precision, 8, len(start) + len("torch.tensor("), len(end))
    return f"{start}torch.tensor({text}{end}"
