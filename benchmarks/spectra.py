"""Seconds per layer of `glassformer spectra`, against the usual method, in the shapes of Qwen2.5-3B.

    python benchmarks/spectra.py
    python benchmarks/spectra.py --layers 8 --json
    python benchmarks/spectra.py --device gpu            also on a GPU, against the CPU of that machine

Synthetic layers (width 2048, 16 heads, 2 key-value heads, feed-forward 11008, random weights in bfloat16) are
written as a checkpoint and analysed by the code of the command: reading, singular values of seven weights,
leading directions, QK and OV kernels with eigenvalues and asymmetry, statistics, baselines, records.

The usual method, written plainly, for one such layer: kernels W_Q' W_K of 2048 x 2048 and their singular
values in float32, head by head, and the singular values of the seven weights in float32, on all cores: by
PyTorch, as the script that this replaces does it (it takes 7 times as long for a wide matrix as for its
transpose), or by SciPy where PyTorch is not installed (NumPy computes in float64). Heads cost the same, so
some are timed and counted for all.

The floor is what these results cost if everything ran like a large matrix product: short^2 * long operations
for a Gram matrix in the precision that was used, 4/3 short^3 in float64 to make it tridiagonal, and for a
head's kernel 3 * width * size^2 of products and 13 size^3 for its singular values and eigenvalues, at the
rates of products of 2048 x 2048 measured in this run on all cores at once. Reading, statistics, leading
directions and files are not in it.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # so that a clone on a bare GPU machine runs it

from glassformer.core.spread import count_cores, map_threads
from glassformer.lens.adapt.find import find_layout
from glassformer.lens.analyse import analyse_checkpoint, limit_blas_threads
from glassformer.lens.compute.heads import compute_kernel_values, make_cross_kernel, make_kernel_side
from glassformer.lens.held import hold_blocks
from glassformer.lens.kernels import analyse_layer_kernels
from glassformer.lens.layout import ModelLayout
from glassformer.lens.matrix import read_map
from glassformer.lens.plan import AnalysisRequest
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.open import open_checkpoint
from glassformer.lens.results import Analysis
from glassformer.lens.store import open_store
from glassformer.lens.treatments import RAW

Result = TypeVar("Result")
WIDTH, HEADS, KV_HEADS, HEAD_DIM, FEED_FORWARD = 2048, 16, 2, 128, 11008  # Qwen2.5-3B
SHAPES = {
    "self_attn.q_proj": (HEADS * HEAD_DIM, WIDTH),
    "self_attn.k_proj": (KV_HEADS * HEAD_DIM, WIDTH),
    "self_attn.v_proj": (KV_HEADS * HEAD_DIM, WIDTH),
    "self_attn.o_proj": (WIDTH, HEADS * HEAD_DIM),
    "mlp.gate_proj": (FEED_FORWARD, WIDTH),
    "mlp.up_proj": (FEED_FORWARD, WIDTH),
    "mlp.down_proj": (WIDTH, FEED_FORWARD),
}
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "intermediate_size": FEED_FORWARD,
    "vocab_size": 64,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
    "tie_word_embeddings": True,
}
TRIDIAGONAL = 4 / 3  # operations by short^3 that make a symmetric matrix tridiagonal
SMALL_PROBLEMS = (
    8 / 3 + 10
)  # operations by size^3: bidiagonal form, and the QR algorithm (Golub and Van Loan)
RATE_SECONDS = 1.5  # of measuring a product's rate, at least
REPEATS = 3  # of short measurements; the fastest counts, since machines are noisy


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=4, help="that ours is timed on")
    parser.add_argument("--timed-heads", type=int, default=2, help="of the usual method; all cost the same")
    parser.add_argument("--workers", type=int, default=count_cores())
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument(
        "--usual", choices=["torch", "scipy"], default="torch" if find_spec("torch") else "scipy",
        help="whose SVD the usual method takes (default: PyTorch's, where it is installed)",
    )  # fmt: skip
    parser.add_argument("--no-usual", action="store_true", help="leave the usual method out")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(Path(scratch), asked)
    print(json.dumps(found, indent=1) if asked.json else table(found))


def measure(scratch: Path, asked: argparse.Namespace) -> dict[str, float | str]:
    """Everything, ours first, so that the peak of memory is ours."""
    writer = multiprocessing.get_context("spawn").Process(
        target=write_checkpoint, args=(scratch / "in", asked.layers)
    )
    writer.start()
    writer.join()
    checkpoint = open_checkpoint(scratch / "in")
    layout = find_layout(checkpoint)
    whole, analysis = timed(lambda: ours(checkpoint, layout, scratch / "cpu", "cpu", asked.workers))
    found: dict[str, float | str] = {
        "workers": asked.workers,
        "layers": asked.layers,
        "ours, whole layer, s": whole / asked.layers,
        "ours, peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ways": ", ".join(sorted({one.precision for one in analysis.matrices})),
    }
    with limit_blas_threads():
        found["ours, QK values, s"] = per_layer(lambda layer: qk_values(checkpoint, layout, layer), asked)
        found["ours, QK and OV with all, s"] = per_layer(
            lambda layer: analyse_layer_kernels(checkpoint, layout, layer, (RAW,)), asked
        )
        found["floor, whole layer, s"] = floor(analysis, asked.workers) / asked.layers
    found["ours / floor"] = whole / asked.layers / float(found["floor, whole layer, s"])
    if asked.device == "gpu":
        found |= on_gpu(checkpoint, layout, scratch, asked, whole / asked.layers)
    return found if asked.no_usual else found | usual(checkpoint, asked, found)


def write_checkpoint(folder: Path, layers: int) -> None:
    """Random weights in bfloat16, a shard per layer, as models are published."""
    import ml_dtypes
    from safetensors.numpy import save_file

    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG | {"num_hidden_layers": layers}), encoding="utf-8")
    random, place = np.random.default_rng(0), {}
    ends = {"model.embed_tokens.weight": (64, WIDTH), "model.norm.weight": (WIDTH,)}
    for layer in range(layers):
        shard = f"model-{layer + 1:05d}-of-{layers:05d}.safetensors"
        inside = {f"model.layers.{layer}.{name}.weight": shape for name, shape in SHAPES.items()}
        inside |= {
            f"model.layers.{layer}.{name}_layernorm.weight": (WIDTH,) for name in ("input", "post_attention")
        }
        inside |= ends if layer == 0 else {}
        tensors = {name: random.standard_normal(shape, np.float32) * 0.02 for name, shape in inside.items()}
        save_file({name: one.astype(ml_dtypes.bfloat16) for name, one in tensors.items()}, folder / shard)
        place |= dict.fromkeys(inside, shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": place}), encoding="utf-8")


def ours(checkpoint: Checkpoint, layout: ModelLayout, folder: Path, device: str, workers: int) -> Analysis:
    wanted = AnalysisRequest(
        tuple(range(layout.layers)), (RAW,), has_rest=False, relations="none", device=device
    )
    folder.mkdir(exist_ok=True)
    store = open_store(folder, checkpoint, layout.architecture, wanted.numbers)
    return analyse_checkpoint(checkpoint, layout, wanted, store, workers=workers)


def on_gpu(
    checkpoint: Checkpoint, layout: ModelLayout, scratch: Path, asked: argparse.Namespace, cpu: float
) -> dict[str, float | str]:
    """Once to compile, then timed; the values must agree with the CPU's."""
    ours(checkpoint, layout, scratch / "warm", "gpu", asked.workers)
    whole, analysis = timed(lambda: ours(checkpoint, layout, scratch / "gpu", "gpu", asked.workers))
    exact = ours(checkpoint, layout, scratch / "cpu", "cpu", asked.workers)  # read back, not computed again
    pairs = zip(analysis.matrices, exact.matrices, strict=True)
    apart = max(float(np.max(np.abs(one.values - other.values) / other.values)) for one, other in pairs)
    seconds = whole / asked.layers
    return {"GPU, whole layer, s": seconds, "CPU / GPU": cpu / seconds, "GPU, largest difference": apart}


def qk_values(checkpoint: Checkpoint, layout: ModelLayout, layer: int) -> list[np.ndarray]:
    """What the usual method finds, and no more; heads of a group share their keys, as in the command."""
    heads = [head for head in layout.attention if head.layer == layer]
    held = hold_blocks(checkpoint, heads)
    keys = {head.kv_index: head.key for head in heads}
    shared = {index: make_kernel_side(read_map(held, key)) for index, key in keys.items()}
    queries = (make_kernel_side(read_map(held, head.query)) for head in heads)
    pairs = zip(queries, heads, strict=True)
    return compute_kernel_values([make_cross_kernel(query, shared[head.kv_index]) for query, head in pairs])


def usual(
    checkpoint: Checkpoint, asked: argparse.Namespace, found: dict[str, float | str]
) -> dict[str, float | str]:
    """Dense kernels and float32 SVDs of layer 0, on all cores."""
    svdvals, timed_heads = svd_of(asked.usual), asked.timed_heads
    weights = {name: checkpoint.tensor(f"model.layers.0.{name}.weight").block() for name in SHAPES}
    query, key = weights["self_attn.q_proj"], weights["self_attn.k_proj"]
    rows = [slice(head * HEAD_DIM, (head + 1) * HEAD_DIM) for head in range(timed_heads)]
    heads, _ = timed(lambda: [svdvals(query[one].T @ key[:HEAD_DIM]) for one in rows])
    matrices, _ = timed(lambda: [svdvals(one) for one in weights.values()])
    heads *= HEADS / timed_heads
    return {
        "usual, by": asked.usual,
        "usual, QK values, s": heads,
        "usual, whole layer, s": heads + matrices,
        "usual / ours, whole layer": (heads + matrices) / float(found["ours, whole layer, s"]),
        "usual / ours, QK values": heads / float(found["ours, QK values, s"]),
        "usual QK values / ours, QK and OV": heads / float(found["ours, QK and OV with all, s"]),
    }


def svd_of(library: str) -> Callable[[np.ndarray], object]:
    if library == "scipy":
        from scipy.linalg import svdvals

        return svdvals
    import torch

    return lambda weights: torch.linalg.svdvals(torch.from_numpy(np.ascontiguousarray(weights)))


def per_layer(work: Callable[[int], object], asked: argparse.Namespace) -> float:
    """Seconds per layer, layers spread over threads."""
    return (
        min(
            timed(lambda: list(map_threads(work, range(asked.layers), asked.workers)))[0]
            for _ in range(REPEATS)
        )
        / asked.layers
    )


def floor(analysis: Analysis, workers: int) -> float:
    """Seconds for all layers."""
    rates = {name: product_rate(np.dtype(name), workers) for name in ("float32", "float64")}
    seconds = 0.0
    for one in analysis.matrices:
        short, long = sorted(one.shape)
        kind = "float32" if one.precision.startswith("float32") else "float64"
        seconds += short**2 * long / rates[kind] + TRIDIAGONAL * short**3 / rates["float64"]
    for kernel in analysis.kernels:
        products = 3 * analysis.layout.width * kernel.size**2  # a Gram matrix of one side, and B
        seconds += (products + SMALL_PROBLEMS * kernel.size**3) / rates["float64"]
    return seconds


def product_rate(kind: np.dtype, workers: int) -> float:
    """Operations per second of products of 2048 x 2048, one on each core at the same time."""
    left = np.random.default_rng(0).standard_normal((WIDTH, WIDTH)).astype(kind)
    right = left.copy()

    def turns(_: int) -> int:
        began, count = time.perf_counter(), 0
        while time.perf_counter() < began + RATE_SECONDS:
            left @ right
            count += 1
        return count

    seconds, counts = timed(lambda: list(map_threads(turns, range(workers), workers)))
    return 2 * WIDTH**3 * sum(counts) / seconds


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def table(found: dict[str, float | str]) -> str:
    shown = {name: one if isinstance(one, str) else f"{one:.4g}" for name, one in found.items()}
    return "\n".join(f"{name:<36}{one:>10}" for name, one in shown.items())


if __name__ == "__main__":
    main()
