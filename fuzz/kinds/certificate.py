"""Certificates of small adders and of a wrong rule model, with claims changed and digests that fit again."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from fuzz.kinds.kind import Kind
from fuzz.kinds.runs import MODEL_NEEDS
from fuzz.mutate.bytes import mutate_bytes
from fuzz.mutate.text import write_json
from fuzz.mutate.tree import mutate_tree
from fuzz.mutate.values import Raw
from fuzz.place import Place

Tree = dict[str, Any]


def prepare(folder: Path) -> list[Tree]:
    """Proved and refuted ones; each is checked within a second."""
    from glassformer.proofs.adder import prove_adder
    from glassformer.proofs.adder_certificate import make_adder_certificate
    from tests.proofs.small import drawn, nanogpt, tinyadder

    models = [nanogpt(2), tinyadder(2), drawn("glass-8", 2, 0)]
    adders = [
        make_adder_certificate(prove_adder(model, task), model, task, "small") for model, task in models
    ]
    return [json.loads(json.dumps(tree)) for tree in (*adders, refuted_rule())]


def refuted_rule() -> Tree:
    """The certificate of a rule model with random numbers."""
    from glassformer.commands.count_target import make_random_parameters
    from glassformer.models.model import Model
    from glassformer.proofs.rule import prove_rule
    from glassformer.proofs.rule_certificate import make_rule_certificate
    from glassformer.runs.configurations import find_configuration
    from glassformer.tasks import Rule

    run = find_configuration("even_to_odd_transition")
    assert isinstance(run.task, Rule)
    shape = run.architecture
    model = Model(
        shape, {name: array.astype(shape.precision) for name, array in make_random_parameters(shape).items()}
    )
    proof = prove_rule(model, run.task, run.data, 1.0)
    return make_rule_certificate(proof, model, run.task, run.data, "small")


def attempt(random: Random, inputs: list[Tree], place: Place) -> int | None:
    """Check a damaged certificate, from its file or as a tree; status 1 where it does not hold."""
    from glassformer.checker.certificate import check_certificate

    tree = mutate_tree(random.choice(inputs), random, inputs)
    chosen, path = random.random(), place.folder / "certificate.json"
    if chosen < 0.15:
        path.write_bytes(mutate_bytes(write_json(tree), random))
        return 0 if check_certificate(path).valid else 1
    if isinstance(tree, dict) and chosen < 0.7:
        tree = with_digests(tree)
    path.write_bytes(write_json(tree))
    if chosen > 0.9 or has_raw(tree):
        return 0 if check_certificate(path).valid else 1
    return 0 if check_certificate(tree).valid else 1


def with_digests(tree: Tree) -> Tree:
    """The same with a digest, and a hash of the model, that fit what it now says, where they can be made."""
    with suppress(Exception):  # the damage may be such that there is no hash; the digest still fits
        tree = tree | {"model": tree["model"] | {"sha256": hash_of(tree["model"])}}
    try:
        rest = {key: value for key, value in tree.items() if key != "digest"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError):
        return tree
    return tree | {"digest": hashlib.sha256(text.encode()).hexdigest()}


def hash_of(model: Tree) -> str:
    from glassformer.checker.claims import hash_model_tree
    from glassformer.checker.reading import read_certificate_params
    from glassformer.models.architecture import Architecture
    from glassformer.runs.tree import from_tree

    architecture = from_tree(Architecture, model["architecture"], "")
    return hash_model_tree(
        model["architecture"], architecture.precision, read_certificate_params(architecture, model["params"])
    )


def has_raw(tree: Any) -> bool:
    """Whether only a file can hold it."""
    if isinstance(tree, dict | list):
        return any(has_raw(one) for one in (tree.values() if isinstance(tree, dict) else tree))
    return isinstance(tree, Raw)


KIND = Kind(share=20, needs=(*MODEL_NEEDS, "flint"), prepare=prepare, attempt=attempt)
