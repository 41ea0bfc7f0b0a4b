"""`glassformer spectra` on a quantised model of 1.5 billion weights: seconds, first result, peak memory.

    python benchmarks/spectra_gguf.py                   writes the file into a temporary folder
    python benchmarks/spectra_gguf.py --folder models   keeps it there, and takes it from there next time
    python benchmarks/spectra_gguf.py --only-open       the reader alone: opening, and unpacking every tensor

The file has the shapes of Qwen2.5-1.5B and the types of a Q4_K_M file: 28 layers, width 1536, 12 heads and
2 of keys and values of 128 dimensions, feed-forward 8960, a vocabulary of 151,936. The published file stores
the tied embedding twice, and so does this one (1.1 GB) unless --tied (1.0 GB). Its weights are random, no two
blocks alike, so that every matrix has full rank. The baseline is reading the file's bytes and nothing else.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' writer of GGUF files

from tests.lens.gguf_writer import Raw, joined, six_bits, write_gguf

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD_DIM, WIDE, VOCABULARY = 28, 1536, 12, 2, 128, 8960, 151_936
SPREAD = 0.02  # of the weights, about


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="where the file is kept; a temporary folder if not given")
    parser.add_argument("--layers", type=int, default=LAYERS, help="fewer, for a quick look")
    parser.add_argument("--tied", action="store_true", help="store the embedding once")
    parser.add_argument("--only-open", action="store_true", help="do not run the command")
    parser.add_argument("options", nargs="*", help="of glassformer spectra, after --")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        path = model_file(folder, asked.layers, asked.tied)
        print(f"{path.name}: {path.stat().st_size / 1e9:.2f} GB, {asked.layers} layers", flush=True)
        measure_reader(path)
        if not asked.only_open:
            measure_command(path, Path(temporary) / "out", asked.options)


def measure_reader(path: Path) -> None:
    from glassformer.lens.read.gguf import open_gguf

    began = time.perf_counter()
    checkpoint = open_gguf(path)
    opened = time.perf_counter() - began
    began = time.perf_counter()
    weights = 0
    for tensor in checkpoint.tensors.values():
        down, across = tensor.matrix_shape
        step = max(1, 4_000_000 // across)
        for start in range(0, down, step):
            weights += tensor.block(slice(start, start + step)).size
        tensor.forget()
    seconds = time.perf_counter() - began
    plain = plain_read(path)
    print(
        f"opening {opened:.3f} s; unpacking {weights / 1e9:.2f} billion weights {seconds:.1f} s on one core"
    )
    print(f"reading its bytes alone {plain:.2f} s; unpacking takes {seconds / plain:.1f} times as long")


def plain_read(path: Path, at_once: int = 1 << 24) -> float:
    """Seconds that the file's bytes take, once the system has them in memory."""
    began = time.perf_counter()
    with path.open("rb") as file:
        while file.read(at_once):
            pass
    return time.perf_counter() - began


def measure_command(path: Path, out: Path, options: list[str]) -> None:
    """The command in a process of its own; its first result is the first file that it keeps of a matrix."""
    command = [sys.executable, "-m", "glassformer", "spectra", str(path), "--out", str(out), "--json"]
    began = time.time()
    ended = subprocess.run(
        [*command, *options], stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False
    )
    seconds = time.time() - began
    if ended.returncode:
        sys.exit(f"the command ended with status {ended.returncode}")
    first = min(file.stat().st_mtime for file in (out / "units").iterdir()) - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    work, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024  # kilobytes on Linux
    told = json.loads(ended.stdout)
    print(f"first result {first:.2f} s, all {seconds:.1f} s ({work:.1f} s of work on all cores)")
    print(f"peak memory {peak:,.0f} MB")
    print(f"it says: {told['seconds']:.1f} s, {told['peak_memory_mb']:,.0f} MB, {told['layers']} layers")


def model_file(folder: Path, layers: int, is_tied: bool) -> Path:
    """The file, written unless it is there; a file of that name is a whole one."""
    path = folder / f"random-qwen2.5-1.5b-{layers}-layers{'-tied' if is_tied else ''}-q4_k_m.gguf"
    if not path.exists():
        began = time.perf_counter()
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        write_gguf(unfinished, metadata(layers), dict(tensors(layers, is_tied)))
        unfinished.rename(path)
        print(f"written in {time.perf_counter() - began:.1f} s")
    return path


def metadata(layers: int) -> dict[str, Any]:
    """What a converted Qwen2.5 says of itself, with a tokenizer of its size."""
    sizes = {"block_count": layers, "context_length": 32_768, "embedding_length": WIDTH}
    sizes |= {"feed_forward_length": WIDE, "attention.head_count": HEADS, "attention.head_count_kv": KV_HEADS}
    numbers = {"rope.freq_base": 1e6, "attention.layer_norm_rms_epsilon": 1e-6}
    words = [f"\u0120word{number}" for number in range(VOCABULARY)]
    tokenizer = {"model": "gpt2", "pre": "qwen2", "tokens": words, "token_type": [1] * VOCABULARY}
    tokenizer["merges"] = [f"\u0120w ord{number}" for number in range(151_387)]
    return {
        "general.architecture": "qwen2",
        "general.name": "Random Qwen2.5 1.5B",
        **{f"qwen2.{name}": size for name, size in (sizes | numbers).items()},
        **{f"tokenizer.ggml.{name}": one for name, one in tokenizer.items()},
    }


def tensors(layers: int, is_tied: bool) -> Iterator[tuple[str, np.ndarray | Raw]]:
    """Names, shapes and types as llama.cpp's Q4_K_M has them; weights are drawn when they are written."""
    rng = np.random.default_rng(0)
    queries, keys = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    yield "token_embd.weight", drawn(rng, "Q6_K" if is_tied else "Q4_K", VOCABULARY, WIDTH)
    if not is_tied:
        yield "output.weight", drawn(rng, "Q6_K", VOCABULARY, WIDTH)
    for layer in range(layers):
        finer = "Q6_K" if is_finer(layer, layers) else "Q4_K"
        maps = {"attn_q": (queries, WIDTH), "attn_k": (keys, WIDTH), "attn_v": (keys, WIDTH)}
        maps |= {"attn_output": (WIDTH, queries), "ffn_gate": (WIDE, WIDTH), "ffn_up": (WIDE, WIDTH)}
        maps |= {"ffn_down": (WIDTH, WIDE)}
        for name, shape in maps.items():
            kind = finer if name in ("attn_v", "ffn_down") else "Q4_K"
            yield f"blk.{layer}.{name}.weight", drawn(rng, kind, *shape)
        for name in ("attn_q", "attn_k", "attn_v"):
            yield f"blk.{layer}.{name}.bias", rng.standard_normal(maps[name][0]).astype(np.float32)
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{layer}.{name}.weight", rng.uniform(0.5, 2, WIDTH).astype(np.float32)
    yield "output_norm.weight", rng.uniform(0.5, 2, WIDTH).astype(np.float32)


def is_finer(layer: int, layers: int) -> bool:
    """The layers whose values and down maps are Q6_K: the first and last eighths, and every third between."""
    eighth = layers // 8
    return layer < eighth or layer >= layers - eighth or (layer - eighth) % 3 == 2


def drawn(rng: np.random.Generator, kind: str, rows: int, columns: int) -> Raw:
    make = {"Q4_K": q4_k_blocks, "Q6_K": q6_k_blocks}[kind]
    return kind, partial(make, rng, rows * columns // 256), (rows, columns)


def q4_k_blocks(rng: np.random.Generator, count: int) -> bytes:
    """Levels 0 to 15, all equally likely; a group's offset is 7.5 of its steps, so that its mean is 0."""
    scales = rng.integers(32, 64, (count, 8), dtype=np.uint8)
    step = np.full(count, SPREAD / (48 * 4.6), np.float16)
    return joined(step, 7.5 * step, six_bits(scales, scales), random_bytes(rng, count, 128))


def q6_k_blocks(rng: np.random.Generator, count: int) -> bytes:
    """Levels -32 to 31, all equally likely."""
    scales = rng.integers(48, 96, (count, 16), dtype=np.int8)
    step = np.full(count, SPREAD / (72 * 18.5), np.float16)
    return joined(random_bytes(rng, count, 192), scales, step)


def random_bytes(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    return np.frombuffer(rng.bytes(count * size), np.uint8).reshape(count, size)


if __name__ == "__main__":
    main()
