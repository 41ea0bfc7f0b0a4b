"""A model as a PyTorch module in a file of its own: `Model()(tokens)` gives logits `batch pos tok`."""

from glassformer.export.fixed import Fixed
from glassformer.export.lines import Dialect, Writer, key_of, python_name
from glassformer.export.literals import literal, number, without_ones
from glassformer.export.subject import Subject, header, plain

DIALECT = Dialect(
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
FUNCTIONS = {
    "lookup": '''def lookup(table: Tensor, tokens: Tensor) -> Tensor:
    """Row `token` of the table for every token: `pos batch` gives `dim pos batch`."""
    return table[tokens].permute(2, 0, 1)''',
    "linear": '''def linear(weight: Tensor, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """The weight `out dim` times `dim ...`, plus one number an output."""
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
    "scatter": '''def scatter(values: Tensor, places: Tensor, shape: tuple[int, int]) -> Tensor:
    """A matrix of zeros with the values at these places, counted row by row."""
    flat = values.new_zeros(shape[0] * shape[1])
    return flat.index_put((places,), values).reshape(shape)''',
    "causal": '''def causal(places: int, slope: float = 0.0) -> Tensor:
    """Added to scores `query key 1`: a slope a place back, -1e30 for a later place."""
    back = torch.arange(places)[:, None] - torch.arange(places)
    mask = torch.where(back < 0, -1e30, -slope * back.to(torch.float64))
    return mask.to(DTYPE)[:, :, None]''',
}
IMPORTS = "import torch\nfrom torch import Tensor, nn\nfrom torch.nn import functional\n"


def torch_text(subject: Subject) -> str:
    """The whole file."""
    extra = "The file needs PyTorch alone; `Model()` is a module like any other, and can be trained on."
    return "\n".join([header(subject, "torch", extra), "", model_text(subject)])


def model_text(subject: Subject) -> str:
    """Imports, the functions that the pass uses, and the module."""
    operations = {key_of(step) for step in subject.steps.steps}
    masked = any(one.slope is not None for one in subject.fixed.values())
    used = [text for name, text in FUNCTIONS.items() if name in operations or (name == "causal" and masked)]
    parts = [
        IMPORTS,
        f"DTYPE = torch.{subject.precision}",
        f"PLACES = {subject.places}  # at most\n\n",
        "\n\n\n".join([*used, module_text(subject)]),
        "",
    ]
    return "\n".join(parts)


def module_text(subject: Subject) -> str:
    """The class: its numbers, and the pass step by step."""
    names = {place: one.name for place, one in subject.fixed.items()}
    body = Writer(subject.steps, DIALECT, names).write()
    name, needs_batch = plain(subject.loaded.name), any("batch" in line for line in body)
    size = "batch, length = tokens.shape" if needs_batch else "length = tokens.shape[1]"
    return "\n".join(
        [
            "class Model(nn.Module):",
            f'    """{name}: every learned number is a parameter, every fixed one a buffer."""',
            "",
            "    def __init__(self) -> None:",
            "        super().__init__()",
            "        # fmt: off",
            *numbers_text(subject),
            "        # fmt: on",
            "",
            "    def forward(self, tokens: Tensor) -> Tensor:",
            '        """Logits `batch pos tok` for tokens `batch pos`."""',
            f"        {size}",
            "        if length > PLACES:",
            '            raise ValueError(f"at most {PLACES} places, but there are {length}")',
            "        # No place sees a later one: what fills up a shorter input changes nothing.",
            "        tokens = functional.pad(tokens, (0, PLACES - length)).T",
            "",
            *(f"        {line}".rstrip() for line in body),
            "",
            "        return logits.permute(2, 1, 0)[:, :length]",
        ]
    )


def numbers_text(subject: Subject) -> list[str]:
    """Parameters, then buffers, each under its name."""
    precision = subject.precision
    lines = [f"        # {subject.counts['learned']} learned numbers"]
    for name, array in subject.learned.items():
        start = f"        self.{python_name(name)} = nn.Parameter(torch.tensor("
        text = literal(array, precision, 8, len(start), len(", dtype=DTYPE))"))
        lines.append(f"{start}{text}, dtype=DTYPE))")
    stored = [Fixed(python_name(name), array) for name, array in subject.stored(is_learned=False).items()]
    fixed = [*stored, *subject.fixed.values()]
    lines += ["        # fixed numbers"] if fixed else []
    return lines + [buffer_text(one, precision) for one in fixed]


def buffer_text(one: Fixed, precision: str) -> str:
    start = f'        self.register_buffer("{one.name}", '
    if one.slope is not None:
        slope = f", {number(one.slope, 'float64')}" if one.slope else ""
        return f"{start}causal(PLACES{slope}), persistent=False)"
    squeezed, shape = without_ones(one.array)
    kind = "torch.int64" if one.array.dtype.kind == "i" else "DTYPE"
    end = f", dtype={kind}){shape}, persistent=False)"
    text = literal(squeezed, precision, 8, len(start) + len("torch.tensor("), len(end))
    return f"{start}torch.tensor({text}{end}"
