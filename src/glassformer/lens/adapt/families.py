"""Decoders that differ only in names and a few traits: the names of their tensors, one table per family.

In a name, # is the layer and * the expert. HF names are those of transformers, GGUF names those of llama.cpp.

>>> GGUF["qwen3"].query_norm
'blk.#.attn_q_norm.weight'
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True)
class ExpertNames:
    """Names of a layer's experts: either three tensors per expert, or stacked ones of three axes."""

    router: str
    gate: str
    up: str
    down: str
    stacked_gate_up: str = ""  # both in one tensor, gate first
    stacked_gate: str = ""
    stacked_up: str = ""
    stacked_down: str = ""


@dataclass(frozen=True)
class GatedNames:
    """Names of an MLP with a gate."""

    gate: str
    up: str
    down: str
    gate_up: str = ""  # both in one tensor, gate first


@dataclass(frozen=True)
class DecoderFamily:
    """Where a decoder keeps its matrices and norms; an empty name is a thing that it does not have."""

    embedding: str
    unembedding: str
    final_norm: str
    query: str
    key: str
    value: str
    output: str
    mlp: GatedNames
    attention_norm: str  # before attention
    mlp_norm: str  # before the MLP
    attention_after: str = ""  # a norm on what attention writes
    mlp_after: str = ""
    query_key_value: str = ""  # all three in one tensor
    query_norm: str = ""
    key_norm: str = ""
    experts: ExpertNames | None = None
    shared: GatedNames | None = None  # an expert that every token goes through
    is_norm_shared: bool = True  # query and key norms: one gain for all heads
    gain_offset: float = 0.0  # gains are this much more than what is stored
    pairs: Literal["halves", "adjacent"] = "halves"
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of the library, which config.json leaves out


LLAMA = DecoderFamily(
    embedding="embed_tokens.weight",
    unembedding="lm_head.weight",
    final_norm="norm.weight",
    query="layers.#.self_attn.q_proj.weight",
    key="layers.#.self_attn.k_proj.weight",
    value="layers.#.self_attn.v_proj.weight",
    output="layers.#.self_attn.o_proj.weight",
    mlp=GatedNames(
        gate="layers.#.mlp.gate_proj.weight",
        up="layers.#.mlp.up_proj.weight",
        down="layers.#.mlp.down_proj.weight",
        gate_up="layers.#.mlp.gate_up_proj.weight",
    ),
    attention_norm="layers.#.input_layernorm.weight",
    mlp_norm="layers.#.post_attention_layernorm.weight",
)
_QWEN3 = replace(
    LLAMA, query_norm="layers.#.self_attn.q_norm.weight", key_norm="layers.#.self_attn.k_norm.weight"
)
_GEMMA = replace(LLAMA, gain_offset=1.0)
_GEMMA2 = replace(
    _GEMMA,
    attention_after="layers.#.post_attention_layernorm.weight",
    mlp_norm="layers.#.pre_feedforward_layernorm.weight",
    mlp_after="layers.#.post_feedforward_layernorm.weight",
)
_GEMMA3 = replace(
    _GEMMA2,
    query_norm=_QWEN3.query_norm,
    key_norm=_QWEN3.key_norm,
    defaults={  # of Gemma3TextConfig: the 4B's text_config names none of these
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "rope_theta": 1_000_000.0,
        "rope_local_base_freq": 10_000.0,
        "sliding_window_pattern": 6,
    },
)
_PHI3 = replace(LLAMA, query_key_value="layers.#.self_attn.qkv_proj.weight")
_OLMO = replace(LLAMA, attention_norm="", mlp_norm="", final_norm="")  # norms without gains
_OLMO2 = replace(
    _QWEN3,
    attention_norm="",
    mlp_norm="",
    attention_after="layers.#.post_attention_layernorm.weight",
    mlp_after="layers.#.post_feedforward_layernorm.weight",
    is_norm_shared=False,
)
QWEN_EXPERTS = ExpertNames(
    router="layers.#.mlp.gate.weight",
    gate="layers.#.mlp.experts.*.gate_proj.weight",
    up="layers.#.mlp.experts.*.up_proj.weight",
    down="layers.#.mlp.experts.*.down_proj.weight",
    stacked_gate_up="layers.#.mlp.experts.gate_up_proj",
    stacked_down="layers.#.mlp.experts.down_proj",
)
_QWEN_SHARED = GatedNames(
    gate="layers.#.mlp.shared_expert.gate_proj.weight",
    up="layers.#.mlp.shared_expert.up_proj.weight",
    down="layers.#.mlp.shared_expert.down_proj.weight",
)
_MIXTRAL_EXPERTS = ExpertNames(
    router="layers.#.block_sparse_moe.gate.weight",
    gate="layers.#.block_sparse_moe.experts.*.w1.weight",
    up="layers.#.block_sparse_moe.experts.*.w3.weight",
    down="layers.#.block_sparse_moe.experts.*.w2.weight",
)

HF: Mapping[str, DecoderFamily] = {
    "llama": LLAMA,
    "mistral": LLAMA,
    "ministral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": _QWEN3,
    "gemma": _GEMMA,
    "gemma2": _GEMMA2,
    "gemma3": _GEMMA3,
    "gemma3text": _GEMMA3,
    "phi3": _PHI3,
    "olmo": _OLMO,
    "olmo2": _OLMO2,
    "mixtral": replace(LLAMA, experts=_MIXTRAL_EXPERTS),
    "qwen2moe": replace(LLAMA, experts=QWEN_EXPERTS, shared=_QWEN_SHARED),
    "qwen3moe": replace(_QWEN3, experts=QWEN_EXPERTS),
}

GGUF_EXPERTS = ExpertNames(
    router="blk.#.ffn_gate_inp.weight",
    gate="blk.#.ffn_gate.*.weight",
    up="blk.#.ffn_up.*.weight",
    down="blk.#.ffn_down.*.weight",
    stacked_gate="blk.#.ffn_gate_exps.weight",
    stacked_up="blk.#.ffn_up_exps.weight",
    stacked_down="blk.#.ffn_down_exps.weight",
)
GGUF_SHARED = GatedNames(
    gate="blk.#.ffn_gate_shexp.weight", up="blk.#.ffn_up_shexp.weight", down="blk.#.ffn_down_shexp.weight"
)
GGUF_PLAIN = DecoderFamily(
    embedding="token_embd.weight",
    unembedding="output.weight",
    final_norm="output_norm.weight",
    query="blk.#.attn_q.weight",
    key="blk.#.attn_k.weight",
    value="blk.#.attn_v.weight",
    output="blk.#.attn_output.weight",
    mlp=GatedNames(gate="blk.#.ffn_gate.weight", up="blk.#.ffn_up.weight", down="blk.#.ffn_down.weight"),
    query_key_value="blk.#.attn_qkv.weight",
    attention_norm="blk.#.attn_norm.weight",
    mlp_norm="blk.#.ffn_norm.weight",
)
_GGUF_QWEN3 = replace(GGUF_PLAIN, query_norm="blk.#.attn_q_norm.weight", key_norm="blk.#.attn_k_norm.weight")
_GGUF_GEMMA2 = replace(
    GGUF_PLAIN,  # the converter has added the 1 to the gains
    attention_after="blk.#.post_attention_norm.weight",
    mlp_after="blk.#.post_ffw_norm.weight",
)
_GGUF_GEMMA3 = replace(
    _GGUF_GEMMA2,
    query_norm=_GGUF_QWEN3.query_norm,
    key_norm=_GGUF_QWEN3.key_norm,
    defaults={"sliding_window_pattern": 6, "rope.freq_base_swa": 10_000.0},  # llama.cpp's, in no older file
)
# llama.cpp's converter reorders the query and key rows of these two, so that a pair lies side by side
_ADJACENT = replace(GGUF_PLAIN, pairs="adjacent")

GGUF: Mapping[str, DecoderFamily] = {
    "llama": replace(_ADJACENT, experts=GGUF_EXPERTS),
    "qwen2": GGUF_PLAIN,
    "qwen3": _GGUF_QWEN3,
    "gemma": GGUF_PLAIN,
    "gemma2": _GGUF_GEMMA2,
    "gemma3": _GGUF_GEMMA3,
    "phi3": replace(GGUF_PLAIN, mlp=replace(GGUF_PLAIN.mlp, gate_up="blk.#.ffn_up.weight")),
    "olmo": replace(_ADJACENT, attention_norm="", mlp_norm="", final_norm=""),
    "olmo2": replace(_GGUF_GEMMA3, attention_norm="", mlp_norm="", is_norm_shared=False, defaults={}),
    "qwen2moe": replace(GGUF_PLAIN, experts=GGUF_EXPERTS, shared=GGUF_SHARED),
    "qwen3moe": replace(_GGUF_QWEN3, experts=GGUF_EXPERTS),
}
