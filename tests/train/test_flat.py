"""Parameters as one vector, and where they start."""

import jax
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.model.architecture import reference
from glassformer.model.forward import parameters
from glassformer.train.flat import Flat, first_values, flat_of
from glassformer.train.streams import stream

SHAPES = st.dictionaries(
    st.text("ab.", min_size=1), st.lists(st.integers(1, 3), max_size=3).map(tuple), min_size=1
)

values_of = jax.jit(first_values, static_argnums=0)


@given(SHAPES, st.lists(st.integers(1, 2), max_size=2))
def test_unpacking_and_packing_are_inverse(shapes, leading):
    flat = Flat(shapes)
    vector = np.arange(np.prod(leading, dtype=int) * flat.size, dtype=float).reshape(*leading, flat.size)
    named = flat.unpack(vector)
    assert {name: array.shape for name, array in named.items()} == {
        name: (*leading, *shape) for name, shape in shapes.items()
    }
    if not leading:
        np.testing.assert_array_equal(flat.pack(named), vector)


def test_the_reference_model_has_250_numbers():
    model = reference(vocab=12)
    assert flat_of(model).size == 250
    assert list(flat_of(model).shapes) == list(parameters(model))


def test_first_values_follow_their_laws():
    model = reference(vocab=200, width=8, context=50, head_size=8)
    named = flat_of(model).unpack(np.asarray(values_of(model, stream(0, "start"))))
    for name, parameter in parameters(model).items():
        values = named[name]
        if parameter.law == "constant":
            assert (values == parameter.scale).all()
        elif parameter.law == "uniform":
            assert 0.9 * parameter.scale < np.abs(values).max() <= parameter.scale
            assert values.min() < 0 < values.max()
        else:
            assert abs(values.std() / parameter.scale - 1) < 0.15


def test_an_array_depends_on_the_seed_and_its_own_name_alone():
    small, large = reference(vocab=12), reference(vocab=30)
    first, second = (
        flat_of(model).unpack(np.asarray(values_of(model, stream(3, "start")))) for model in (small, large)
    )
    for name in ("position.weight", "attn.q.weight", "ff.up.weight"):
        np.testing.assert_array_equal(first[name], second[name])
    assert not np.array_equal(first["attn.q.weight"], first["attn.k.weight"])
    other = flat_of(small).unpack(np.asarray(values_of(small, jax.random.key(1))))
    assert not np.array_equal(first["attn.q.weight"], other["attn.q.weight"])
