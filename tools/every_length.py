"""Fill the constants of the theorem into docs/every-length.md, from the proof and the certificate of any-8.

python -m tools.every_length
"""

import time
from pathlib import Path

from glassformer.checker.certificate import check_certificate
from glassformer.proofs.every_length import EveryLengthProof, prove_every_length
from glassformer.proofs.every_length_certificate import make_every_length_certificate
from glassformer.proofs.window import bound_far_share
from glassformer.runs.load import LoadedModel, load_model

PAGE = Path("docs/every-length.md")
BEGIN, END = "<!-- constants -->\n", "<!-- end -->"
NAMES = {
    "token.amplitude": "A",
    "token.stride": "r",
    "attn.relation.sharpness": "c",
    "attn.relation.peak": "μ",
    "attn.out.b": "b",
    "ff.up.p": "p",
    "head.u": "u",
    "head.v": "v",
}
MODELS = ("any-8", "any-7", "any-6")


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + BEGIN + format_constants() + END + rest.partition(END)[2], encoding="utf-8")


def format_constants() -> str:
    """The section between the marks."""
    rows = [describe_model(name) for name in MODELS]
    lines = ["## The constants", "", "As the certificates of the shipped models have them:", ""]
    lines += [f"| | {' | '.join(f'`{name}`' for name in MODELS)} |", "|---" * (len(MODELS) + 1) + "|"]
    lines += [f"| {label} | {' | '.join(row[label] for row in rows)} |" for label in rows[0]]
    return "\n".join(lines) + "\n"


def describe_model(name: str) -> dict[str, str]:
    """What the proof of one model rests on, by label."""
    model = load_model(name)
    proof = prove_every_length(model, model.addition)
    certificate = make_every_length_certificate(proof, model, model.addition, name)
    checked = check_certificate(certificate)
    assert proof.window and checked.valid, name
    return {
        "parameters": describe_parameters(model),
        "window: L columns down, U up": f"{proof.window.below}, {proof.window.above}",
        "N = L + U + 2": str(proof.window.longest),
        "left and right side of (1) at m = U + 1": describe_edge(model, proof, proof.window.above + 1),
        "left and right side of (1) at m = -L - 1": describe_edge(model, proof, -proof.window.below - 1),
        "lengths proved one by one": f"1 to {len(proof.lengths)}",
        "classes of pairs, all proved": f"{proof.classes['proved']:,}",
        "smallest margin of the right logit": f"{proof.smallest_margin:.4f}",
        "no margin is below": f"{checked.margin_bound:.4f}",
        "float32 moves a gap by at most (twice `rounding_bound`)": f"{2 * (proof.rounding_bound or 0.0):.3f}",
        "τ, share of all far keys in real numbers": f"{bound_far_share(model, proof.window):.1e}",
    }


def describe_parameters(model: LoadedModel) -> str:
    values = [f"{short} = {float(model.params[name].ravel()[0]):.6g}" for name, short in NAMES.items()]
    return ", ".join(values)


def describe_edge(model: LoadedModel, proof: EveryLengthProof, m: int) -> str:
    """Both sides of inequality (1), rounded."""
    sharpness, peak = (float(model.params[f"attn.relation.{name}"][0]) for name in ("sharpness", "peak"))
    nearest = min(peak**2, (1 - peak) ** 2)
    return f"{sharpness * (m - peak) ** 2:.2f} ≥ {105 + sharpness * nearest:.2f}"


if __name__ == "__main__":
    began = time.perf_counter()
    main()
    print(f"{PAGE} written in {time.perf_counter() - began:.1f} s")
