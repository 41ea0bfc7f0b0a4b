"""The page's arithmetic alone, in a real browser: programs and arrays go in, arrays come out, without loss."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from playwright.sync_api import Page

from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.models.program import trace_programs
from glassformer.pages.model_part import make_layer_part
from glassformer.pages.modules import join_modules
from glassformer.pages.pack import pack_array, pack_arrays

# Functions that are called with plain data and answer with it: arrays travel as base64.
CALLS = """
function packedAgain(tensor) {
  const bytes = new Uint8Array(Float64Array.from(tensor.data).buffer);
  let text = "";
  for (let n = 0; n < bytes.length; n += 8192) text += String.fromCharCode(...bytes.subarray(n, n + 8192));
  return { shape: tensor.shape, data: btoa(text) };
}
function run({ program, inputs, batch, names }) {
  const arrays = Object.fromEntries(Object.entries(inputs).map(([name, array]) => [name, unpack(array)]));
  const found = evaluate(program, arrays, batch);
  return Object.fromEntries((names ?? Object.keys(program.names)).map((name) => [name, packedAgain(found(name))]));
}
window.engine = { run, erf, createLab, unpack, packedAgain };
"""


class Engine:
    """`engine.run(program, inputs, batch)` is what the page computes, as NumPy arrays."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_content(f"<script type='module'>{join_modules('pages/assets/lab.js')}\n{CALLS}</script>")
        page.wait_for_function("() => window.engine !== undefined")

    def run(
        self, program: Any, inputs: Mapping[str, np.ndarray], batch: int, names: list[str] | None = None
    ) -> dict[str, np.ndarray]:
        call = {"program": program, "inputs": pack_arrays(inputs), "batch": batch, "names": names}
        found = self.page.evaluate("(call) => engine.run(call)", call)
        return {name: array_of(content) for name, content in found.items()}

    def evaluate(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)


def array_of(content: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(content["data"]), "<f8").reshape(content["shape"])


def small_payload(
    architecture: Architecture, params: Mapping[str, np.ndarray], places: int
) -> dict[str, Any]:
    """A page's data without its words: enough for the laboratory."""
    stored = list_parameters(architecture)
    listed = [{"name": name, "shape": list(parameter.shape)} for name, parameter in stored.items()]
    size = {"vocab": architecture.vocab, "context": architecture.context, "width": architecture.width}
    layers = [make_layer_part(architecture, index) for index in range(len(architecture.layers))]
    model = {**size, "places": places, "parameters": listed, "layers": layers}
    return {
        "model": {**model, "programs": trace_programs(architecture, places)},
        "weights": pack_arrays(params),
        "training": None,
        "population": None,
        "story": [],
        "colours": {"light": {}, "dark": {}},
    }


def packed_steps(steps: Mapping[int, Mapping[str, np.ndarray]]) -> dict[str, Any]:
    """Checkpoints as a page has them."""
    names = next(iter(steps.values()))
    arrays = {name: pack_array(np.stack([params[name] for params in steps.values()])) for name in names}
    return {"steps": list(steps), "params": arrays, "best_seed": 0, "rows": [], "floor": None}
