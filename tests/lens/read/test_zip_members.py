"""Members of a zip file lie where Python's own reader finds them."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.read.zip_members import find_member_start, list_zip_members
from tests.lens.read.test_safetensors import InMemory

NAMES = st.text("abz./_ é漢", min_size=1, max_size=8)


def zipped(members, packing=zipfile.ZIP_STORED, comment=b""):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", packing) as file:
        file.comment = comment
        for name, data in members.items():
            file.writestr(name, data)
    return InMemory(content.getvalue())


@settings(max_examples=20)
@given(st.dictionaries(NAMES, st.binary(max_size=40), max_size=4), st.binary(max_size=30))
def test_every_member_is_where_it_was_written(members, comment):
    source = zipped(members, comment=comment if b"PK" not in comment else b"")
    found = list_zip_members(source)
    assert list(found) == list(members)
    for name, data in members.items():
        start = find_member_start(source, found[name])
        assert source.bytes(start, start + found[name].size).tobytes() == data


def test_packed_members_are_listed_and_refused():
    source = zipped({"a": b"x" * 1000}, zipfile.ZIP_DEFLATED)
    member = list_zip_members(source)["a"]
    assert (member.size, member.is_stored) == (1000, False)
    with pytest.raises(UserError, match="packed or locked"):
        find_member_start(source, member)


def test_a_name_that_comes_twice_is_refused():
    content = zipped({"one": b"1", "two": b"2"}).content.replace(b"two", b"one")
    with pytest.raises(UserError, match="twice"):
        list_zip_members(InMemory(content))


def test_a_file_that_is_cut_short_is_one_sentence():
    whole = zipped({"a": b"12345"}).content
    for length in range(len(whole)):
        with pytest.raises(UserError, match="cut short or damaged"):
            list_zip_members(InMemory(whole[:length]))
