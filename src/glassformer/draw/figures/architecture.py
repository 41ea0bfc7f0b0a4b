"""Architecture: every operation with the shapes of its arrays and its parameters, every wire with its shape.

The reference model of width 2 has 250 parameters, 162 of them in its feed-forward layer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from jaxtyping import Int
from matplotlib.figure import Figure

from glassformer.draw.graph.drawing import draw_graph
from glassformer.draw.graph.layout import Box, Stage, Wire, graph_height
from glassformer.draw.graph.parts import (
    TIMES,
    Facts,
    attention_parts,
    entry,
    feedforward_parts,
    heads_text,
    named,
    times,
)
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import LINE, MARGIN, PAGE, POINTS, SMALL, sheet, wrapped
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme
from glassformer.model.architecture import Layer
from glassformer.model.forward import prefix
from glassformer.model.head import TiedHead
from glassformer.model.position import Learned, NoPosition
from glassformer.model.token import Table

NOTE = (
    "In a box: the shapes of its stored arrays, and how many parameters that makes; the fuller its colour, "
    f"the more. On a wire: places {TIMES} dimensions (heads first, where there are several)."
)


def compute(subject: Subject) -> Data:
    stored = {name: array.shape for name, array in subject.model.params.items()}
    seen = {name: array.shape for name, array in subject.model.trace(example(subject)).items()}
    stages = tuple(stages_of(Facts(subject.model.architecture, stored, seen)))
    return {
        "stages": stages,
        "counts": np.array([stage.count for stage in stages]),
        "total": sum(map(prod, stored.values())),
        "fixed": len(subject.model.architecture.fixed),
        "largest": max(stages, key=lambda stage: stage.count),
    }


def example(subject: Subject) -> Int[np.ndarray, " pos"]:
    """Some tokens that fill the context."""
    return np.arange(subject.context) % len(subject.tokens)


def stages_of(facts: Facts) -> Iterator[Stage]:
    """Embedding, each layer's attention and feed-forward, read-out; the stream's name goes from one on."""
    stream = f"e: {facts.wire('embedded')}"
    yield embedding(facts)
    for index, layer in enumerate(facts.shape.layers):
        for name, stage in layer_stages(facts, layer, index):
            yield replace(stage, given=stream)
            stream = name
    yield replace(read_out(facts), given=stream)


def embedding(facts: Facts) -> Stage:
    """Tokens, and places where they are told."""
    shape = facts.shape
    places, width = facts.seen["embedded"]
    table = () if isinstance(shape.token, Table) else (shape.token.kind,)
    boxes = [
        facts.box("token ids", 0, (0, 1), lines=(f"0 to {shape.vocab - 1}",)),
        facts.box("tokens", 1, (0, 1), "token", lines=table),
    ]
    wires = [Wire("token ids", "tokens", str(places))]
    last = "tokens"
    if shape.position_dims or not isinstance(shape.position, NoPosition):
        where = () if isinstance(shape.position, Learned) else (shape.position.kind,)
        last = "stack" if shape.position_dims else "add"
        boxes += [
            facts.box("places", 0, (1, 2), lines=(f"0 to {places - 1}",)),
            facts.box("positions", 1, (1, 2), "position", lines=where),
            facts.box(last, 2, (0, 2)),
        ]
        joined = shape.position_dims or width
        wires += [
            Wire("places", "positions", str(places)),
            Wire("tokens", last, times(places, shape.token_dims)),
            Wire("positions", last, times(places, joined)),
        ]
    wires.append(Wire(last, "", facts.wire("embedded")))
    return stage("embedding", "", boxes, wires)


def stage(
    title: str, about: str, boxes: Sequence[Box], wires: Sequence[Wire], skip: bool | None = None
) -> Stage:
    """A stage with its count said."""
    count = sum(box.count for box in boxes)
    said = f"{about}\n{count:,} parameters" if about else f"{count:,} parameters"
    return Stage(title, said, tuple(boxes), tuple(wires), skip)


def layer_stages(facts: Facts, layer: Layer, index: int) -> Iterator[tuple[str, Stage]]:
    """Each part of a layer, and what the stream is called after it."""
    name, several = prefix(facts.shape, index), len(facts.shape.layers) > 1
    suffix, mark = (f", layer {index}", index) if several else ("", "")
    stream = facts.wire(f"{name}stream")
    if layer.attention:
        boxes, wires = attention_parts(facts, layer, layer.attention, name)
        about = heads_text(layer.attention)
        yield f"z{mark}: {stream}", stage(f"attention{suffix}", about, boxes, wires, layer.residual)
    if layer.feedforward:
        boxes, wires = feedforward_parts(facts, layer, layer.feedforward, name)
        about = f"{facts.seen[f'{name}ff.hidden'][1]:,} units"
        yield f"h{mark}: {stream}", stage(f"feed-forward{suffix}", about, boxes, wires, layer.residual)


def read_out(facts: Facts) -> Stage:
    shape = facts.shape
    norm = facts.norm(shape.final_norm, 1, "final_norm")
    row, head = len(norm), shape.head
    against = ("against the token table",) if isinstance(head, TiedHead) else named(head.kind, "linear")
    places, tokens = facts.seen["logits"]
    boxes = (
        *norm,
        facts.box("head", row, (0, 1), "head", lines=against),
        facts.box("softmax", row + 1, (0, 1), lines=("over the tokens",)),
        facts.box("next token", row + 2, (0, 1), lines=(f"{tokens} probabilities", "at every place")),
    )
    wires = (
        *entry(norm, ("head",), facts.wire("final")),
        Wire("head", "softmax", times(places, tokens)),
        Wire("softmax", "next token", times(places, tokens)),
    )
    return replace(stage("read-out", "", boxes, wires), result=False)


def draw(data: Data, theme: Theme) -> Figure:
    wide = PAGE - 2 * MARGIN
    note = len(wrapped(NOTE, wide - 0.3, SMALL)) * SMALL * LINE / POINTS
    high = graph_height(data["stages"], wide)
    paper = sheet(theme, high + 0.2 + note, title(data))
    draw_graph(paper.part(0, 0, wide, high), data["stages"])
    paper.write(0, high + 0.2, NOTE, SMALL, wide - 0.3, color=theme.muted)
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
