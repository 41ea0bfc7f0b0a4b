"""Architecture: every operation with the shapes of its arrays and its parameters, every wire with its shape.

The reference model of width 2 has 250 parameters, 162 of them in its feed-forward layer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from jaxtyping import Int
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.models.architecture import Layer
from glassformer.models.forward import format_layer_prefix
from glassformer.models.head import TiedHead
from glassformer.models.position import LearnedPosition, NoPosition
from glassformer.models.token import LearnedTable
from glassformer.pictures.graph.drawing import draw_graph
from glassformer.pictures.graph.layout import GraphStage, OperationBox, Wire, measure_graph_height
from glassformer.pictures.graph.parts import (
    TIMES,
    GraphFacts,
    describe_head_count,
    format_array_shape,
    list_unusual_kind,
    make_attention_parts,
    make_entry_wires,
    make_feedforward_parts,
)
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import LINE, MARGIN, PAGE, POINTS, SMALL, make_sheet, wrap_text
from glassformer.pictures.picture import Data

_NOTE = (
    "In a box: the shapes of its stored arrays and their number of parameters; the stronger the "
    f"colour, the more parameters. On a wire: positions {TIMES} dimensions (first heads, if several)."
)


def compute(subject: Subject) -> Data:
    stored = {name: array.shape for name, array in subject.model.params.items()}
    seen = {name: array.shape for name, array in subject.model.trace(_make_example_context(subject)).items()}
    stages = tuple(_make_model_stages(GraphFacts(subject.model.architecture, stored, seen)))
    return {
        "stages": stages,
        "counts": np.array([stage.count for stage in stages]),
        "total": sum(map(prod, stored.values())),
        "fixed": len(subject.model.architecture.fixed),
        "largest": max(stages, key=lambda stage: stage.count),
    }


def _make_example_context(subject: Subject) -> Int[np.ndarray, " pos"]:
    """Some tokens that fill the context."""
    return np.arange(subject.context) % len(subject.tokens)


def _make_model_stages(facts: GraphFacts) -> Iterator[GraphStage]:
    """Embedding, each layer's attention and feed-forward, read-out; the stream's name goes from one on."""
    stream = f"e: {facts.wire('embedded')}"
    yield _make_embedding_stage(facts)
    for index, layer in enumerate(facts.shape.layers):
        for name, stage in _make_layer_stages(facts, layer, index):
            yield replace(stage, given=stream)
            stream = name
    yield replace(_make_readout_stage(facts), given=stream)


def _make_embedding_stage(facts: GraphFacts) -> GraphStage:
    """Tokens, and positions where they are encoded."""
    shape = facts.shape
    places, width = facts.seen["embedded"]
    table = () if isinstance(shape.token, LearnedTable) else (shape.token.kind,)
    boxes = [
        facts.box("token ids", 0, (0, 1), lines=(f"0 to {shape.vocab - 1}",)),
        facts.box("tokens", 1, (0, 1), "token", lines=table),
    ]
    wires = [Wire("token ids", "tokens", str(places))]
    last = "tokens"
    if shape.position_dims or not isinstance(shape.position, NoPosition):
        where = () if isinstance(shape.position, LearnedPosition) else (shape.position.kind,)
        last = "stack" if shape.position_dims else "add"
        boxes += [
            facts.box("position ids", 0, (1, 2), lines=(f"0 to {places - 1}",)),
            facts.box("positions", 1, (1, 2), "position", lines=where),
            facts.box(last, 2, (0, 2)),
        ]
        joined = shape.position_dims or width
        wires += [
            Wire("position ids", "positions", str(places)),
            Wire("tokens", last, format_array_shape(places, shape.token_dims)),
            Wire("positions", last, format_array_shape(places, joined)),
        ]
    wires.append(Wire(last, "", facts.wire("embedded")))
    return _make_counted_stage("embedding", "", boxes, wires)


def _make_counted_stage(
    title: str, about: str, boxes: Sequence[OperationBox], wires: Sequence[Wire], skip: bool | None = None
) -> GraphStage:
    """A stage with its count said."""
    count = sum(box.count for box in boxes)
    said = f"{about}\n{count:,} parameters" if about else f"{count:,} parameters"
    return GraphStage(title, said, tuple(boxes), tuple(wires), skip)


def _make_layer_stages(facts: GraphFacts, layer: Layer, index: int) -> Iterator[tuple[str, GraphStage]]:
    """Each part of a layer, and what the stream is called after it."""
    name, several = format_layer_prefix(facts.shape, index), len(facts.shape.layers) > 1
    suffix, mark = (f", layer {index}", index) if several else ("", "")
    stream = facts.wire(f"{name}stream")
    if layer.attention:
        boxes, wires = make_attention_parts(facts, layer, layer.attention, name)
        about = describe_head_count(layer.attention)
        yield (
            f"z{mark}: {stream}",
            _make_counted_stage(f"attention{suffix}", about, boxes, wires, layer.residual),
        )
    if layer.feedforward:
        boxes, wires = make_feedforward_parts(facts, layer, layer.feedforward, name)
        about = f"{facts.seen[f'{name}ff.hidden'][1]:,} units"
        yield (
            f"h{mark}: {stream}",
            _make_counted_stage(f"feed-forward{suffix}", about, boxes, wires, layer.residual),
        )


def _make_readout_stage(facts: GraphFacts) -> GraphStage:
    shape = facts.shape
    norm = facts.norm(shape.final_norm, 1, "final_norm")
    row, head = len(norm), shape.head
    against = (
        ("against the token table",) if isinstance(head, TiedHead) else list_unusual_kind(head.kind, "linear")
    )
    places, tokens = facts.seen["logits"]
    boxes = (
        *norm,
        facts.box("head", row, (0, 1), "head", lines=against),
        facts.box("softmax", row + 1, (0, 1), lines=("over the tokens",)),
        facts.box("next token", row + 2, (0, 1), lines=(f"{tokens} probabilities", "at every position")),
    )
    wires = (
        *make_entry_wires(norm, ("head",), facts.wire("final")),
        Wire("head", "softmax", format_array_shape(places, tokens)),
        Wire("softmax", "next token", format_array_shape(places, tokens)),
    )
    return replace(_make_counted_stage("read-out", "", boxes, wires), result=False)


def draw(data: Data, theme: Theme) -> Figure:
    wide = PAGE - 2 * MARGIN
    note = len(wrap_text(_NOTE, wide - 0.3, SMALL)) * SMALL * LINE / POINTS
    high = measure_graph_height(data["stages"], wide)
    paper = make_sheet(theme, high + 0.2 + note, title(data))
    draw_graph(paper.part(0, 0, wide, high), data["stages"])
    paper.write(0, high + 0.2, _NOTE, SMALL, wide - 0.3, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    total, largest, fixed = data["total"], data["largest"], data["fixed"]
    stored = f"{total - fixed:,} parameters and {fixed:,} fixed numbers" if fixed else f"{total:,} parameters"
    return f"{stored}, {largest.count:,} of them in the largest part: {largest.title}"


def caption(data: Data) -> str:
    parts = ", ".join(f"{stage.title} {stage.count:,}" for stage in data["stages"])
    return (
        "The computation graph of the model, read from its architecture, with the shapes of the stored "
        "arrays; the shapes on the wires are those of a pass over one full context. A dot marks where a skip "
        "leaves the stream, before any norm, and a circled plus where it is added again. Parameters by part: "
        f"{parts}; {data['total']:,} in all."
    )
