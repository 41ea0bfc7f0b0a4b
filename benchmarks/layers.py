"""What is decided of an adder with a second layer of attention, by how much that layer writes.

    python -m benchmarks.layers glass-29

A random layer is put before or behind the model's own; the entries of its output projection are normal
numbers of the size in the first column. Size 0 writes nothing. Every certificate is checked.
"""

import argparse
import json
import time

from glassformer.checker.certificate import check_certificate
from glassformer.proofs.adder import prove_adder
from glassformer.proofs.adder_certificate import make_adder_certificate
from glassformer.runs.load import load_model
from tests.proofs.stacked import stack_layer

SIZES = (0.0, 1e-8, 1e-6, 1e-5, 1e-4, 1e-2, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="glass-29", help="an adder of the zoo with one layer")
    parser.add_argument("--time", type=float, default=60.0, help="seconds for one proof")
    asked = parser.parse_args()
    heading = f"{'size':>6} {'layer':<7}{'verdict':<11}{'classes proved':>16}{'margin':>9}{'bound':>9}"
    print(f"{heading}{'CPU s':>7}  check")
    for behind in (True, False):
        for size in SIZES:
            print(describe_stacked(asked.model, size, behind, asked.time), flush=True)


def describe_stacked(name: str, size: float, behind: bool, seconds: float) -> str:
    """One line of the table."""
    model = load_model(name)
    deep, begin = stack_layer(model, size, behind), time.process_time()
    proof = prove_adder(deep, model.addition, seconds=seconds)
    spent = time.process_time() - begin
    certificate = json.loads(json.dumps(make_adder_certificate(proof, deep, model.addition, name)))
    found = check_certificate(certificate)
    classes = f"{proof.classes['proved']:,} of {proof.classes['total']:,}"
    margin, bound = (
        f"{one:.4g}" if one is not None else "" for one in (proof.smallest_margin, proof.margin_bound)
    )
    where = "behind" if behind else "before"
    check = "valid" if found.valid else found.reason
    return f"{size:>6g} {where:<7}{proof.verdict:<11}{classes:>16}{margin:>9}{bound:>9}{spent:>7.1f}  {check}"


if __name__ == "__main__":
    main()
