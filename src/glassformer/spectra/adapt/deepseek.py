"""DeepSeek V2 and V3: low-rank attention (latent.py), then an MLP, or experts and a shared one.

The 671B model's first three layers have an MLP, all others 256 experts; layers that predict further tokens
come after the last one and stand under their own names.
"""

from dataclasses import replace

from glassformer.errors import UserError
from glassformer.spectra.adapt.build import embedding_weight
from glassformer.spectra.adapt.config import Config, read_config
from glassformer.spectra.adapt.experts import feed_forward_weights
from glassformer.spectra.adapt.families import (
    GGUF_EXPERTS,
    GGUF_PLAIN,
    GGUF_SHARED,
    LLAMA,
    QWEN_EXPERTS,
    Family,
    Gated,
)
from glassformer.spectra.adapt.latent import LatentAttention, LatentNames, Sizes
from glassformer.spectra.adapt.names import Names
from glassformer.spectra.adapt.rope_config import Pairs, Ropes, gguf_ropes, layer_ropes
from glassformer.spectra.layout import Layout, Weight
from glassformer.spectra.read.checkpoint import Checkpoint

HF = LatentNames(
    family=replace(
        LLAMA,
        experts=QWEN_EXPERTS,
        shared=Gated(
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
GGUF = LatentNames(
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


def read_deepseek(checkpoint: Checkpoint) -> Layout:
    """The layout of a decoder with low-rank attention."""
    config, is_gguf = read_config(checkpoint), checkpoint.kind == "gguf"
    table, sizes = (GGUF, gguf_sizes(config)) if is_gguf else (HF, hf_sizes(config))
    names = Names.find(checkpoint, table.family.output.replace("#", "0"))
    ropes, notes = read_ropes(checkpoint, config, sizes)
    weights, heads = list(embedding(names, table.family, sizes)), []
    for layer in range(sizes.layers):
        here = LatentAttention(names.at(layer), table, sizes, layer)
        weights += [*here.weights(), *feed_forward_weights(names, table.family, config, layer, sizes.width)]
        heads += here.heads(ropes[layer])
        notes = (*notes, *here.notes())
    return Layout(
        "deepseek2" if is_gguf else config.word("model_type", default="deepseek"),
        sizes.layers,
        sizes.heads,
        sizes.heads,
        sizes.nope + sizes.rope,
        sizes.width,
        weights=(*weights, *unembedding(names, table.family, sizes)),
        attention=tuple(heads),
        notes=tuple(dict.fromkeys(notes)),
    )


def hf_sizes(config: Config) -> Sizes:
    return Sizes(
        config.count("num_hidden_layers"),
        config.count("hidden_size"),
        config.count("num_attention_heads"),
        config.count("qk_nope_head_dim"),
        config.count("qk_rope_head_dim"),
        config.count("v_head_dim"),
        config.count("kv_lora_rank"),
    )


def gguf_sizes(config: Config) -> Sizes:
    """A newer file's key_length is that of the shared latent; the head's own then has _mla at its end."""
    whole = config.count("attention.key_length_mla", "attention.key_length")
    rope = config.count("rope.dimension_count")
    if rope >= whole:
        raise UserError(
            f"{config.source}: 'rope.dimension_count' must be below the key length {whole}, but it is {rope}"
        )
    return Sizes(
        config.count("block_count"),
        config.count("embedding_length"),
        config.count("attention.head_count"),
        whole - rope,
        rope,
        config.count("attention.value_length_mla", "attention.value_length"),
        config.count("attention.kv_lora_rank"),
    )


def read_ropes(checkpoint: Checkpoint, config: Config, sizes: Sizes) -> Ropes:
    """The last dimensions of a head are turned, in adjacent pairs unless config.json says otherwise."""
    types = ["full_attention"] * sizes.layers
    if checkpoint.kind == "gguf":
        ropes, notes = gguf_ropes(config, checkpoint, types, sizes.rope, "adjacent")
    else:
        pairs: Pairs = "adjacent" if config.flag("rope_interleave", default=True) else "halves"
        without = {name: value for name, value in config.values.items() if name != "partial_rotary_factor"}
        ropes, notes = layer_ropes(Config(without, config.source), types, sizes.rope, pairs)
    return tuple(one and replace(one, first=sizes.nope) for one in ropes), notes


def embedding(names: Names, family: Family, sizes: Sizes) -> tuple[Weight, ...]:
    shape = names.rows(family.embedding), sizes.width
    return (embedding_weight(names.matrix(family.embedding, shape, sizes.because)),)


def unembedding(names: Names, family: Family, sizes: Sizes) -> tuple[Weight, ...]:
    if not names.has(family.unembedding):
        return ()
    view = names.matrix(family.unembedding, (names.rows(family.unembedding), sizes.width), sizes.because)
    return (Weight(None, "W_U", replace(view, gain=names.gain(family.final_norm, sizes.width)), "in"),)
