"""Headers that lie: one sentence each, no crash, no hang, no large allocation."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.read.gguf import open_gguf
from glassformer.lens.read.gguf_header import read_gguf_header
from tests.lens.gguf_writer import quantised, tensor_entry, text, value, write_gguf

HUGE = 2**60
LITTLE = 4 << 20  # bytes that reading a small header may take at most


def front(tensors: int = 0, entries: int = 0, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, entries)


def entry(key: str, kind: int, content: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + content


def with_tensors(*entries: bytes, data: int = 64) -> bytes:
    header = front(len(entries)) + b"".join(entries)
    return header + bytes(-len(header) % 32) + bytes(data)


F32, Q8_0 = 0, 8
LIES = {
    "is no GGUF file: it begins with b'GGML'": b"GGML" + front()[4:],
    "is no GGUF file: it begins with b'G'": b"G",
    "big-endian": b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
    "of version 1; versions 2 and 3": front(version=1),
    "of version 0": front(version=0),
    "of version 4": front(version=4),
    f"holds {HUGE} tensors": front(tensors=HUGE),
    f"holds {HUGE} entries": front(entries=HUGE),
    "cut short": front(entries=1) + struct.pack("<Q", HUGE) + bytes(20),
    "a key with an unreadable name, ''": front(entries=1) + entry("", 4, bytes(4)),
    r"a key with an unreadable name, 'a\\nb'": front(entries=1) + entry("a\nb", 4, bytes(4)),
    "the key 'k' twice": front(entries=2) + entry("k", 4, bytes(4)) * 2,
    "a value of unknown type 13 in 'k'": front(entries=1) + entry("k", 13, bytes(8)),
    "a value of unknown type 99 in 'k'": front(entries=1) + entry("k", 9, struct.pack("<IQ", 99, 0)),
    "lists of lists in 'k'": front(entries=1) + entry("k", 9, struct.pack("<IQ", 9, 1) + bytes(12)),
    f"holds {HUGE} values of 'k'": front(entries=1) + entry("k", 9, struct.pack("<IQ", 4, HUGE)),
    f"holds {HUGE + 1} values of 'k'": front(entries=1) + entry("k", 9, struct.pack("<IQ", 8, HUGE + 1)),
    "holds 9 texts of 'k'": front(entries=1) + entry("k", 9, struct.pack("<IQ", 8, 9)) + bytes(10),
    "cut short: .* its 64 bytes": front(entries=1)
    + entry("abc", 9, struct.pack("<IQQ", 8, 2, HUGE))
    + bytes(5),
    "general.alignment '24'": front(entries=1) + text("general.alignment") + value(24),
    "general.alignment '0'": front(entries=1) + text("general.alignment") + value(0),
    "general.alignment '32.0'": front(entries=1) + text("general.alignment") + value(32.0),
    "general.alignment 'x'": front(entries=1) + text("general.alignment") + value("x"),
    "a tensor with an unreadable name": with_tensors(tensor_entry("", (2,), F32, 0)),
    "'w' of 0 axes": with_tensors(tensor_entry("w", (), F32, 0)),
    "'w' of 5 axes": with_tensors(tensor_entry("w", (1,) * 5, F32, 0)),
    "'w' of 4294967295 axes": with_tensors(text("w") + struct.pack("<I", 2**32 - 1) + bytes(40)),
    r"'w' of shape \(2, 0\)": with_tensors(tensor_entry("w", (2, 0), F32, 0)),
    "'w' of unknown type 4$": with_tensors(tensor_entry("w", (2,), 4, 0)),
    "'w' of unknown type 777": with_tensors(tensor_entry("w", (2,), 777, 0)),
    r"shape \(2, 33\), but .* a multiple of 32 columns": with_tensors(tensor_entry("w", (2, 33), Q8_0, 0)),
    "'w' at offset 8, no multiple of 32": with_tensors(tensor_entry("w", (2,), F32, 8)),
    "'w' ends at byte 136, but the file has 128": with_tensors(tensor_entry("w", (2,), F32, 64)),
    "'w' ends at byte .*, but the file has 160$": with_tensors(tensor_entry("w", (2**60, 2**60), F32, 0)),
    "'w' ends at byte 18446744073709551656,": with_tensors(tensor_entry("w", (2,), F32, 2**64 - 32)),
    "the tensor 'w' twice": with_tensors(tensor_entry("w", (2,), F32, 0), tensor_entry("w", (2,), F32, 32)),
    "the tensors 'v' and 'w' in the same bytes": with_tensors(
        tensor_entry("v", (9,), F32, 0), tensor_entry("w", (2,), F32, 32)
    ),
    "holds no tensors": front(),
}


def allocated(work) -> int:
    """Bytes held at the most while some work was done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("expected", LIES)
def test_a_lie_is_one_sentence(tmp_path, expected):
    path = tmp_path / "lie.gguf"
    path.write_bytes(LIES[expected])

    def refused():
        with pytest.raises(UserError, match=expected) as error:
            open_gguf(path)
        assert str(error.value).startswith(str(path))
        assert "\n" not in str(error.value) and len(str(error.value)) < len(str(path)) + 200

    assert allocated(refused) < LITTLE


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small file with something of everything."""
    path = tmp_path_factory.mktemp("whole") / "whole.gguf"
    metadata = {
        "general.alignment": 32,
        "name": "toy",
        "tokens": ["a", "", "bcd"],
        "heads": [3, 4],
        "base": 1e4,
    }
    weights = np.linspace(-1, 1, 512, dtype=np.float32).reshape(2, 256)
    tensors = {"a": quantised("Q4_K", weights), "b": quantised("Q8_0", weights), "c": weights[:, :3].copy()}
    write_gguf(path, metadata, tensors)
    return path.read_bytes()


def test_a_file_cut_anywhere_is_one_sentence(whole):
    read_gguf_header(
        memoryview(whole[: len(whole) - 8]), "whole"
    )  # the last bytes only fill up to the alignment
    for size in range(len(whole) - 8):
        with pytest.raises(UserError, match=r"cut short|no GGUF|but it has|more than can be"):
            read_gguf_header(memoryview(whole[:size]), "cut")


def test_metadata_without_end_is_one_sentence():
    endless = front(entries=20) + b"".join(entry(f"k{i}", 8, text("x" * 2**20)) for i in range(20))
    with pytest.raises(UserError, match="names and metadata of more than 16 MB, which no model has"):
        read_gguf_header(memoryview(endless), "endless")
    many = front(entries=2**18) + b"".join(entry(f"k{i}", 0, b"1") for i in range(2**18))
    with pytest.raises(UserError, match="names and metadata of more than 16 MB, which no model has"):
        read_gguf_header(memoryview(many), "many")


def test_an_empty_file_and_no_file_are_one_sentence(tmp_path):
    empty = tmp_path / "empty.gguf"
    empty.touch()
    with pytest.raises(UserError, match=r"empty.gguf is empty"):
        open_gguf(empty)
    empty.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(UserError, match=r"empty.gguf is a pointer of Git LFS"):
        open_gguf(empty)
    with pytest.raises(UserError, match=r"there is no file .*none.gguf"):
        open_gguf(tmp_path / "none.gguf")


NUMBERS = st.sampled_from([0, 1, 2, 4, 8, 9, 255, 2**31, 2**32 - 1, 2**32, HUGE, 2**63, 2**64 - 1])
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 600),
        st.one_of(st.binary(min_size=1, max_size=3), NUMBERS.map(struct.Struct("<Q").pack)),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=400)
@given(changes=CHANGES, stop=st.integers(0, 4000))
def test_a_changed_header_is_read_or_refused(tmp_path_factory, whole, changes, stop):
    """Whatever is changed: one sentence, or tensors that can be read; never another error or much memory."""
    changed = bytearray(whole)
    for at, content in changes:
        changed[at : at + len(content)] = content
    path = tmp_path_factory.getbasetemp() / "changed.gguf"
    path.write_bytes(changed[: max(1, len(changed) - max(0, stop - 3000))])
    assert allocated(lambda: open_and_read(path)) < LITTLE


def open_and_read(path):
    try:
        tensors = open_gguf(path).tensors
        for tensor in tensors.values():
            block = tensor.block()
            assert block.shape == tensor.matrix_shape
    except UserError as error:
        assert "\n" not in str(error)
