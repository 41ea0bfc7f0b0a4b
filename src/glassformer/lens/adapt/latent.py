"""One layer's low-rank attention, as in DeepSeek V2 and V3: which rows of which factors are a head's.

A key is two pieces: `nope` rows of kv_b kv_a, which no position turns, and `rope` rows of kv_a itself, which
all heads share and RoPE turns. A value is `value` rows of kv_b kv_a. Queries are q_b q_a, or one matrix.

    key   = [[W_KV_b[head, :nope], W_KV_a[:rank]], [W_KV_a[rank:]]]
    value = [[W_KV_b[head, nope:], W_KV_a[:rank]]]
"""

from dataclasses import dataclass, replace

from glassformer.lens.adapt.build import cut_view, cut_view_columns, cut_view_part
from glassformer.lens.adapt.families import DecoderFamily
from glassformer.lens.adapt.names import TensorNames
from glassformer.lens.layout import HeadLayout, Map, RopeLayout, View, Weight

_AS_STORED = (
    "W_K_b is stored a head transposed: its spectrum is that of the stored matrix, rank x heads by nope"
)


@dataclass(frozen=True)
class LatentNames:
    """Names of the low-rank attention; those of everything else are the family's."""

    family: DecoderFamily
    query_a: str
    query_a_norm: str
    query_b: str
    kv_a: str
    kv_a_norm: str
    kv_b: str
    key_b: str = ""  # stored a head transposed: rank x nope
    value_b: str = ""


@dataclass(frozen=True)
class LatentSizes:
    """What the configuration says: a head's query has nope + rope dimensions, its value `value`."""

    layers: int
    width: int
    heads: int
    nope: int
    rope: int
    value: int
    rank: int  # of keys and values

    @property
    def because(self) -> str:
        dims = f"{self.heads} heads of {self.nope} + {self.rope} and {self.value}"
        return f"{dims}, rank {self.rank}, width {self.width}"


@dataclass(frozen=True)
class LatentAttention:
    """One layer's low-rank attention."""

    names: TensorNames  # at the layer
    table: LatentNames
    sizes: LatentSizes
    layer: int

    def matrix(self, name: str, *shape: int) -> View:
        return self.names.matrix(f"{name.removesuffix('.weight')}.weight", shape, self.sizes.because)

    def reading(self, view: View) -> View:
        return replace(view, gain=self.names.gain(self.table.family.attention_norm, self.sizes.width))

    @property
    def is_query_low_rank(self) -> bool:
        return self.names.has(f"{self.table.query_a}.weight")

    @property
    def is_split(self) -> bool:
        return bool(self.table.key_b) and self.names.has(f"{self.table.key_b}.weight")

    def query_views(self) -> tuple[View, ...]:
        """The factors of all heads' queries, the last one reads the stream."""
        outputs = self.sizes.heads * (self.sizes.nope + self.sizes.rope)
        if not self.is_query_low_rank:
            return (self.reading(self.matrix(self.table.family.query, outputs, self.sizes.width)),)
        rank = self.names.rows(f"{self.table.query_a}.weight")
        inner = self.names.gain(self.table.query_a_norm, rank)
        second = replace(self.matrix(self.table.query_b, outputs, rank), gain=inner)
        return second, self.reading(self.matrix(self.table.query_a, rank, self.sizes.width))

    def kv_a(self) -> View:
        return self.reading(self.matrix(self.table.kv_a, self.sizes.rank + self.sizes.rope, self.sizes.width))

    def kv_b(self) -> View:
        rows = self.sizes.heads * (self.sizes.nope + self.sizes.value)
        return self.inner(self.matrix(self.table.kv_b, rows, self.sizes.rank))

    def inner(self, view: View) -> View:
        """What reads the latent, with the gain of the norm on it."""
        return replace(view, gain=self.names.gain(self.table.kv_a_norm, self.sizes.rank))

    def key_b(self) -> View:
        stored = self.matrix(self.table.key_b, self.sizes.heads, self.sizes.rank, self.sizes.nope)
        return replace(stored, is_transposed=True)

    def value_b(self) -> View:
        return self.inner(
            self.matrix(self.table.value_b, self.sizes.heads, self.sizes.value, self.sizes.rank)
        )

    def output(self) -> View:
        return self.matrix(self.table.family.output, self.sizes.width, self.sizes.heads * self.sizes.value)

    def weights(self) -> tuple[Weight, ...]:
        query = self.query_views()
        kinds = ("W_Q_b", "W_Q_a") if self.is_query_low_rank else ("W_Q",)
        latent = (
            (("W_K_b", self.key_b()), ("W_V_b", self.value_b()))
            if self.is_split
            else (("W_KV_b", self.kv_b()),)
        )
        found = [*zip(kinds, query, strict=True), ("W_KV_a", self.kv_a()), *latent]
        reading = tuple(
            Weight(self.layer, kind, view, "none" if kind.endswith("_b") else "in") for kind, view in found
        )
        return (*reading, Weight(self.layer, "W_O", self.output(), "out"))

    def heads(self, rope: RopeLayout | None) -> list[HeadLayout]:
        dims, query, output = self.sizes.nope + self.sizes.rope, self.query_views(), self.output()
        found = []
        for index in range(self.sizes.heads):
            key, value = self.key_value(index)
            asking = (cut_view_part(query[0], index, dims), *query[1:])
            columns = index * self.sizes.value, (index + 1) * self.sizes.value
            written = cut_view_columns(output, *columns)
            found.append(HeadLayout(self.layer, index, index, (asking,), key, value, written, rope=rope))
        return found

    def key_value(self, index: int) -> tuple[Map, Map]:
        """A head's own key rows, then those that all heads share; and its value rows."""
        rank, whole = self.sizes.rank, self.kv_a()
        latent, shared = cut_view(whole, 0, rank), cut_view(whole, rank, rank + self.sizes.rope)
        if self.is_split:
            own = self.inner(replace(self.key_b(), columns=(index * rank, (index + 1) * rank)))
            return ((own, latent), (shared,)), (
                (cut_view_part(self.value_b(), index, self.sizes.value), latent),
            )
        both, start = self.kv_b(), index * (self.sizes.nope + self.sizes.value)
        middle, stop = start + self.sizes.nope, start + self.sizes.nope + self.sizes.value
        return ((cut_view(both, start, middle), latent), (shared,)), ((cut_view(both, middle, stop), latent),)

    def notes(self) -> tuple[str, ...]:
        biased = any(self.names.has(f"{name}.bias") for name in (self.table.query_a, self.table.kv_a))
        told = ("biases of the low-rank attention are stored, but not part of the kernels",) if biased else ()
        return (*told, _AS_STORED) if self.is_split else told
