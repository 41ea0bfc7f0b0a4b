"""Which rotation each layer has, by config.json (transformers 4 and 5) or by the metadata of a GGUF file.

>>> config = Config({"rope_theta": 100.0}, "config.json")
>>> layer_ropes(config, ["full_attention"], 4, "halves")
((Rope(rates=(1.0, 0.1), pairs='halves', first=0),), ())
"""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Literal

from glassformer.errors import UserError
from glassformer.spectra.adapt.config import Config
from glassformer.spectra.adapt.rope import Rates, pair_factors, plain_rates, scaled_rates
from glassformer.spectra.layout import Rope
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.read.quoted import quoted

Pairs = Literal["halves", "adjacent"]
Ropes = tuple[tuple[Rope | None, ...], tuple[str, ...]]  # one a layer, and notes
BASE = 10_000.0  # where none is said, as in every library
FULL, SLIDING = "full_attention", "sliding_attention"


def layer_types(config: Config, layers: int) -> list[str]:
    """full_attention or sliding_attention for each layer; every n-th is full under a pattern of n."""
    said = config.get("layer_types", "attention.sliding_window_pattern", "sliding_window_pattern")
    if isinstance(said, Integral) and int(said) > 0:
        return [SLIDING if (layer + 1) % int(said) else FULL for layer in range(layers)]
    if not isinstance(said, list | tuple):
        return [FULL] * layers
    if len(said) != layers:
        raise UserError(f"{config.source}: the types of {len(said)} layers are said, but there are {layers}")
    return [kind if isinstance(kind, str) else SLIDING if kind else FULL for kind in said]


def layer_ropes(config: Config, types: Sequence[str], head_dim: int, pairs: Pairs) -> Ropes:
    """The rotation of each layer by config.json; none, with a note, under an unknown scaling."""
    found = {kind: rope_of(parameters(config, kind), head_dim, pairs) for kind in set(types)}
    unknown = {scaling_of(parameters(config, kind)) for kind, rope in found.items() if rope is None}
    return tuple(found[kind] for kind in types), tuple(no_rope(scaling) for scaling in sorted(unknown))


def parameters(config: Config, kind: str) -> Config:
    """All that is said about the rotation of one type of layer, in one table."""
    local = config.get("rope_local_base_freq")
    both = config.table("rope_parameters") or config.table("rope_scaling")
    if config.table("rope_parameters") is None and local is not None and kind == SLIDING:
        return Config({**config.values, "rope_theta": local}, config.source)
    own = (both.table(kind) or both) if both else None
    return Config({**config.values, **(own.values if own else {})}, config.source)


def rope_of(said: Config, head_dim: int, pairs: Pairs) -> Rope | None:
    share = said.number("partial_rotary_factor", default=1.0)
    dims = int(head_dim * share)
    checked_dims(dims, head_dim, f"{said.source}: 'partial_rotary_factor'")
    rates = scaled_rates(scaling_of(said), said.number("rope_theta", default=BASE), dims, said)
    return None if rates is None else rope(rates, pairs)


def scaling_of(said: Config) -> str:
    return said.word("rope_type", "type", default="default")


def gguf_ropes(
    config: Config, checkpoint: Checkpoint, types: Sequence[str], head_dim: int, pairs: Pairs
) -> Ropes:
    """The rotation of each layer by GGUF metadata, and by the tensors that hold a factor for each pair."""
    dims = config.count("rope.dimension_count", default=head_dim)
    checked_dims(dims, head_dim, f"{config.source}: 'rope.dimension_count'")
    base = config.number("rope.freq_base", default=BASE)
    local = plain_rates(config.number("rope.freq_base_swa", default=base), dims)
    scaling = config.word("rope.scaling.type", default="none")
    rates = scaled_rates("none" if scaling == "longrope" else scaling, base, dims, gguf_scaling(config))
    if rates is None:
        return (None,) * len(types), (no_rope(scaling),)
    full = rope(rates / stored_factors(checkpoint, dims), pairs)
    return tuple(rope(local, pairs) if kind == SLIDING else full for kind in types), ()


def gguf_scaling(config: Config) -> Config:
    names: Mapping[str, str] = {
        "factor": "rope.scaling.factor",
        "original_max_position_embeddings": "rope.scaling.original_context_length",
        "max_position_embeddings": "context_length",
        "beta_fast": "rope.scaling.yarn_beta_fast",
        "beta_slow": "rope.scaling.yarn_beta_slow",
    }
    return Config({name: config.get(stored) for name, stored in names.items()}, config.source)


def stored_factors(checkpoint: Checkpoint, dims: int) -> Rates | float:
    """Llama 3's and longrope's factors are tensors in a GGUF file."""
    for name in ("rope_freqs.weight", "rope_factors_short.weight"):
        if name in checkpoint.tensors:
            place = f"{checkpoint.source}: '{name}'"
            return pair_factors(checkpoint.tensors[name].vector(), dims, place)
    return 1.0


def rope(rates: Rates, pairs: Pairs) -> Rope:
    return Rope(tuple(float(rate) for rate in rates), pairs)


def checked_dims(dims: int, head_dim: int, place: str) -> None:
    if not 0 < dims <= head_dim or dims % 2:
        raise UserError(
            f"{place} turns {dims} dimensions of a head that has {head_dim}; it must be an even number"
        )


def no_rope(scaling: str) -> str:
    return f"rotations were not read: their scaling {quoted(scaling)} is not known here"
