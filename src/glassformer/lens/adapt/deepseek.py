"""DeepSeek V2 and V3: low-rank attention (latent.py), then an MLP, or experts and a shared one.

The 671B model's first three layers have an MLP, all others 256 experts; layers that predict further tokens
come after the last one and stand under their own names.
"""

from dataclasses import replace

from glassformer.core.errors import UserError
from glassformer.lens.adapt.config import CheckpointConfig, read_model_config
from glassformer.lens.adapt.decoder import list_unembedding_weights, read_embedding
from glassformer.lens.adapt.experts import list_feedforward_weights
from glassformer.lens.adapt.families import (
    GGUF_EXPERTS,
    GGUF_PLAIN,
    GGUF_SHARED,
    LLAMA,
    QWEN_EXPERTS,
    GatedNames,
)
from glassformer.lens.adapt.latent import LatentAttention, LatentNames, LatentSizes
from glassformer.lens.adapt.names import TensorNames
from glassformer.lens.adapt.rope_config import Ropes, read_ropes
from glassformer.lens.layout import ModelLayout
from glassformer.lens.read.checkpoint import Checkpoint

_HF = LatentNames(
    family=replace(
        LLAMA,
        experts=QWEN_EXPERTS,
        shared=GatedNames(
            gate="layers.#.mlp.shared_experts.gate_proj.weight",
            up="layers.#.mlp.shared_experts.up_proj.weight",
            down="layers.#.mlp.shared_experts.down_proj.weight",
        ),
    ),
    query_a="layers.#.self_attn.q_a_proj",
    query_a_norm="layers.#.self_attn.q_a_layernorm.weight",
    query_b="layers.#.self_attn.q_b_proj",
    kv_a="layers.#.self_attn.kv_a_proj_with_mqa",
    kv_a_norm="layers.#.self_attn.kv_a_layernorm.weight",
    kv_b="layers.#.self_attn.kv_b_proj",
)
_GGUF = LatentNames(
    family=replace(GGUF_PLAIN, experts=GGUF_EXPERTS, shared=GGUF_SHARED),
    query_a="blk.#.attn_q_a",
    query_a_norm="blk.#.attn_q_a_norm.weight",
    query_b="blk.#.attn_q_b",
    kv_a="blk.#.attn_kv_a_mqa",
    kv_a_norm="blk.#.attn_kv_a_norm.weight",
    kv_b="blk.#.attn_kv_b",
    key_b="blk.#.attn_k_b",
    value_b="blk.#.attn_v_b",
)


def read_deepseek(checkpoint: Checkpoint) -> ModelLayout:
    """The layout of a decoder with low-rank attention."""
    config, is_gguf = read_model_config(checkpoint), checkpoint.kind == "gguf"
    table, sizes = (_GGUF, _read_gguf_sizes(config)) if is_gguf else (_HF, _read_hf_sizes(config))
    names = TensorNames.find(checkpoint, table.family.output.replace("#", "0"))
    ropes, notes = _read_latent_ropes(checkpoint, config, sizes)
    weights, heads = [read_embedding(names, table.family, sizes.width, sizes.because)], []
    for layer in range(sizes.layers):
        here = LatentAttention(names.at(layer), table, sizes, layer)
        weights += [
            *here.weights(),
            *list_feedforward_weights(names, table.family, config, layer, sizes.width),
        ]
        heads += here.heads(ropes[layer])
        notes = (*notes, *here.notes())
    return ModelLayout(
        "deepseek2" if is_gguf else config.word("model_type", default="deepseek"),
        sizes.layers,
        sizes.heads,
        sizes.heads,
        sizes.nope + sizes.rope,
        sizes.width,
        weights=(*weights, *list_unembedding_weights(names, table.family, sizes.width, sizes.because)),
        attention=tuple(heads),
        notes=tuple(dict.fromkeys(notes)),
    )


def _read_hf_sizes(config: CheckpointConfig) -> LatentSizes:
    return LatentSizes(
        config.count("num_hidden_layers"),
        config.count("hidden_size"),
        config.count("num_attention_heads"),
        config.count("qk_nope_head_dim"),
        config.count("qk_rope_head_dim"),
        config.count("v_head_dim"),
        config.count("kv_lora_rank"),
    )


def _read_gguf_sizes(config: CheckpointConfig) -> LatentSizes:
    """A newer file's key_length is that of the shared latent; the head's own then has _mla at its end."""
    whole = config.count("attention.key_length_mla", "attention.key_length")
    rope = config.count("rope.dimension_count")
    if rope >= whole:
        raise UserError(
            f"{config.source}: 'rope.dimension_count' must be below the key length {whole}, but it is {rope}"
        )
    return LatentSizes(
        config.count("block_count"),
        config.count("embedding_length"),
        config.count("attention.head_count"),
        whole - rope,
        rope,
        config.count("attention.value_length_mla", "attention.value_length"),
        config.count("attention.kv_lora_rank"),
    )


def _read_latent_ropes(checkpoint: Checkpoint, config: CheckpointConfig, sizes: LatentSizes) -> Ropes:
    """The last dimensions of a head are turned, in adjacent pairs unless config.json says otherwise."""
    types = ["full_attention"] * sizes.layers
    is_adjacent = checkpoint.kind == "gguf" or config.flag("rope_interleave", default=True)
    without = {name: value for name, value in config.values.items() if name != "partial_rotary_factor"}
    said = CheckpointConfig(without, config.source)
    ropes, notes = read_ropes(said, checkpoint, types, sizes.rope, "adjacent" if is_adjacent else "halves")
    return tuple(one and replace(one, first=sizes.nope) for one in ropes), notes
