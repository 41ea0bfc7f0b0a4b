"""OPT: separate projections with biases; the 350M model has its norms after each part, not before.

After a norm the stream itself is scaled, so that what reads it next has that norm's gain before it.
"""

from dataclasses import dataclass, replace

from glassformer.lens.adapt.build import (
    LayerAttention,
    list_attention_weights,
    list_mlp_weights,
    make_embedding_weight,
)
from glassformer.lens.adapt.config import read_model_config
from glassformer.lens.adapt.fused import ModelSizes, read_model_sizes
from glassformer.lens.adapt.names import TensorNames, require_all_layers
from glassformer.lens.layout import ModelLayout, Vector, View, Weight
from glassformer.lens.read.checkpoint import Checkpoint

_QUERY = "layers.#.self_attn.q_proj.weight"


def read_opt(checkpoint: Checkpoint) -> ModelLayout:
    """The layout of an OPT decoder."""
    config = read_model_config(checkpoint)
    sizes, names = read_model_sizes(config), TensorNames.find(checkpoint, _QUERY.replace("#", "0"))
    require_all_layers(names, _QUERY, sizes.layers)
    here = _OptReader(names, sizes, config.flag("do_layer_norm_before", default=True))
    attention = [here.attention(layer) for layer in range(sizes.layers)]
    weights = [weight for one in attention for weight in (*list_attention_weights(one), *here.mlp(one.layer))]
    return sizes.layout("opt", (*here.embeddings(), *weights, *here.unembedding()), attention)


@dataclass(frozen=True)
class _OptReader:
    """The matrices of OPT, layer by layer."""

    names: TensorNames
    sizes: ModelSizes
    is_norm_before: bool

    def attention(self, layer: int) -> LayerAttention:
        start, sizes, width = f"layers.{layer}.self_attn.", self.sizes, self.sizes.width
        inner = sizes.heads * sizes.head_dim
        before = (
            self.gain(f"layers.{layer}.self_attn_layer_norm")
            if self.is_norm_before
            else self.after(layer - 1)
        )
        query, key, value = (
            replace(self.matrix(f"{start}{key}_proj", inner, width), gain=before) for key in "qkv"
        )
        return LayerAttention(
            layer,
            sizes.heads,
            sizes.heads,
            sizes.head_dim,
            query,
            key,
            value,
            output=self.matrix(f"{start}out_proj", width, inner),
            query_bias=self.names.bias(f"{start}q_proj.bias", inner),
            key_bias=self.names.bias(f"{start}k_proj.bias", inner),
        )

    def mlp(self, layer: int) -> tuple[Weight, ...]:
        start, width = f"layers.{layer}.", self.sizes.width
        hidden = self.names.rows(f"{start}fc1.weight")
        norm = "final_layer_norm" if self.is_norm_before else "self_attn_layer_norm"
        up = replace(self.matrix(f"{start}fc1", hidden, width), gain=self.gain(start + norm))
        return list_mlp_weights(layer, up, self.matrix(f"{start}fc2", width, hidden))

    def after(self, layer: int) -> Vector | None:
        """The gain of the norm that ends a layer; before the first there is none."""
        return self.gain(f"layers.{layer}.final_layer_norm") if layer >= 0 else None

    def gain(self, name: str) -> Vector | None:
        """Norms without gains have none."""
        return self.names.bias(f"{name}.weight", self.sizes.width, "its width")

    def matrix(self, name: str, out: int, dims: int) -> View:
        return self.names.matrix(f"{name}.weight", (out, dims), self.sizes.because)

    def embeddings(self) -> tuple[Weight, ...]:
        """Tokens (through a projection where they have fewer dimensions than the stream) and positions."""
        width, table = self.sizes.width, "embed_tokens.weight"
        vocabulary, dims = self.names.rows(table), self.names.columns(table)
        places = self.names.rows("embed_positions.weight")
        tokens = make_embedding_weight(self.matrix("embed_tokens", vocabulary, dims))
        where = replace(make_embedding_weight(self.matrix("embed_positions", places, width)), type="W_pos")
        if not self.names.has("project_in.weight"):
            self.matrix("embed_tokens", vocabulary, width)
            return tokens, where
        inward = Weight(None, "W_in", self.matrix("project_in", width, dims), "out")
        return replace(tokens, stream="none"), inward, where

    def unembedding(self) -> tuple[Weight, ...]:
        before = self.gain("final_layer_norm") if self.is_norm_before else self.after(self.sizes.layers - 1)
        found: list[Weight] = []
        dims = self.names.columns("embed_tokens.weight")
        if self.names.has("project_out.weight"):
            outward = replace(self.matrix("project_out", dims, self.sizes.width), gain=before)
            found.append(Weight(None, "W_out", outward, "in"))
        if self.names.has("lm_head.weight"):
            head = self.matrix("lm_head", self.names.rows("lm_head.weight"), dims)
            last = (
                Weight(None, "W_U", head, "none")
                if found
                else Weight(None, "W_U", replace(head, gain=before), "in")
            )
            found.append(last)
        return tuple(found)
