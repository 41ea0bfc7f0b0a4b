"""True certificates to be changed: one and two digits, proved, refuted, run, each checked within two seconds."""

import json
from pathlib import Path
from typing import Any

from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from tests.proofs.small import drawn, nanogpt, tinyadder
from tests.proofs.stacked import stack_layer

Tree = dict[str, Any]


def make_originals() -> dict[str, Tree]:
    """By name, as they come out of their files."""
    stored = Path(__file__).parents[2] / "fuzz/runs/adder/certificate.json"
    made = {name: make_original(*one) for name, one in list_adders().items()}
    return made | {"two axes": json.loads(stored.read_text(encoding="utf-8"))}


def list_adders() -> dict[str, tuple[Any, Any, bool]]:
    """Models, tasks, and whether the proof is in real numbers."""
    one, two, seven = nanogpt(1), nanogpt(2), nanogpt(2, base=7)
    return {
        "one digit": (*one, False),
        "one digit, real": (*one, True),
        "two digits": (*two, False),
        "two digits, float32": (*nanogpt(2, "float32"), False),
        "two layers": (*tinyadder(2), False),
        "drawn": (*drawn("glass-8", 2, 0, "float32"), False),
        "one digit, a layer behind": (stack_layer(one[0], 1e-6), one[1], False),
        "one digit, a layer before": (stack_layer(one[0], 1e-8, behind=False), one[1], False),
        "one digit, a layer behind, real": (stack_layer(one[0], 1e-6), one[1], True),
        "two digits, a layer behind": (stack_layer(two[0], 1e-6), two[1], False),
        "two digits, a layer before": (stack_layer(two[0], 1e-8, behind=False), two[1], False),
        "one digit, run": (stack_layer(one[0], 1e-3), one[1], False),
        "two digits, run": (stack_layer(two[0], 1e-3), two[1], False),
        "two digits of base 7, run": (stack_layer(seven[0], 1e-3), seven[1], False),
        "refuted, a layer behind": (stack_layer(one[0], 1e-1), one[1], False),
    }


def make_original(model: Any, task: Any, real: bool) -> Tree:
    proof = prove_adder(model, task, real=real)
    tree: Tree = json.loads(json.dumps(make_adder_certificate(proof, model, task, "original")))
    return tree
