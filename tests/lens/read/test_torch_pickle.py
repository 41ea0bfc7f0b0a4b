"""Pickles that never end or make no sense are refused."""

from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.read.torch_pickle import walk_pickle


def test_a_dict_in_itself_and_a_list_of_lists_end():
    assert isinstance(walk_pickle(b"}q\x00X\x01\x00\x00\x00ah\x00s.", "a"), dict)
    doubling = b"]" + b"q\x00]h\x00ah\x00a" * 200 + b"."
    assert isinstance(walk_pickle(doubling, "a"), list)


@given(st.binary(max_size=60))
def test_random_pickles(program):
    try:
        walk_pickle(program, "example")
    except UserError as error:
        assert "\n" not in str(error)
