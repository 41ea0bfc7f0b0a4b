"""Tiny random decoders, made head by head and packed by hand as each architecture stores them.

Nothing here comes from the adapters: it is the other side of what they are tested against.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor

LAYERS, WIDTH, HEADS, KV_HEADS, DIMS, UNITS, EXPERTS, WORDS = 2, 10, 4, 2, 6, 7, 3, 13
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Model:
    """Every part by layer, then by head or expert; gains as they act, whatever is stored."""

    query: np.ndarray  # layer head dim width
    key: np.ndarray
    value: np.ndarray
    output: np.ndarray  # layer head width dim
    query_bias: np.ndarray  # layer head dim
    key_bias: np.ndarray
    value_bias: np.ndarray
    query_norm: np.ndarray  # layer head dim
    key_norm: np.ndarray
    gate: np.ndarray  # layer expert unit width; the last expert is the shared one
    up: np.ndarray
    down: np.ndarray  # layer expert width unit
    router: np.ndarray  # layer expert width
    gains: np.ndarray  # layer place width: before and after attention, before and after the MLP
    final: np.ndarray
    embedding: np.ndarray  # word width
    unembedding: np.ndarray


def random_model(seed: int = 0) -> Model:
    draw = np.random.default_rng(seed).standard_normal
    maps = {
        "query": draw((LAYERS, HEADS, DIMS, WIDTH)),
        "key": draw((LAYERS, KV_HEADS, DIMS, WIDTH)),
        "value": draw((LAYERS, KV_HEADS, DIMS, WIDTH)),
        "output": draw((LAYERS, HEADS, WIDTH, DIMS)),
        "gate": draw((LAYERS, EXPERTS + 1, UNITS, WIDTH)),
        "up": draw((LAYERS, EXPERTS + 1, UNITS, WIDTH)),
        "down": draw((LAYERS, EXPERTS + 1, WIDTH, UNITS)),
        "router": draw((LAYERS, EXPERTS, WIDTH)),
    }
    vectors = {
        "query_bias": draw((LAYERS, HEADS, DIMS)),
        "key_bias": draw((LAYERS, KV_HEADS, DIMS)),
        "value_bias": draw((LAYERS, KV_HEADS, DIMS)),
        "query_norm": draw((LAYERS, HEADS, DIMS)),
        "key_norm": draw((LAYERS, KV_HEADS, DIMS)),
        "gains": draw((LAYERS, 4, WIDTH)),
        "final": draw(WIDTH),
    }
    return Model(**maps, **vectors, embedding=draw((WORDS, WIDTH)), unembedding=draw((WORDS, WIDTH)))


def stored(tensors: Arrays, config: dict[str, Any], kind: str) -> Checkpoint:
    held = {name: make_memory_tensor(name, array) for name, array in tensors.items()}
    return Checkpoint("tiny", "tiny", "gguf" if kind == "gguf" else "safetensors", config, held, "")


def rows(by_head: np.ndarray) -> np.ndarray:
    """Heads one below the other."""
    return np.concatenate(list(by_head))


def columns(by_head: np.ndarray) -> np.ndarray:
    return np.concatenate(list(by_head), axis=1)


def hf_config(family: str) -> dict[str, Any]:
    return {
        "model_type": family,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": DIMS,
        "num_local_experts" if family == "mixtral" else "num_experts": EXPERTS,
        "rope_theta": 100.0,
        "rope_local_base_freq": 25.0,
        "sliding_window_pattern": 2,
    }


def gguf_config(family: str) -> dict[str, Any]:
    values = {
        "embedding_length": WIDTH,
        "block_count": LAYERS,
        "attention.head_count": HEADS,
        "attention.head_count_kv": KV_HEADS,
        "attention.key_length": DIMS,
        "expert_count": EXPERTS,
        "rope.freq_base": 100.0,
        "rope.freq_base_swa": 25.0,
        "attention.sliding_window_pattern": 2,
    }
    named = {f"{family}.{name}": value for name, value in values.items()}
    return {"general.architecture": family, "general.alignment": 32, **named}


def hf_tensors(model: Model, family: str) -> Arrays:
    """The names and the packing of transformers."""
    kept = 1.0 if family.startswith("gemma") else 0.0  # the part of a gain that is not stored
    tensors = {"model.embed_tokens.weight": model.embedding, "lm_head.weight": model.unembedding}
    if family != "olmo":
        tensors["model.norm.weight"] = model.final - kept
    for layer in range(LAYERS):
        parts = {**hf_attention(model, family, layer), **hf_mlp(model, family, layer)}
        parts |= {name: gain - kept for name, gain in hf_gains(model, family, layer).items()}
        tensors |= {f"model.layers.{layer}.{name}": array for name, array in parts.items()}
    return tensors


def hf_attention(model: Model, family: str, layer: int) -> Arrays:
    three = {name: rows(getattr(model, name)[layer]) for name in ("query", "key", "value")}
    parts = {"self_attn.o_proj.weight": columns(model.output[layer])}
    if family == "phi3":
        return {**parts, "self_attn.qkv_proj.weight": np.concatenate(list(three.values()))}
    for name, array in three.items():
        parts[f"self_attn.{name[0]}_proj.weight"] = array
        if family in ("qwen2", "qwen2_moe"):
            parts[f"self_attn.{name[0]}_proj.bias"] = rows(getattr(model, f"{name}_bias")[layer])
    return parts


def hf_gains(model: Model, family: str, layer: int) -> Arrays:
    before, after, before_mlp, after_mlp = model.gains[layer]
    norms = {"input_layernorm": before, "post_attention_layernorm": before_mlp}
    if family in ("gemma2", "gemma3_text"):
        norms = {"input_layernorm": before, "post_attention_layernorm": after}
        norms |= {"pre_feedforward_layernorm": before_mlp, "post_feedforward_layernorm": after_mlp}
    if family == "olmo2":
        norms = {"post_attention_layernorm": after, "post_feedforward_layernorm": after_mlp}
        norms["self_attn.q_norm"] = rows(model.query_norm[layer])
        norms["self_attn.k_norm"] = rows(model.key_norm[layer])
    if family in ("qwen3", "qwen3_moe", "gemma3_text"):
        norms |= {
            "self_attn.q_norm": model.query_norm[layer, 0],
            "self_attn.k_norm": model.key_norm[layer, 0],
        }
    return {} if family == "olmo" else {f"{name}.weight": gain for name, gain in norms.items()}


def hf_mlp(model: Model, family: str, layer: int) -> Arrays:
    gate, up, down = model.gate[layer], model.up[layer], model.down[layer]
    if family == "phi3":
        return {"mlp.gate_up_proj.weight": np.concatenate([gate[0], up[0]]), "mlp.down_proj.weight": down[0]}
    if family == "mixtral":
        parts = {"block_sparse_moe.gate.weight": model.router[layer]}
        for expert in range(EXPERTS):
            for name, array in (("w1", gate), ("w2", down), ("w3", up)):
                parts[f"block_sparse_moe.experts.{expert}.{name}.weight"] = array[expert]
        return parts
    if not family.endswith("moe"):
        return gated("mlp", gate[0], up[0], down[0])
    parts = {"mlp.gate.weight": model.router[layer]}
    for expert in range(EXPERTS):
        parts |= gated(f"mlp.experts.{expert}", gate[expert], up[expert], down[expert])
    return (
        {**parts, **gated("mlp.shared_expert", gate[-1], up[-1], down[-1])}
        if family == "qwen2_moe"
        else parts
    )


def gated(name: str, gate: np.ndarray, up: np.ndarray, down: np.ndarray) -> Arrays:
    return {
        f"{name}.gate_proj.weight": gate,
        f"{name}.up_proj.weight": up,
        f"{name}.down_proj.weight": down,
    }


def gguf_tensors(model: Model, family: str) -> Arrays:
    """The names and the packing of llama.cpp's converter."""
    tensors = {"token_embd.weight": model.embedding, "output.weight": model.unembedding}
    if family != "olmo":
        tensors["output_norm.weight"] = model.final
    for layer in range(LAYERS):
        parts = gguf_attention(model, family, layer) | gguf_gains(model, family, layer)
        parts |= gguf_mlp(model, family, layer)
        tensors |= {f"blk.{layer}.{name}": array for name, array in parts.items()}
    return tensors


def gguf_attention(model: Model, family: str, layer: int) -> Arrays:
    order: Callable[[np.ndarray], np.ndarray] = side_by_side if family in ("llama", "olmo") else np.asarray
    parts = {
        "attn_q.weight": rows(np.stack([order(head) for head in model.query[layer]])),
        "attn_k.weight": rows(np.stack([order(head) for head in model.key[layer]])),
        "attn_v.weight": rows(model.value[layer]),
    }
    output = {"attn_output.weight": columns(model.output[layer])}
    if family == "phi3":
        return {**output, "attn_qkv.weight": np.concatenate(list(parts.values()))}
    if family in ("qwen2", "qwen2moe"):
        for name in ("query", "key", "value"):
            parts[f"attn_{name[0]}.bias"] = rows(getattr(model, f"{name}_bias")[layer])
    return {**output, **parts}


def side_by_side(head: np.ndarray) -> np.ndarray:
    """Dimensions i and i + n of a head become neighbours."""
    return np.stack([head[: DIMS // 2], head[DIMS // 2 :]], axis=1).reshape(head.shape)


def gguf_gains(model: Model, family: str, layer: int) -> Arrays:
    before, after, before_mlp, after_mlp = model.gains[layer]
    norms = {"attn_norm": before, "ffn_norm": before_mlp}
    if family in ("gemma2", "gemma3", "olmo2"):
        norms = {} if family == "olmo2" else norms
        norms |= {"post_attention_norm": after, "post_ffw_norm": after_mlp}
    if family in ("qwen3", "qwen3moe", "gemma3"):
        norms |= {"attn_q_norm": model.query_norm[layer, 0], "attn_k_norm": model.key_norm[layer, 0]}
    if family == "olmo2":
        norms |= {"attn_q_norm": rows(model.query_norm[layer]), "attn_k_norm": rows(model.key_norm[layer])}
    return {} if family == "olmo" else {f"{name}.weight": gain for name, gain in norms.items()}


def gguf_mlp(model: Model, family: str, layer: int) -> Arrays:
    gate, up, down = model.gate[layer], model.up[layer], model.down[layer]
    if family == "phi3":
        return {"ffn_up.weight": np.concatenate([gate[0], up[0]]), "ffn_down.weight": down[0]}
    if not family.endswith("moe"):
        return {"ffn_gate.weight": gate[0], "ffn_up.weight": up[0], "ffn_down.weight": down[0]}
    parts = {"ffn_gate_inp.weight": model.router[layer]}
    for name, array in (("gate", gate), ("up", up), ("down", down)):
        parts[f"ffn_{name}_exps.weight"] = array[:EXPERTS]
        if family == "qwen2moe":
            parts[f"ffn_{name}_shexp.weight"] = array[-1]
    return parts
