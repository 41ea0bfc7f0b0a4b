import json
import math
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.numpy import save

from glassformer.core.errors import UserError
from glassformer.lens.read.mapped import MappedFile
from glassformer.lens.read.safetensors import read_safetensors

FLOATS = [
    np.float64,
    np.float32,
    np.float16,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
]
INTEGERS = [np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8, np.bool_]
SMALL = 2_000_000  # bytes that a small hostile file may make us allocate


class InMemory:
    """A source of bytes that is no file."""

    place = "example"

    def __init__(self, content):
        self.content, self.size = content, len(content)

    def bytes(self, start, stop):
        assert 0 <= start <= stop <= self.size
        return np.frombuffer(self.content, np.uint8)[start:stop]

    def forget(self, start, stop):
        assert 0 <= start <= stop <= self.size


def file_of(header, numbers=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def one(**changes):
    return {"w": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]} | changes}


@pytest.mark.parametrize("kind", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape", [(), (5,), (4, 6), (2, 3, 4), (0, 3), (3, 0)])
def test_every_type_and_shape_as_the_library_writes_it(kind, shape):
    array = np.random.default_rng(0).integers(0, 100, shape).astype(kind)
    tensor = read_safetensors(InMemory(save({"w": array})))["w"]
    block = tensor.block()
    assert tensor.shape == shape and block.shape == tensor.matrix_shape
    assert block.dtype == (np.float64 if kind is np.float64 else np.float32)
    assert np.array_equal(block.ravel(), array.astype(np.float64).ravel())
    tensor.forget()


@pytest.mark.parametrize("kind", FLOATS)
def test_blocks_are_those_of_the_whole(kind):
    array = np.random.default_rng(0).standard_normal((3, 5, 7)).astype(kind)
    tensor = read_safetensors(InMemory(save({"a": np.ones(3, np.int8), "w": array})))["w"]
    whole = array.reshape(15, 7).astype(np.float64)
    for rows in (slice(0, 15), slice(3, 9), slice(14, 15), slice(4, 4), slice(-2, None)):
        for columns in (slice(0, 7), slice(2, 3), slice(6, 99)):
            assert np.array_equal(tensor.block(rows, columns), whole[rows, columns])


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
def test_a_block_of_a_large_tensor_touches_only_that_block(tmp_path, kind):
    path = tmp_path / "w.safetensors"
    path.write_bytes(save({"w": np.ones((1000, 1000), kind)}))
    tracemalloc.start()
    tensor = read_safetensors(MappedFile(path))["w"]
    assert tensor.block(slice(10, 20), slice(0, 10)).sum() == 100
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


DEEP = b'{"w":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    "content, sentence",
    [
        (b"abc", "is no safetensors file: it has 3 bytes"),
        (
            b"\xff" * 30,
            "is no safetensors file: its first 8 bytes name a header of 18446744073709551615 bytes",
        ),
        (file_of(one(), bytes(8))[:30], "is cut short: its header has 64 bytes, but only 22 follow"),
        (file_of(one(), bytes(7)), "is cut short: tensor 'w' ends at byte 80, but the file has 79"),
        (file_of(b"{'w': 1}"), "the header of example is not valid JSON"),
        (file_of(b"\xff\xfe{}"), "the header of example is not valid JSON: it is not UTF-8 text"),
        (file_of(b"[1]"), "must be a JSON object, but it is a list"),
        (file_of(DEEP), "nested too deeply"),
        (file_of(b'{"w":' + b"[" * 40 + b"]" * 40 + b"}"), "nested too deeply"),
        (file_of(b'{"w":{"dtype":"F32","shape":[' + b"9" * 5000 + b"]}}"), "not valid JSON"),
        (file_of(b'{"w":{},"w":{}}'), "names 'w' twice"),
        (
            file_of(one(dtype="F7"), bytes(8)),
            "stores tensor 'w' as 'F7', which is not known here; known: F64",
        ),
        (file_of(one(dtype=["F32"]), bytes(8)), "which is not known here"),
        (file_of(one(shape=[-1, -2]), bytes(8)), "a shape that is no list of sizes"),
        (file_of(one(shape=[True, 2]), bytes(8)), "a shape that is no list of sizes"),
        (file_of(one(shape=[1.0, 2]), bytes(8)), "a shape that is no list of sizes"),
        (file_of(one(shape="12"), bytes(8)), "a shape that is no list of sizes"),
        (file_of(one(shape=[1] * 100), bytes(8)), "a shape that is no list of sizes"),
        (file_of(one(shape=[2**62, 4]), bytes(8)), "a shape that no machine can hold"),
        (file_of(one(shape=[0, 2**80], data_offsets=[0, 0])), "a shape that no machine can hold"),
        (file_of(one(shape=[1, 3]), bytes(8)), r"gives tensor 'w' 8 bytes, but \[1, 3\] of F32 needs 12"),
        (file_of(one(data_offsets=[8, 0]), bytes(8)), "lets tensor 'w' start at 8 and end at 0"),
        (file_of(one(data_offsets=[-8, 0]), bytes(8)), "lets tensor 'w' start at -8"),
        (file_of(one(data_offsets=[0]), bytes(8)), "data_offsets that are no two integers"),
        (file_of(one(data_offsets=[0, 2**70]), bytes(8)), "is cut short"),
        (file_of({"w": 3}), "must name dtype, shape and data_offsets of tensor 'w'"),
        (
            file_of({"a": one()["w"], "b": one(data_offsets=[4, 12])["w"]}, bytes(12)),
            "lets tensors 'a' and 'b' overlap",
        ),
        (file_of({"a\n": one()["w"]}, bytes(8)), r"an unreadable name, 'a\\n'"),
        (file_of({"\ud800": one()["w"]}, bytes(8)), "an unreadable name"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a pointer of Git LFS"),
    ],
)
def test_a_lying_header_is_one_sentence(content, sentence):
    with pytest.raises(UserError, match=sentence) as caught:
        read_safetensors(InMemory(content))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


WHOLE = save(
    {"a": np.ones((2, 3), np.float32), "b": np.ones(4, np.float16), "c": np.ones((1, 2, 3))}, {"by": "us"}
)


def read_hostile(content):
    """Either tensors that can all be read or one sentence; little memory in both cases."""
    tracemalloc.start()
    try:
        for tensor in read_safetensors(InMemory(content)).values():
            assert tensor.block().size == math.prod(tensor.shape)
            tensor.forget()
    except UserError as error:
        assert str(error) and "\n" not in str(error)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < SMALL


@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=8),
    st.integers(0, len(WHOLE)),
)
def test_mutated_files(changes, length):
    content = bytearray(WHOLE)
    for place, value in changes:
        content[place] = value
    read_hostile(bytes(content[: max(length, 1)]))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["F32", "BF16"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=3,
)
SIZES = st.integers(-1, 5) | st.sampled_from([2**31, 2**32, 2**62, 2**63, 2**64, 2**200])
ENTRY = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F64", "F32", "BF16", "F8_E4M3", "I8", "BOOL", "X"]) | VALUES,
        "shape": st.lists(SIZES, max_size=4) | VALUES,
        "data_offsets": st.lists(SIZES, min_size=2, max_size=2) | VALUES,
    }
)


@given(st.dictionaries(st.text(max_size=4), ENTRY | VALUES, max_size=4), st.binary(max_size=40))
@example({"w": {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]}}, b"")
@example({"w": {"dtype": "F32", "shape": [2**31, 2**31, 0], "data_offsets": [0, 0]}}, b"")
def test_random_headers(header, numbers):
    read_hostile(file_of(header, numbers))


@given(st.binary(min_size=1, max_size=200))
def test_random_bytes(content):
    read_hostile(content)
    read_hostile(file_of(content))
