"""A tiny Llama with random weights, in memory and as files: what the tests of the engine work on."""

import json

import numpy as np
from safetensors.numpy import save_file

from glassformer.lens.adapt.find import find_layout
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor

WIDTH, HEADS, KV_HEADS, HEAD_DIM, HIDDEN, WORDS = 16, 4, 2, 4, 24, 30


def config(layers=3):
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "hidden_size": WIDTH,
        "intermediate_size": HIDDEN,
        "vocab_size": WORDS,
        "tie_word_embeddings": True,
    }


def arrays(layers=3, seed=0):
    draw = np.random.default_rng(seed).standard_normal
    parts = {
        "self_attn.q_proj": (HEADS * HEAD_DIM, WIDTH),
        "self_attn.k_proj": (KV_HEADS * HEAD_DIM, WIDTH),
        "self_attn.v_proj": (KV_HEADS * HEAD_DIM, WIDTH),
        "self_attn.o_proj": (WIDTH, HEADS * HEAD_DIM),
        "mlp.gate_proj": (HIDDEN, WIDTH),
        "mlp.up_proj": (HIDDEN, WIDTH),
        "mlp.down_proj": (WIDTH, HIDDEN),
        "input_layernorm": (WIDTH,),
        "post_attention_layernorm": (WIDTH,),
    }
    made = {
        f"model.layers.{layer}.{name}.weight": draw(shape).astype(np.float32)
        for layer in range(layers)
        for name, shape in parts.items()
    }
    ends = {"model.embed_tokens.weight": (WORDS, WIDTH), "model.norm.weight": (WIDTH,)}
    return made | {name: draw(shape).astype(np.float32) for name, shape in ends.items()}


def in_memory_llama(layers=3, seed=0):
    """Checkpoint and layout."""
    stored = arrays(layers, seed)
    tensors = {name: make_memory_tensor(name, array) for name, array in stored.items()}
    checkpoint = Checkpoint("small", "small", "safetensors", config(layers), tensors, f"seed {seed}")
    return checkpoint, find_layout(checkpoint)


def write_llama(folder, layers=3, seed=0, bad=()):
    """A folder with config.json and model.safetensors; tensors whose names are in `bad` hold a NaN."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = arrays(layers, seed)
    for name in bad:
        stored[name][0, 0] = np.nan
    (folder / "config.json").write_text(json.dumps(config(layers)), encoding="utf-8")
    save_file(stored, folder / "model.safetensors")
    return folder
