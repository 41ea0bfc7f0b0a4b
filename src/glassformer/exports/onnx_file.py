"""A model as an ONNX graph: `tokens` (int64, batch pos) to `logits` (batch pos tok), any batch and length.

Learned parameters are initializers under their dotted names, fixed ones under `fixed_...`; what the trace
names has its name in the graph too, so that a viewer such as Netron shows `attn.scores.0`. An adder of every
length has one more input, `digits`, with a value that counts where none is given.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from glassformer.exports.onnx_erf import add_erf
from glassformer.exports.onnx_rules import add_position_grid, add_rule
from glassformer.exports.simplify import BATCH, POSITIONS, ProgramStep
from glassformer.exports.subject import ExportSubject, clean_docstring_text, format_export_header

_OPSET = 17  # of 2022, which every runtime of today reads; nothing newer is needed
_IR_VERSION = 8  # the format that came with it
_PLAIN = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "neg": "Neg", "exp": "Exp", "sqrt": "Sqrt"}
_PLAIN |= {"sin": "Sin", "cos": "Cos", "abs": "Abs", "relu": "Relu"}
_OPEN = {BATCH: "batch", POSITIONS: "length"}  # sizes that the tokens say
_EINSUM = {"scores": "dqb,dkb->qkb", "mix": "qkb,dkb->dqb"}


def encode_onnx_file(subject: ExportSubject) -> bytes:
    """The whole file."""
    from onnx import checker

    model = _OnnxGraph(subject).model()
    checker.check_model(model, full_check=True)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


class _OnnxGraph:
    """Collects nodes and initializers; `values` says under which name the result of a step is found."""

    def __init__(self, subject: ExportSubject) -> None:
        self.subject = subject
        self.nodes: list[Any] = []
        self.initializers: dict[str, np.ndarray] = {}
        self.values: dict[int, str] = {}

    def model(self) -> Any:
        from onnx import TensorProto, helper, numpy_helper

        self.initializers |= self.subject.learned | self.subject.stored(is_learned=False)
        self.begin()
        for place, step in enumerate(self.subject.steps.steps):
            self.values[place] = self.add_step(place, step)
        self.end(self.values[len(self.subject.steps.steps) - 1])
        vocab, precision = self.subject.loaded.architecture.vocab, self.subject.precision
        kind = TensorProto.FLOAT if precision == "float32" else TensorProto.DOUBLE
        given = [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", "pos"])]
        if self.subject.is_any_length:  # an input with an initializer may be left out
            given.append(helper.make_tensor_value_info("digits", TensorProto.INT64, []))
        found = helper.make_tensor_value_info("logits", kind, ["batch", "pos", vocab])
        stored = [numpy_helper.from_array(array, name) for name, array in self.initializers.items()]
        graph = helper.make_graph(
            self.nodes, clean_docstring_text(self.subject.loaded.name), given, [found], stored
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR_VERSION,
            producer_name="glassformer",
            doc_string=_format_doc_string(self.subject),
        )

    def begin(self) -> None:
        """Tokens as `pos batch`, filled up to the context, if there is one: no position sees a later one."""
        self.node("Shape", ["tokens"], "tokens.shape")
        self.node("Gather", ["tokens.shape", self.integers(0)], "batch")
        self.node("Gather", ["tokens.shape", self.integers(1)], "length")
        if self.subject.is_any_length:
            self.initializer("digits", np.array(self.subject.digits, np.int64))
            self.node("Transpose", ["tokens"], "tokens.turned", perm=[1, 0])
            add_position_grid(self)
            return
        self.node("Sub", [self.integers([self.subject.positions]), self.vector("length")], "missing")
        self.node("Concat", [self.integers([0, 0, 0]), "missing"], "pads", axis=0)
        self.node("Pad", ["tokens", "pads"], "tokens.whole")
        self.node("Transpose", ["tokens.whole"], "tokens.turned", perm=[1, 0])

    def end(self, logits: str) -> None:
        """Back to `batch pos tok`, without the positions that were filled up."""
        if self.subject.is_any_length:
            self.node("Transpose", [logits], "logits", perm=[2, 1, 0])
            return
        self.node("Transpose", [logits], "logits.whole", perm=[2, 1, 0])
        reach = [self.integers([0]), self.vector("length"), self.integers([1])]
        self.node("Slice", ["logits.whole", *reach], "logits")

    def add_step(self, place: int, step: ProgramStep) -> str:
        """The nodes of one step, and the name of its result."""
        names = self.subject.steps.names.get(place, [])
        name = names[0] if names and names[0] != "logits" else f"step.{place}"
        if step.operation == "input":
            return "tokens.turned"
        if step.operation == "parameter":
            return str(step.option)
        if step.operation == "constant" and self.is_computed(place):
            return add_rule(self, self.subject.fixed[place])
        if step.operation == "constant":
            array = np.reshape(np.array(step.option, self.subject.precision), step.shape)
            fixed = self.subject.fixed.get(place)
            return self.initializer(fixed.name if fixed else f"fixed_{place}", array)
        reads = [self.values[read] for read in step.reads]
        if step.operation in _PLAIN:
            return self.node(_PLAIN[step.operation], reads, name)
        if step.operation in _EINSUM:
            return self.node("Einsum", reads, name, equation=_EINSUM[step.operation])
        writer: Callable[[ProgramStep, list[str], str], str] = getattr(self, f"add_{step.operation}")
        return writer(step, reads, name)

    def is_computed(self, place: int) -> bool:
        """Whether the array depends on how many positions there are."""
        fixed = self.subject.fixed.get(place)
        return fixed is not None and fixed.is_rule and self.subject.is_any_length

    def add_sum(self, step: ProgramStep, reads: list[str], name: str) -> str:
        return self.node("ReduceSum", [*reads, self.integers([step.option])], name, keepdims=0)

    def add_join(self, step: ProgramStep, reads: list[str], name: str) -> str:
        return self.node("Concat", reads, name, axis=step.option)

    def add_stack(self, step: ProgramStep, reads: list[str], name: str) -> str:
        axis = self.integers([step.option])
        grown = [self.node("Unsqueeze", [read, axis], f"{name}:{n}") for n, read in enumerate(reads)]
        return self.node("Concat", grown, name, axis=step.option)

    def add_reshape(self, step: ProgramStep, reads: list[str], name: str) -> str:
        return self.node("Reshape", [*reads, self.reshaped(step.shape, name)], name)

    def add_view(self, step: ProgramStep, reads: list[str], name: str) -> str:
        """Slices of the axes that are cut, then axes dropped, turned round and added."""
        axes, option = step.option["axes"], step.option
        sizes = self.subject.steps.steps[step.reads[0]].shape
        value = self.cut(reads[0], step, sizes, name)
        kept = [axis for axis in axes if axis >= 0]
        dropped = [axis for axis in range(len(option["start"])) if axis not in kept]
        if dropped:
            value = self.node("Squeeze", [value, self.integers(dropped)], f"{name}:kept")
        if kept != sorted(kept):
            order = [sorted(kept).index(axis) for axis in kept]
            value = self.node("Transpose", [value], f"{name}:turned", perm=order)
        added = [place for place, axis in enumerate(axes) if axis < 0]
        if added:
            value = self.node("Unsqueeze", [value, self.integers(added)], f"{name}:grown")
        return self.node("Identity", [value], name)

    def cut(self, value: str, step: ProgramStep, sizes: tuple[int, ...], name: str) -> str:
        starts, strides = step.option["start"], step.option["step"]
        counts = dict(zip(step.option["axes"], step.shape, strict=True))
        whole = {axis for axis, size in enumerate(sizes) if counts.get(axis) == size and strides[axis] == 1}
        chosen = [axis for axis in range(len(sizes)) if axis not in whole]
        if not chosen:
            return value
        stops = [starts[axis] + (counts.get(axis, 1) - 1) * strides[axis] + 1 for axis in chosen]
        words = [[starts[axis] for axis in chosen], stops, chosen, [strides[axis] for axis in chosen]]
        return self.node("Slice", [value, *map(self.integers, words)], f"{name}:cut")

    def add_fill(self, step: ProgramStep, reads: list[str], name: str) -> str:
        number = self.initializer(f"fixed_{name}", np.array(step.option, self.subject.precision))
        return self.node("Expand", [number, self.shape(step.shape, name)], name)

    def add_spread(self, step: ProgramStep, reads: list[str], name: str) -> str:
        return self.node("Expand", [*reads, self.shape(step.shape, name)], name)

    def add_lookup(self, step: ProgramStep, reads: list[str], name: str) -> str:
        rows = self.node("Gather", reads, f"{name}:rows", axis=0)  # pos batch dim
        return self.node("Transpose", [rows], name, perm=[2, 0, 1])

    def add_linear(self, step: ProgramStep, reads: list[str], name: str) -> str:
        letters = "pb"[: len(step.shape) - 1]
        product = f"{name}:product" if len(reads) > 2 else name
        self.node("Einsum", reads[:2], product, equation=f"od,d{letters}->o{letters}")
        if len(reads) == 2:
            return product
        column = self.integers([-1, *[1] * len(letters)])
        bias = self.node("Reshape", [reads[2], column], f"{name}:bias")
        return self.node("Add", [product, bias], name)

    def add_softmax(self, step: ProgramStep, reads: list[str], name: str) -> str:
        """Shares over the keys, from exponentials of differences to the largest score, or to 0."""
        top = self.node("ReduceMax", reads, f"{name}:top", axes=[1], keepdims=1)
        if step.option:
            top = self.node("Relu", [top], f"{name}:above")
        powers = self.node("Exp", [self.node("Sub", [*reads, top], f"{name}:below")], f"{name}:powers")
        total = self.node("ReduceSum", [powers, self.integers([1])], f"{name}:total", keepdims=1)
        if step.option:
            nobody = self.node("Exp", [self.node("Neg", [top], f"{name}:under")], f"{name}:nobody")
            part = self.node("Mul", [nobody, self.number(step.option)], f"{name}:extra")
            total = self.node("Add", [total, part], f"{name}:all")
        return self.node("Div", [powers, total], name)

    def add_gelu(self, step: ProgramStep, reads: list[str], name: str) -> str:
        """x times half of 1 + erf(x / sqrt 2)."""
        inner = self.node("Mul", [*reads, self.number(math.sqrt(0.5))], f"{name}:inner")
        is_short = self.subject.precision == "float32"
        erf = self.node("Erf", [inner], f"{name}:erf") if is_short else add_erf(self, inner, name)
        lifted = self.node("Add", [erf, self.number(1.0)], f"{name}:lifted")
        half = self.node("Mul", [lifted, self.number(0.5)], f"{name}:half")
        return self.node("Mul", [*reads, half], name)

    def add_silu(self, step: ProgramStep, reads: list[str], name: str) -> str:
        return self.node("Mul", [*reads, self.node("Sigmoid", reads, f"{name}:gate")], name)

    def add_scatter(self, step: ProgramStep, reads: list[str], name: str) -> str:
        rows, columns = step.shape
        places = [[place // columns, place % columns] for place in step.option]
        empty = self.initializer(f"fixed_{name}", np.zeros((rows, columns), self.subject.precision))
        return self.node("ScatterND", [empty, self.integers(places), *reads], name)

    def node(self, operation: str, reads: list[str], name: str, **attributes: object) -> str:
        from onnx import helper

        self.nodes.append(
            helper.make_node(operation, reads, [name], name=f"{operation}:{name}", **attributes)
        )
        return name

    def initializer(self, name: str, array: np.ndarray) -> str:
        self.initializers[name] = array
        return name

    def number(self, value: float) -> str:
        return self.initializer(f"number:{value!r}", np.array(value, self.subject.precision))

    def integers(self, values: Any) -> str:
        return self.initializer(f"integers:{values}", np.array(values, np.int64))

    def vector(self, name: str) -> str:
        """A single integer as a list of one."""
        grown = f"{name}:list"
        if not any(node.output[0] == grown for node in self.nodes):
            self.node("Unsqueeze", [name, self.integers([0])], grown)
        return grown

    def shape(self, sizes: tuple[int, ...], name: str) -> str:
        """A shape whose batch, and number of positions where that is open, are those of the tokens."""
        if not _OPEN.keys() & set(sizes):
            return self.integers(list(sizes))
        parts = [self.vector(_OPEN[size]) if size in _OPEN else self.integers([size]) for size in sizes]
        return self.node("Concat", parts, f"{name}:shape", axis=0)

    def reshaped(self, sizes: tuple[int, ...], name: str) -> str:
        """The same for Reshape, which takes -1 for the batch."""
        return self.shape(sizes, name) if POSITIONS in sizes else self.integers(list(sizes))


def _format_doc_string(subject: ExportSubject) -> str:
    """The header; for numbers of any length it names both inputs."""
    call = "Inputs are `tokens` and `digits`: n, an int64 without axes, {digits} if not given."
    return format_export_header(subject, "onnx", call=call).strip('"')
