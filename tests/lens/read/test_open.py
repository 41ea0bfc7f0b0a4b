import json
import os
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

from glassformer.core.errors import UserError
from glassformer.lens.read.open import open_checkpoint
from tests.lens.read.torch_writer import write_arrays
from tests.lens.small_llama import write_llama

A, B = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((4, 2), np.float16)
INDEX = "model.safetensors.index.json"


def sharded(folder, weight_map=None):
    save_file({"a": A}, folder / "model-00001-of-00002.safetensors")
    save_file({"b": B}, folder / "model-00002-of-00002.safetensors")
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / INDEX).write_text(
        json.dumps({"metadata": {}, "weight_map": names if weight_map is None else weight_map})
    )
    return folder


def test_shards_by_their_index_with_the_configuration(tmp_path):
    (sharded(tmp_path) / "config.json").write_text('{"model_type": "llama", "text_config": {"x": 1}}')
    save_file({"a": A}, tmp_path / "consolidated.safetensors")
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.kind == "safetensors" and checkpoint.name == tmp_path.name
    assert checkpoint.config == {"model_type": "llama", "text_config": {"x": 1}}
    assert np.array_equal(checkpoint.tensors["a"].block(), A) and np.array_equal(
        checkpoint.tensors["b"].block(), B
    )


def test_shards_without_an_index_and_one_file_alone(tmp_path):
    (sharded(tmp_path) / INDEX).unlink()
    save_file({"a": A}, tmp_path / "adapter_model.safetensors")
    assert set(open_checkpoint(str(tmp_path)).tensors) == {"a", "b"}
    assert set(open_checkpoint(tmp_path / "model-00002-of-00002.safetensors").tensors) == {"b"}
    save_file({"main": A}, tmp_path / "model.safetensors")
    assert set(open_checkpoint(tmp_path).tensors) == {"main"}


def test_pytorch_folders(tmp_path):
    write_arrays(tmp_path / "pytorch_model-00001-of-00001.bin", {"a": A})
    (tmp_path / "training_args.bin").write_bytes(b"no weights")
    assert np.array_equal(open_checkpoint(tmp_path).tensors["a"].block(), A)
    index = {"weight_map": {"a": "pytorch_model-00001-of-00001.bin"}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.kind == "torch" and set(checkpoint.tensors) == {"a"}
    write_arrays(tmp_path / "renamed.dat", {"r": A})
    assert set(open_checkpoint(tmp_path / "renamed.dat").tensors) == {"r"}


def test_the_fingerprint_changes_with_the_file(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"a": A}, path)
    before = open_checkpoint(path).fingerprint
    assert open_checkpoint(tmp_path).fingerprint == before
    os.utime(path, (1, 1))
    assert open_checkpoint(path).fingerprint != before


def refused(target, sentence):
    with pytest.raises(UserError, match=sentence) as caught:
        open_checkpoint(target)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_a_missing_shard(tmp_path):
    (sharded(tmp_path) / "model-00002-of-00002.safetensors").unlink()
    refused(tmp_path, f"lacks the shard 'model-00002-of-00002.safetensors', which {INDEX} names")
    (tmp_path / INDEX).unlink()
    refused(tmp_path, r"lacks the shard 'model-00002-of-00002\.safetensors'")


@pytest.mark.parametrize(
    "weight_map, sentence",
    [
        (
            {"c": "model-00001-of-00002.safetensors"},
            r"00001-of-00002.safetensors has no tensor called 'c', which .* promises",
        ),
        ({"a": "../model.safetensors"}, "puts tensor 'a' into '../model.safetensors', outside the folder"),
        ({"a": "/etc/passwd"}, "outside the folder"),
        ({"a": "..\\x"}, "outside the folder"),
        ({"a": 3}, "outside the folder"),
        ({"a": "deep/x.safetensors"}, "there is no file"),
        ({}, "must have a weight_map"),
        ([], "must have a weight_map"),
    ],
)
def test_an_index_that_lies(tmp_path, weight_map, sentence):
    refused(sharded(tmp_path, weight_map), sentence)


def test_folders_without_weights(tmp_path):
    refused(
        tmp_path,
        r"has no weights: \*.safetensors, \*.gguf, pytorch_model.bin, \*.bin, \*.pt or \*.pth are looked for",
    )
    save_file({}, tmp_path / "model.safetensors")
    refused(tmp_path, "holds no tensors")


def test_duplicate_names_in_two_files(tmp_path):
    save_file({"a": A}, tmp_path / "x.safetensors")
    save_file({"a": A}, tmp_path / "y.safetensors")
    refused(tmp_path, r"y.safetensors and .*x.safetensors both hold a tensor 'a'")


def test_several_models_in_gguf(tmp_path):
    for name in ("q4.gguf", "q8.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    refused(tmp_path, "has 2 GGUF files; name one of them: q4.gguf, q8.gguf")


def test_bad_configurations(tmp_path):
    save_file({"a": A}, tmp_path / "model.safetensors")
    for text, sentence in {
        "{": "config.json is not valid JSON",
        "[]": "must be a JSON object",
        "": "is empty",
    }.items():
        (tmp_path / "config.json").write_text(text)
        refused(tmp_path, sentence)
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(10**10)
    refused(tmp_path, "has 10000000000 bytes; at most")


@pytest.mark.parametrize(
    "target, sentence",
    [
        ("nowhere.gguf", "there is no file or folder 'nowhere.gguf'"),
        ("gpt2", "or a hub id org/name"),
        ("a" * 9999, "cannot be read: File name too long"),
    ],
)
def test_no_such_target(target, sentence):
    refused(target, sentence)


def test_wrong_magic(tmp_path):
    for name, sentence in {
        "a.dat": "is no safetensors, GGUF or PyTorch file",
        "a.safetensors": "is no safetensors file",
        "a.bin": "is no PyTorch file",
    }.items():
        (tmp_path / name).write_bytes(b"\x93NUMPY\x01\x00 some array")
        refused(tmp_path / name, sentence)


def test_heavy_libraries_stay_out(tmp_path):
    save_file({"a": A}, tmp_path / "model.safetensors")
    program = f"""if True:
        import sys
        from glassformer.lens.read.open import open_checkpoint
        open_checkpoint({str(tmp_path)!r})
        print(sorted({{"jax", "torch", "scipy", "matplotlib", "huggingface_hub"}} & {{*sys.modules}}))"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_link_to_a_folder_has_its_own_name(tmp_path, monkeypatch):
    write_llama(tmp_path / "snapshots" / "4f1c", layers=1)
    (tmp_path / "llama").symlink_to(tmp_path / "snapshots" / "4f1c")
    assert open_checkpoint(tmp_path / "llama").name == "llama"
    monkeypatch.chdir(tmp_path / "snapshots" / "4f1c")
    assert open_checkpoint(".").name == "4f1c"
