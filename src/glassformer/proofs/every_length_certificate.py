"""The certificate of a proof for numbers of every length: the window, and the proof of each length it needs.

Of every length it has what an adder's certificate has (`adder_certificate.py`), without the model, which is
there once. docs/certificate.md describes the format.
"""

from typing import Any

from glassformer.models.lengths import lengthen_adder
from glassformer.models.model import Model
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.proofs.certificate import digest_certificate, make_heading
from glassformer.proofs.every_length import EveryLengthProof
from glassformer.tasks import Addition

_SHARED = ("format", "made_with", "model", "backend", "arithmetic", "digest")  # said once for all lengths


def make_every_length_certificate(
    proof: EveryLengthProof, model: Model, task: Addition, origin: str
) -> dict[str, Any]:
    """Everything that another program needs to verify the verdict."""
    lengths = [_make_length(one, model, task, digits) for digits, one in enumerate(proof.lengths, 1)]
    own = make_adder_certificate(proof.lengths[0], model, task, origin)["task"]
    is_proved = proof.verdict == "proved"
    content = make_heading(model, task, origin) | {
        "task": own,
        "arithmetic": proof.arithmetic,
        "backend": proof.backend,
        "verdict": proof.verdict,
        "inputs": proof.inputs,
        "smallest_margin": proof.smallest_margin if is_proved else None,
        "margin_bound": min(one["margin_bound"] for one in lengths) if is_proved else None,
        "counterexample": proof.counterexample,
        "window": [proof.window.below, proof.window.above] if proof.window else None,
        "lengths": lengths,
    }
    return content | {"digest": digest_certificate(content)}


def _make_length(proof: Any, model: Model, task: Addition, digits: int) -> dict[str, Any]:
    """The certificate of one length, without what all lengths share."""
    whole = make_adder_certificate(proof, *lengthen_adder(model, task, digits), "")
    return {name: value for name, value in whole.items() if name not in _SHARED}
