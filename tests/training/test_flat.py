"""Parameters as one vector, and where they start."""

import jax
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.training.flat import FlatLayout, make_flat_layout, sample_first_values
from glassformer.training.streams import make_stream_key

SHAPES = st.dictionaries(
    st.text("ab.", min_size=1), st.lists(st.integers(1, 3), max_size=3).map(tuple), min_size=1
)

values_of = jax.jit(sample_first_values, static_argnums=0)


@given(SHAPES, st.lists(st.integers(1, 2), max_size=2))
def test_unpacking_and_packing_are_inverse(shapes, leading):
    flat = FlatLayout(shapes)
    vector = np.arange(np.prod(leading, dtype=int) * flat.size, dtype=float).reshape(*leading, flat.size)
    named = flat.unpack(vector)
    assert {name: array.shape for name, array in named.items()} == {
        name: (*leading, *shape) for name, shape in shapes.items()
    }
    if not leading:
        np.testing.assert_array_equal(flat.pack(named), vector)


def test_the_reference_model_has_250_numbers():
    model = make_reference_architecture(vocab=12)
    assert make_flat_layout(model).size == 250
    assert list(make_flat_layout(model).shapes) == list(list_parameters(model))


def test_first_values_follow_their_laws():
    model = make_reference_architecture(vocab=200, width=8, context=50, head_size=8)
    named = make_flat_layout(model).unpack(np.asarray(values_of(model, make_stream_key(0, "start"))))
    for name, parameter in list_parameters(model).items():
        values = named[name]
        if parameter.law == "constant":
            assert (values == parameter.scale).all()
        elif parameter.law == "uniform":
            assert 0.9 * parameter.scale < np.abs(values).max() <= parameter.scale
            assert values.min() < 0 < values.max()
        else:
            assert abs(values.std() / parameter.scale - 1) < 0.15


def test_an_array_depends_on_the_seed_and_its_own_name_alone():
    small, large = make_reference_architecture(vocab=12), make_reference_architecture(vocab=30)
    first, second = (
        make_flat_layout(model).unpack(np.asarray(values_of(model, make_stream_key(3, "start"))))
        for model in (small, large)
    )
    for name in ("position.weight", "attn.q.weight", "ff.up.weight"):
        np.testing.assert_array_equal(first[name], second[name])
    assert not np.array_equal(first["attn.q.weight"], first["attn.k.weight"])
    other = make_flat_layout(small).unpack(np.asarray(values_of(small, jax.random.key(1))))
    assert not np.array_equal(first["attn.q.weight"], other["attn.q.weight"])
