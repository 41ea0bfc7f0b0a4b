import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.rotations import compute_rotation
from glassformer.lens.treatments import (
    LARGEST_OFFSET,
    RAW,
    Treatment,
    compute_turn,
    describe_unused_treatments,
    parse_treatments,
)
from tests.lens.toy_heads import HEAD, ROPE, head_maps, toy

NAMES = st.sampled_from(["raw", "folded", "rope:0", "rope:7", "folded+rope:7", "rope:7+folded"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["raw"]),
        ("raw", ["raw"]),
        ("folded,raw", ["raw", "folded"]),
        (" rope:128 , folded ,", ["raw", "rope:128", "folded"]),
        ("rope:0,rope:00,folded+rope:3,rope:3+folded", ["raw", "rope:0", "folded+rope:3"]),
    ],
)
def test_lists_of_treatments(text, names):
    assert [treatment.name for treatment in parse_treatments(text)] == names


@given(st.lists(NAMES))
def test_names_are_read_back(names):
    found = parse_treatments(",".join(names))
    assert found[0] == RAW and len(set(found)) == len(found)
    assert parse_treatments(",".join(treatment.name for treatment in found)) == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("foldet", "no treatment called 'foldet'; did you mean 'folded'?"),
        ("raw+folded", "the treatment 'raw+folded' adds to raw, which has no treatment"),
        ("folded+", "no treatment called ''"),
        ("rope:", "the treatment 'rope:' needs a number of positions"),
        ("rope", "the treatment 'rope' needs a number of positions"),
        ("rope:-1", "the treatment 'rope:-1' needs"),
        ("rope:1.5", "the treatment 'rope:1.5' needs"),
        ("rope:²", "the treatment 'rope:²' needs"),
        ("rope:" + "9" * 400, "needs a number of positions from 0 to 10000000"),
        (f"rope:{LARGEST_OFFSET + 1}", "needs a number of positions from 0 to 10000000"),
        ("folded+folded", "names a part twice"),
        ("rope:1+rope:2", "names a part twice"),
    ],
)
def test_bad_treatments_are_one_sentence(text, sentence):
    with pytest.raises(UserError) as error:
        parse_treatments(f"raw,{text}")
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_raw_maps_are_the_stored_weights():
    model = toy()
    for head in model.layout.attention:
        maps = head_maps(model.checkpoint, head)
        query, key, value, output = model.plain(head.layer, head.index)
        assert (maps.query == query).all() and (maps.key == key).all()
        assert (maps.value == value).all() and (maps.output == output.T).all()
        assert maps.query.dtype == maps.output.dtype == np.float64


def test_folded_maps_act_on_what_the_norm_divided():
    model = toy()
    head = model.layout.attention[6]
    maps = head_maps(model.checkpoint, head, Treatment(is_folded=True))
    query, key, value, output = model.plain(head.layer, head.index)
    gain, post, of_query, of_key = (model.arrays[f"1.{name}"] for name in ("gain", "post", "nq", "nk"))
    x = np.random.default_rng(5).normal(size=len(gain))  # what the norm's division left
    assert maps.query @ x == pytest.approx(of_query * (query @ ((1 + gain) * x)))
    assert maps.key @ x == pytest.approx(of_key * (key @ ((1 + gain) * x)))
    assert maps.value @ x == pytest.approx(value @ ((1 + gain) * x))
    attended = np.arange(float(HEAD))
    assert maps.output.T @ attended == pytest.approx(post * (output @ attended))


def test_turning_is_the_score_of_a_query_behind_its_key():
    model = toy()
    head = model.layout.attention[0]
    query, key, _, _ = model.plain(0, 0)
    x, y = np.random.default_rng(1).normal(size=(2, query.shape[1]))
    kernel = query.T @ compute_turn(head, Treatment(offset=5), HEAD) @ key
    score = (compute_rotation(ROPE, 12, HEAD) @ query @ x) @ (compute_rotation(ROPE, 7, HEAD) @ key @ y)
    assert x @ kernel @ y == pytest.approx(score)
    other_way = (compute_rotation(ROPE, 7, HEAD) @ query @ x) @ (compute_rotation(ROPE, 12, HEAD) @ key @ y)
    assert x @ kernel @ y != pytest.approx(other_way)


def test_what_is_not_turned():
    model = toy(rope=None)
    assert compute_turn(model.layout.attention[0], Treatment(offset=5), HEAD) is None
    assert compute_turn(toy().layout.attention[0], RAW, HEAD) is None


def test_a_model_without_rotary_positions_gets_a_note():
    asked = parse_treatments("folded,rope:1,folded+rope:2")
    assert describe_unused_treatments(toy().layout, asked) == ()
    assert describe_unused_treatments(toy(rope=None).layout, parse_treatments("folded")) == ()
    assert describe_unused_treatments(toy(rope=None).layout, asked) == (
        "Toy does not turn queries and keys by position: no rope:1, folded+rope:2.",
    )
