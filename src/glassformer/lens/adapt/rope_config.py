"""Which rotation each layer has, by config.json (transformers 4 and 5) or by the metadata of a GGUF file.

>>> config = CheckpointConfig({"rope_theta": 100.0}, "config.json")
>>> read_config_ropes(config, ["full_attention"], 4, "halves")
((RopeLayout(rates=(1.0, 0.1), pairs='halves', first=0),), ())
"""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Literal

from glassformer.core.errors import UserError
from glassformer.lens.adapt.config import CheckpointConfig
from glassformer.lens.adapt.rope import Rates, compute_plain_rates, compute_scaled_rates, require_pair_factors
from glassformer.lens.layout import RopeLayout
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.quoted import quote_name

Pairs = Literal["halves", "adjacent"]
Ropes = tuple[tuple[RopeLayout | None, ...], tuple[str, ...]]  # one per layer, and notes
_BASE = 10_000.0  # where none is said, as in every library
_FULL, _SLIDING = "full_attention", "sliding_attention"


def list_layer_types(config: CheckpointConfig, layers: int) -> list[str]:
    """full_attention or sliding_attention for each layer; every n-th is full under a pattern of n."""
    said = config.get("layer_types", "attention.sliding_window_pattern", "sliding_window_pattern")
    if isinstance(said, Integral) and int(said) > 0:
        return [_SLIDING if (layer + 1) % int(said) else _FULL for layer in range(layers)]
    if not isinstance(said, list | tuple):
        return [_FULL] * layers
    if len(said) != layers:
        raise UserError(f"{config.source}: the types of {len(said)} layers are said, but there are {layers}")
    return [kind if isinstance(kind, str) else _SLIDING if kind else _FULL for kind in said]


def read_ropes(
    config: CheckpointConfig, checkpoint: Checkpoint, types: Sequence[str], head_dim: int, pairs: Pairs
) -> Ropes:
    """The rotation of each layer, by what kind of file it is."""
    if checkpoint.kind == "gguf":
        return read_gguf_ropes(config, checkpoint, types, head_dim, pairs)
    return read_config_ropes(config, types, head_dim, pairs)


def read_config_ropes(config: CheckpointConfig, types: Sequence[str], head_dim: int, pairs: Pairs) -> Ropes:
    """The rotation of each layer by config.json; none, with a note, under an unknown scaling."""
    found = {kind: _read_rope(_read_rope_parameters(config, kind), head_dim, pairs) for kind in set(types)}
    unknown = {
        _read_rope_scaling(_read_rope_parameters(config, kind))
        for kind, rope in found.items()
        if rope is None
    }
    return tuple(found[kind] for kind in types), tuple(
        _describe_unknown_scaling(scaling) for scaling in sorted(unknown)
    )


def _read_rope_parameters(config: CheckpointConfig, kind: str) -> CheckpointConfig:
    """All that is said about the rotation of one type of layer, in one table."""
    local = config.get("rope_local_base_freq")
    both = config.table("rope_parameters") or config.table("rope_scaling")
    if config.table("rope_parameters") is None and local is not None and kind == _SLIDING:
        return CheckpointConfig({**config.values, "rope_theta": local}, config.source)
    own = (both.table(kind) or both) if both else None
    return CheckpointConfig({**config.values, **(own.values if own else {})}, config.source)


def _read_rope(said: CheckpointConfig, head_dim: int, pairs: Pairs) -> RopeLayout | None:
    share = said.number("partial_rotary_factor", default=1.0)
    dims = int(head_dim * share)
    _require_rope_dims(dims, head_dim, f"{said.source}: 'partial_rotary_factor'")
    rates = compute_scaled_rates(
        _read_rope_scaling(said), said.number("rope_theta", default=_BASE), dims, said
    )
    return None if rates is None else _make_rope(rates, pairs)


def _read_rope_scaling(said: CheckpointConfig) -> str:
    return said.word("rope_type", "type", default="default")


def read_gguf_ropes(
    config: CheckpointConfig, checkpoint: Checkpoint, types: Sequence[str], head_dim: int, pairs: Pairs
) -> Ropes:
    """The rotation of each layer by GGUF metadata, and by the tensors that hold a factor for each pair."""
    dims = config.count("rope.dimension_count", default=head_dim)
    _require_rope_dims(dims, head_dim, f"{config.source}: 'rope.dimension_count'")
    base = config.number("rope.freq_base", default=_BASE)
    local = compute_plain_rates(config.number("rope.freq_base_swa", default=base), dims)
    scaling = config.word("rope.scaling.type", default="none")
    rates = compute_scaled_rates(
        "none" if scaling == "longrope" else scaling, base, dims, _read_gguf_scaling(config)
    )
    if rates is None:
        return (None,) * len(types), (_describe_unknown_scaling(scaling),)
    full = _make_rope(rates / _find_stored_factors(checkpoint, dims), pairs)
    return tuple(_make_rope(local, pairs) if kind == _SLIDING else full for kind in types), ()


def _read_gguf_scaling(config: CheckpointConfig) -> CheckpointConfig:
    names: Mapping[str, str] = {
        "factor": "rope.scaling.factor",
        "original_max_position_embeddings": "rope.scaling.original_context_length",
        "max_position_embeddings": "context_length",
        "beta_fast": "rope.scaling.yarn_beta_fast",
        "beta_slow": "rope.scaling.yarn_beta_slow",
    }
    return CheckpointConfig({name: config.get(stored) for name, stored in names.items()}, config.source)


def _find_stored_factors(checkpoint: Checkpoint, dims: int) -> Rates | float:
    """Llama 3's and longrope's factors are tensors in a GGUF file."""
    for name in ("rope_freqs.weight", "rope_factors_short.weight"):
        if name in checkpoint.tensors:
            place = f"{checkpoint.source}: '{name}'"
            return require_pair_factors(checkpoint.tensors[name].vector(), dims, place)
    return 1.0


def _make_rope(rates: Rates, pairs: Pairs) -> RopeLayout:
    return RopeLayout(tuple(float(rate) for rate in rates), pairs)


def _require_rope_dims(dims: int, head_dim: int, place: str) -> None:
    if not 0 < dims <= head_dim or dims % 2:
        raise UserError(
            f"{place} turns {dims} dimensions of a head that has {head_dim}; it must be an even number"
        )


def _describe_unknown_scaling(scaling: str) -> str:
    return f"rotations were not read: their scaling {quote_name(scaling)} is not known here"
