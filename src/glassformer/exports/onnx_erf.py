"""The error function in float64 as nodes of a graph, for runtimes that have it in float32 alone."""

import math

import numpy as np

from glassformer.exports.onnx_rules import GraphWriter

_TERMS, _FAR = 160, 6.0  # of the series of erf; from _FAR on erf is 1 in float64
_TINY = 1e-300  # instead of 0 where a logarithm is taken


def add_erf(graph: GraphWriter, x: str, name: str) -> str:
    """erf x = 2 / sqrt(pi) x exp(-x^2) sum of (2 x^2)^n / (2n + 1)!!: runtimes have none in float64.

    All terms have one sign, so that nothing cancels; at 6, where erf is 1, 160 are enough.
    """
    order = np.arange(_TERMS, dtype=np.float64)
    factorials = np.cumsum(np.log(2 * order + 1))
    near = graph.node("Clip", [x, graph.number(-_FAR), graph.number(_FAR)], f"{name}:near")
    square = graph.node("Mul", [near, near], f"{name}:square")
    doubled = graph.node("Add", [square, square], f"{name}:doubled")
    log = graph.node(
        "Log", [graph.node("Max", [doubled, graph.number(_TINY)], f"{name}:safe")], f"{name}:log"
    )
    column = graph.node("Unsqueeze", [log, graph.integers([-1])], f"{name}:column")
    scaled = graph.node("Mul", [column, graph.initializer("fixed_orders", order)], f"{name}:scaled")
    shifted = graph.node(
        "Sub", [scaled, graph.initializer("fixed_factorials", factorials)], f"{name}:shifted"
    )
    terms = graph.node("Exp", [shifted], f"{name}:terms")
    series = graph.node("ReduceSum", [terms, graph.integers([-1])], f"{name}:series", keepdims=0)
    bell = graph.node("Exp", [graph.node("Neg", [square], f"{name}:minus")], f"{name}:bell")
    product = graph.node("Mul", [graph.node("Mul", [near, bell], f"{name}:slope"), series], f"{name}:product")
    return graph.node("Mul", [product, graph.number(2 / math.sqrt(math.pi))], f"{name}:erf")
