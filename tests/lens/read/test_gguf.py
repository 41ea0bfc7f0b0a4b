"""GGUF files as checkpoints: metadata, tensors read a block at a time, split models."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.core.errors import UserError
from glassformer.lens.read import gguf_stored
from glassformer.lens.read.gguf import open_gguf
from glassformer.lens.read.gguf_types import TYPES
from tests.lens.gguf_writer import quantised, size, write_gguf
from tests.lens.read.gguf_reference import REFERENCES
from tests.lens.real_weights import smollm2

RNG = np.random.default_rng(6)
METADATA = {
    "general.architecture": "llama",
    "llama.block_count": 30,
    "llama.rope.freq_base": 0.5,
    "llama.is_causal": True,
    "llama.heads": [9, 9, 3],
    "small": np.int8(-5),
    "large": np.uint64(2**63),
    "exact": np.float64(1 / 3),
    "below": np.int64(-(2**40)),
    "none": np.zeros(0, np.int32),
    "über": "größer",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.gguf"


def checkpoint_of(path: Path, metadata=None, **tensors):
    write_gguf(path, metadata or {}, tensors)
    return open_gguf(path)


@pytest.mark.parametrize("version", [2, 3])
def test_metadata_comes_back_as_it_was_written(path, version):
    write_gguf(path, METADATA, {"w": np.eye(2, dtype=np.float32)}, version=version)
    config = open_gguf(path).config
    expected = {key: one.tolist() if hasattr(one, "tolist") else one for key, one in METADATA.items()}
    assert config == expected
    assert {key: type(one) for key, one in config.items()} == {
        key: type(one) for key, one in expected.items()
    }


def test_tokenizers_and_long_lists_are_left_out_of_the_configuration(path):
    words = ["", "a", "ü"] * 50
    metadata = {"tokens": words, "scores": [0.0] * 4097, "heads": [2] * 4096, "after": "b"}
    config = checkpoint_of(path, metadata, w=np.ones(1, np.float32)).config
    assert config == {"heads": [2] * 4096, "after": "b"}


def test_a_text_as_long_as_a_tokenizer_is_left_out(path):
    config = checkpoint_of(path, {"json": "x" * (2**20 + 1), "after": 1}, w=np.ones(1, np.float32)).config
    assert config == {"after": 1}


def test_shapes_are_rows_first_and_types_are_named(path):
    experts = RNG.standard_normal((3, 4, 32)).astype(np.float32)
    checkpoint = checkpoint_of(
        path, a=experts, b=quantised("Q8_0", experts), c=experts[0, 0].astype(np.float16)
    )
    shapes = {name: (one.shape, one.matrix_shape, one.dtype) for name, one in checkpoint.tensors.items()}
    assert shapes == {
        "a": ((3, 4, 32), (12, 32), "F32"),
        "b": ((3, 4, 32), (12, 32), "Q8_0"),
        "c": ((32,), (1, 32), "F16"),
    }
    np.testing.assert_array_equal(checkpoint.tensor("a").block(), experts.reshape(12, 32))


def test_a_checkpoint_names_itself_and_its_place(path):
    checkpoint = checkpoint_of(path, w=np.ones((2, 2), np.float32))
    assert (checkpoint.name, checkpoint.source, checkpoint.kind) == ("toy", str(path), "gguf")
    assert checkpoint.tensor("w").place == str(path)


def test_other_weights_have_another_fingerprint(tmp_path):
    marks = set()
    for shape in [(2, 3), (3, 2)]:
        marks.add(checkpoint_of(tmp_path / "w.gguf", w=np.ones(shape, np.float32)).fingerprint)
    marks.add(checkpoint_of(tmp_path / "w.gguf", w=np.ones((2, 3), np.float64)).fingerprint)
    assert len(marks) == 3


@pytest.mark.parametrize("alignment", [1, 2, 64])
def test_any_alignment_is_read(path, alignment):
    tensors = {"a": np.arange(3, dtype=np.int8), "b": RNG.standard_normal((5, 7))}
    checkpoint = checkpoint_of(path, {"general.alignment": alignment}, **tensors)
    block = checkpoint.tensor("b").block()
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, tensors["b"])
    assert checkpoint.tensor("a").block().tolist() == [[0.0, 1.0, 2.0]]


@pytest.mark.parametrize("kind", [*REFERENCES, "F16", "BF16", "I8"])
@given(
    rows=st.tuples(st.integers(0, 5), st.integers(0, 5)),
    columns=st.tuples(st.integers(0, 768), st.integers(0, 768)),
)
def test_a_block_is_the_same_part_of_the_whole(tmp_path_factory, kind, rows, columns):
    tensor = random_tensor(tmp_path_factory, kind)
    part = slice(*rows), slice(*columns)
    block, whole = tensor.block(*part), tensor.block()
    np.testing.assert_array_equal(block, whole[part], strict=True)


FILES: dict[str, Path] = {}


def random_tensor(tmp_path_factory, kind):
    """Five rows of 768 random weights of a type, of finite scales; one file a type."""
    if kind not in FILES:
        raw = RNG.integers(0, 48, size(kind, (5, 768)), dtype=np.uint8).tobytes()
        FILES[kind] = tmp_path_factory.mktemp("kinds") / f"{kind}.gguf"
        write_gguf(FILES[kind], {}, {"w": (kind, raw, (5, 768))})
    return open_gguf(FILES[kind]).tensor("w")


def test_pieces_that_fit_the_cache_join_to_the_whole(path, monkeypatch):
    weights = RNG.standard_normal((40, 64)).astype(np.float32)
    tensor = checkpoint_of(path, w=quantised("Q8_0", weights)).tensor("w")
    whole = tensor.block()
    monkeypatch.setattr(gguf_stored, "CHUNK", 3 * 64)
    np.testing.assert_array_equal(tensor.block(), whole)
    np.testing.assert_array_equal(tensor.block(slice(2, 39), slice(31, 33)), whole[2:39, 31:33])


@pytest.mark.parametrize(("kind", "steps"), [("Q8_0", 127), ("Q4_0", 7), ("Q4_K", 7)])
def test_quantised_weights_are_near_what_they_were(path, kind, steps):
    weights = RNG.standard_normal((6, 512)).astype(np.float32)
    read = checkpoint_of(path, w=quantised(kind, weights)).tensor("w").block()
    largest = np.abs(weights).max()
    assert 0 < np.abs(read - weights).max() < 0.65 * largest / steps


def test_what_was_forgotten_is_read_again(path):
    tensor = checkpoint_of(path, w=RNG.standard_normal((64, 64)).astype(np.float32)).tensor("w")
    before = tensor.block()
    tensor.forget()
    np.testing.assert_array_equal(tensor.block(), before)


def test_infinite_scales_are_given_without_a_warning(path):
    raw = np.array([np.inf], np.float16).tobytes() + bytes(32)
    assert np.isnan(checkpoint_of(path, w=("Q8_0", raw, (32,))).tensor("w").block()).all()


@pytest.mark.parametrize("kind", sorted(one.name for one in TYPES.values() if one.unpack is None))
def test_a_type_that_cannot_be_read_does_not_keep_the_file_from_opening(path, kind):
    raw = bytes(size(kind, (2, 256)))
    checkpoint = checkpoint_of(path, w=(kind, raw, (2, 256)), good=np.ones(2, np.float32))
    assert checkpoint.tensor("good").block().tolist() == [[1.0, 1.0]]
    with pytest.raises(UserError, match=f"'w' in .*toy.gguf is of type {kind}, which cannot be read"):
        checkpoint.tensor("w").block()


def write_parts(folder: Path, count: int = 3, **other) -> list[Path]:
    """A model split into parts of one tensor each, the first with the metadata."""
    paths = [folder / f"big-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]
    for index, path in enumerate(paths):
        metadata = {"split.no": np.uint16(index), "split.count": np.uint16(count)} | other
        about = {"general.architecture": "llama"} if index == 0 else {}
        write_gguf(path, about | metadata, {f"w{index}": np.full((2, 2), index, np.float32)})
    return paths


@pytest.mark.parametrize("given_part", [0, 1, 2])
def test_any_part_opens_the_whole_split_model(tmp_path, given_part):
    checkpoint = open_gguf(write_parts(tmp_path)[given_part])
    assert {name: one.block()[0, 0] for name, one in checkpoint.tensors.items()} == {
        "w0": 0,
        "w1": 1,
        "w2": 2,
    }
    assert checkpoint.config["general.architecture"] == "llama"
    assert checkpoint.name == "big"
    assert checkpoint.tensor("w2").place.endswith("big-00003-of-00003.gguf")


def test_a_missing_part_is_named(tmp_path):
    paths = write_parts(tmp_path)
    paths[1].unlink()
    with pytest.raises(UserError, match=r"is one of 3 parts, but there is no .*big-00002-of-00003.gguf$"):
        open_gguf(paths[0])


def test_a_part_under_another_name_is_refused(tmp_path):
    renamed = write_parts(tmp_path)[0].rename(tmp_path / "model.gguf")
    with pytest.raises(UserError, match="one of '3' parts, but its name does not end like"):
        open_gguf(renamed)


def test_a_part_in_the_wrong_place_is_refused(tmp_path):
    paths = write_parts(tmp_path)
    paths[2].write_bytes(paths[1].read_bytes())
    with pytest.raises(UserError, match=r"00003.gguf says that it is part '1' of '3', not 2 of 3"):
        open_gguf(paths[0])


def test_a_tensor_in_two_parts_is_refused(tmp_path):
    paths = write_parts(tmp_path)
    metadata = {"split.no": np.uint16(1), "split.count": np.uint16(3)}
    write_gguf(paths[1], metadata, {"w0": np.ones(2, np.float32)})
    with pytest.raises(UserError, match=r"00002-of-00003.gguf has the tensor 'w0', as an earlier part has"):
        open_gguf(paths[0])


SMOLLM2 = {  # shape, type, sum of squares and last two weights, as the gguf package (0.19) reads them
    "token_embd.weight": (
        (49_152, 576),
        "Q8_0",
        520_415.71544763993,
        [-0.11989402770996094, -0.0417022705078125],
    ),
    "blk.29.attn_k.weight": ((192, 576), "Q4_1", 1902.811550046259, [0.081939697265625, 0.081939697265625]),
    "blk.7.ffn_down.weight": ((576, 1536), "Q4_1", 31_404.29622159945, [0.24822998046875, 0.05706787109375]),
    "blk.3.attn_norm.weight": ((576,), "F32", 51.604333319701254, [0.427734375, 0.388671875]),
}


def test_smollm2_has_its_layers_and_types():
    checkpoint = open_gguf(smollm2())
    names = ["block_count", "attention.head_count", "attention.head_count_kv"]
    assert [checkpoint.config[f"llama.{name}"] for name in names] == [30, 9, 3]
    kinds = [one.dtype for one in checkpoint.tensors.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {"Q8_0": 1, "F32": 61, "Q4_1": 210}


@pytest.mark.parametrize("name", SMOLLM2)
def test_smollm2_has_its_weights(name):
    tensor = open_gguf(smollm2()).tensor(name)
    shape, dtype, squares, last = SMOLLM2[name]
    assert (tensor.shape, tensor.dtype) == (shape, dtype)
    weights = tensor.vector()
    assert weights @ weights == pytest.approx(squares, rel=1e-12)
    assert weights[-2:].tolist() == last
