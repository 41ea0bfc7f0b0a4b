"""The units of the small Llama."""

from glassformer.lens.plan import AnalysisRequest, plan_units
from glassformer.lens.treatments import parse_treatments
from tests.lens.small_llama import in_memory_llama


def planned(treatments="raw", layers=(0, 1, 2), **wishes):
    checkpoint, layout = in_memory_llama()
    return (
        checkpoint,
        layout,
        plan_units(checkpoint, layout, AnalysisRequest(layers, parse_treatments(treatments), **wishes)),
    )
