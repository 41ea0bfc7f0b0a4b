"""The hash of a model is that of its names, shapes, numbers and architecture; a digest that of its content."""

from dataclasses import replace

import numpy as np

from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.proofs.certificate import digest_certificate, hash_model

MODEL = make_reference_architecture(vocab=12)
PARAMS = {name: np.zeros(one.shape, np.float32) for name, one in list_parameters(MODEL).items()}
NAME = "token.weight"


def test_the_same_numbers_have_the_same_hash_however_they_are_held():
    found = hash_model(MODEL, PARAMS)
    backwards = {name: PARAMS[name] for name in reversed(PARAMS)}
    assert hash_model(MODEL, backwards) == found
    assert hash_model(MODEL, PARAMS | {NAME: PARAMS[NAME].astype(">f4")}) == found
    assert hash_model(MODEL, PARAMS | {NAME: PARAMS[NAME].astype(np.float64)}) == found
    assert hash_model(MODEL, PARAMS | {NAME: np.asfortranarray(PARAMS[NAME])}) == found


def test_whatever_differs_has_another_hash():
    nudged = PARAMS[NAME].copy()
    nudged[0, 0] = np.nextafter(np.float32(0), np.float32(1))
    others = [
        hash_model(MODEL, PARAMS | {NAME: nudged}),
        hash_model(MODEL, PARAMS | {NAME: PARAMS[NAME].T}),
        hash_model(MODEL, PARAMS | {"another": PARAMS[NAME]}),
        hash_model(replace(MODEL, context=MODEL.context + 1), PARAMS),
    ]
    assert len({hash_model(MODEL, PARAMS), *others}) == 5


def test_a_digest_depends_on_the_content_and_not_on_its_order():
    assert digest_certificate({"a": 1, "b": [2]}) == digest_certificate({"b": [2], "a": 1})
    assert digest_certificate({"a": 1, "b": [2]}) != digest_certificate({"a": 1, "b": [3]})
