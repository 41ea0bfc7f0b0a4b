"""Architectures: the published sizes of the reference, and sentences for what cannot be."""

import pytest

from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.forward import list_parameters


def size(model: Architecture) -> int:
    return sum(parameter.size for parameter in list_parameters(model).values())


def test_the_reference_model_has_250_numbers():
    model = make_reference_architecture(vocab=12, width=2, context=8)
    assert {name: parameter.size for name, parameter in list_parameters(model).items()} == {
        "token.weight": 24,
        "position.weight": 16,
        "attn.q.weight": 4,
        "attn.k.weight": 4,
        "attn.v.weight": 4,
        "ff.up.weight": 64,
        "ff.up.bias": 32,
        "ff.down.weight": 64,
        "ff.down.bias": 2,
        "head.weight": 24,
        "head.bias": 12,
    }
    assert size(model) == 250


def test_heads_that_do_not_fill_the_width_get_an_output_projection():
    assert "attn.out.weight" in list_parameters(
        make_reference_architecture(vocab=12, width=2, heads=1, head_size=3)
    )
    assert "attn.out.weight" not in list_parameters(
        make_reference_architecture(vocab=12, width=4, heads=2, head_size=2)
    )


def test_names_of_several_layers_carry_their_number():
    names = list_parameters(Architecture(vocab=5, layers=(Layer(), Layer())))
    assert {name.partition(".")[0] for name in names} == {"token", "position", "layer0", "layer1", "head"}


def test_a_layer_may_lack_attention_or_feed_forward():
    half = Architecture(vocab=5, layers=(Layer(attention=None),))
    assert not any(name.startswith("attn") for name in list_parameters(half))
    assert size(Architecture(vocab=5, layers=(Layer(feedforward=None),))) == 10 + 16 + 12 + 15


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"vocab": -1}, "vocab must be at least 0, but it is -1"),
        ({"context": 0}, "context must be at least 1, but it is 0"),
        ({"width": 0}, "width must be at least 1, but it is 0"),
        ({"position_dims": 2}, "position_dims must be between 0 and 1, less than the width, but it is 2"),
        ({"layers": ()}, "layers must be at least one layer, but it is ()"),
    ],
)
def test_bad_settings_get_one_sentence(settings, sentence):
    with pytest.raises(UserError) as error:
        Architecture(**settings)
    assert str(error.value) == sentence
