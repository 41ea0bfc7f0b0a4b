"""The boxes and wires of a layer, from its architecture: what each box stores, what shape each wire has."""

from dataclasses import dataclass
from math import prod

from glassformer.core.words import format_count
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.norm import NoNorm, Norm
from glassformer.models.projection import AnyProjection, FullProjection
from glassformer.pictures.graph.layout import OperationBox, Wire

TIMES, _ROOT, _DOT = "\N{MULTIPLICATION SIGN}", "\N{SQUARE ROOT}", "\N{MIDDLE DOT}"
_BENDS = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}
_Shape = tuple[int, ...]
_Parts = tuple[tuple[OperationBox, ...], tuple[Wire, ...]]


@dataclass(frozen=True)
class GraphFacts:
    """What boxes are made of: the architecture, what is stored, and the shapes that a pass has."""

    shape: Architecture
    stored: dict[str, _Shape]
    seen: dict[str, _Shape]

    def under(self, name: str) -> dict[str, _Shape]:
        """The stored arrays of a part."""
        return {key: shape for key, shape in self.stored.items() if key.startswith(f"{name}.")}

    def wire(self, name: str, heads: int = 1) -> str:
        """The shape of an intermediate: positions x dimensions."""
        places, dims = self.seen[name]
        return (
            format_array_shape(heads, places, dims // heads)
            if heads > 1
            else format_array_shape(places, dims)
        )

    def box(
        self, title: str, row: int, columns: tuple[int, int], *names: str, lines: tuple[str, ...] = ()
    ) -> OperationBox:
        """One that holds what is stored under these names; its key is its title."""
        arrays = [shape for name in names for shape in self.under(name).values()]
        count = f"{sum(map(prod, arrays)):,}" if arrays else ""
        ties = [tie for tie in self.shape.ties if any(tie.name.startswith(f"{name}.") for name in names)]
        said = [*lines, *(f"{tie.name.rpartition('.')[2]} = {tie.to}" for tie in ties)]
        sizes = " + ".join(
            format_array_shape(*shape) or "1" for shape in sorted(arrays, key=len, reverse=True)
        )
        said += [sizes] if sizes != count else []
        return OperationBox(title, title, tuple(said), sum(map(prod, arrays)), row, columns, count)

    def projection(
        self, title: str, row: int, columns: tuple[int, int], kind: AnyProjection, name: str
    ) -> OperationBox:
        return self.box(
            title, row, columns, name, lines=() if isinstance(kind, FullProjection) else (kind.kind,)
        )

    def norm(self, norm: Norm, columns: int, name: str) -> list[OperationBox]:
        """The norm as the first row, if there is one."""
        if isinstance(norm, NoNorm):
            return []
        return [
            self.box(
                "norm", 0, (0, columns), name, lines=("x / rms(x)", *list_unusual_kind(norm.kind, "rms"))
            )
        ]


def describe_head_count(attention: Attention) -> str:
    heads = f"{format_count(attention.heads, 'head')} {TIMES} {attention.head_size}"
    return heads if attention.groups == attention.heads else f"{heads}, {attention.groups} of keys and values"


def make_attention_parts(facts: GraphFacts, layer: Layer, attention: Attention, name: str) -> _Parts:
    heads = attention.heads
    norm = facts.norm(layer.attention_norm, 3, f"{name}attn_norm")
    row = len(norm)
    mixed = ("heads side by side",) if heads > 1 else ()
    boxes = [
        *norm,
        facts.projection("queries", row, (0, 1), attention.q, f"{name}attn.q"),
        facts.projection("keys", row, (1, 2), attention.k, f"{name}attn.k"),
        facts.projection("values", row, (2, 3), attention.v, f"{name}attn.v"),
        facts.box(
            "scores",
            row + 1,
            (0, 2),
            f"{name}attn.qk_norm",
            f"{name}attn.k_norm",
            f"{name}attn.relation",
            lines=_list_score_lines(attention),
        ),
        facts.box(attention.softmax, row + 2, (0, 2), lines=("over the positions",)),
        facts.box("mix", row + 3, (0, 3), lines=(f"weights {_DOT} values", *mixed)),
    ]
    square = format_array_shape(*((heads,) if heads > 1 else ()), *facts.seen[f"{name}attn.scores.0"])
    wires = [
        *make_entry_wires(norm, ("queries", "keys", "values"), facts.wire(f"{name}attn.input")),
        Wire("queries", "scores", facts.wire(f"{name}attn.q", heads)),
        Wire("keys", "scores", facts.wire(f"{name}attn.k", attention.groups)),
        Wire("scores", attention.softmax, square),
        Wire(attention.softmax, "mix", square),
        Wire("values", "mix", facts.wire(f"{name}attn.v", attention.groups)),
    ]
    last = "mix"
    if attention.out:
        last = "output"
        boxes.append(facts.projection(last, row + 4, (0, 3), attention.out, f"{name}attn.out"))
        wires.append(Wire("mix", last, facts.wire(f"{name}attn.mixed")))
    return tuple(boxes), (*wires, Wire(last, "", facts.wire(f"{name}attn.output")))


def _list_score_lines(attention: Attention) -> tuple[str, ...]:
    scale = (
        f" / {_ROOT}{attention.head_size}" if attention.scale is None else f" {TIMES} {attention.scale:.3g}"
    )
    normed = not isinstance(attention.qk_norm, NoNorm) or attention.k_norm is not None
    placed = (attention.relation.score_line,) if attention.relation.score_line else ()
    before = ("q and k normed",) if normed else ()
    return (f"q {_DOT} k{scale}", *before, *placed, "later positions masked")


def make_feedforward_parts(facts: GraphFacts, layer: Layer, feedforward: FeedForward, name: str) -> _Parts:
    gated = feedforward.gate is not None
    columns = 2 if gated else 1
    norm = facts.norm(layer.feedforward_norm, columns, f"{name}ff_norm")
    row, bend = len(norm), _BENDS[feedforward.bend]
    hidden = facts.wire(f"{name}ff.hidden")
    boxes = [*norm, facts.box(bend, row + 1, (0, 1))]
    boxes.append(facts.projection("up", row, (columns - 1, columns), feedforward.up, f"{name}ff.up"))
    first: tuple[str, ...] = ("up",)
    last = bend
    if feedforward.gate:
        boxes.append(facts.projection("gate", row, (0, 1), feedforward.gate, f"{name}ff.gate"))
        boxes.append(facts.box("multiply", row + 2, (0, 2)))
        first, last = ("gate", "up"), "multiply"
    wires = [*make_entry_wires(norm, first, facts.wire(f"{name}ff.input")), Wire(first[0], bend, hidden)]
    wires += [Wire(bend, last, hidden), Wire("up", last, hidden)] if gated else []
    boxes.append(facts.projection("down", row + 2 + gated, (0, columns), feedforward.down, f"{name}ff.down"))
    wires += [Wire(last, "down", hidden), Wire("down", "", facts.wire(f"{name}ff.output"))]
    return tuple(boxes), tuple(wires)


def make_entry_wires(norm: list[OperationBox], targets: tuple[str, ...], shape: str) -> list[Wire]:
    """From the stream to the first boxes, through the norm where there is one."""
    if not norm:
        return [Wire("", target) for target in targets]
    return [Wire("", "norm"), *(Wire("norm", target, shape) for target in targets)]


def list_unusual_kind(kind: str, plain: str) -> tuple[str, ...]:
    """The kind of a part, unless it is the plain one."""
    return () if kind == plain else (kind,)


def format_array_shape(*sizes: int) -> str:
    return f" {TIMES} ".join(map(str, sizes))
