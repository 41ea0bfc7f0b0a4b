"""How large a model is: each count under its own name, and what the parameters are used for.

The reference model of width 2 stores 250 parameters. Its function depends on fewer: the 2 x 2 weights of
query and key enter through their product alone, so 4 of their 8 parameters add nothing.

>>> from glassformer.models.architecture import make_reference_architecture
>>> model = make_reference_architecture(vocab=12, width=2, context=8)
>>> params = {name: np.ones(parameter.shape) for name, parameter in list_parameters(model).items()}
>>> count_parameters(model, params, np.zeros((8, 1), np.int64), outputs=8).parts["ff.up"]
96
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.errors import require_value
from glassformer.models.architecture import Architecture
from glassformer.models.constants import Constant, count_fixed_nonzero, list_constants
from glassformer.models.forward import forward, list_all_parameters, list_parameters
from glassformer.models.mantissa import count_mantissa_bits
from glassformer.models.model import check_params
from glassformer.models.ops import Value
from glassformer.models.parameter import Parameter

MOST_FOR_RANK = 4_000  # learned parameters; above, the singular values take minutes and more than 256 MB
CHUNK_BYTES = 16 * 2**20  # of the Jacobian in memory at once
_CHUNK = 64  # contexts at a time, at most: always a power of two, so that one compiled program serves all
# Up to so many learned parameters compiling is most of the work, and a plain program is there in half the
# time.
_PLAIN_UP_TO, PLAIN = 128, {"xla_backend_optimization_level": 0}

# Over random weights of the models in tests/models the singular values of the Jacobian, its columns scaled to
# length 1, leave the range from 1e-15 to 1e-8 of the largest empty: below is rounding, above is the function.
RANK_TOLERANCE = 1e-10

# A derivative that cancels, like that of a key's bias under softmax, comes out as rounding: about 1e-16 of
# the largest derivative. This leaves it three digits.
DEAD_TOLERANCE = 1e-13


Routing = Literal["learned", "given", "none"]  # none: no attention
_ROUTES = re.compile(r"(^position|attn\.(q|k|qk_norm|k_norm|relation))\.")  # they tell where to look


@dataclass(frozen=True)
class ParameterCounts:
    """Every way to count one model; unique is the number that boards of small models compare."""

    stored: int  # parameters of a plain checkpoint: every array that the pass reads, ties written out
    unique: int  # after tying, without what the architecture fixes
    nonzero: int  # of the unique ones
    learned: int  # of the unique ones: those that training may move
    constants: int  # numbers that someone chose, by the rule of models/constants.py
    both: int  # learned and chosen together
    chosen: tuple[Constant, ...]  # the constants by name and value
    bits: int  # of mantissa, over all unique parameters as they are stored (models/mantissa.py)
    routing: Routing  # whether where attention looks is learned
    rank: int | None  # learned directions that change a logit; none above MOST_FOR_RANK
    dead: tuple[str, ...] | None  # learned parameters that change no logit: name, name[i] or name[i,j]
    parts: Mapping[str, int]  # unique parameters by part: token, attn.q, ff.up
    rank_contexts: int  # over which rank and dead were taken; 0 where there was nothing to take
    rank_settled: bool  # the rank was the same at the stop before


class _Dependence(NamedTuple):
    """What the function makes of its learned parameters, over so many contexts."""

    rank: int | None
    dead: tuple[str, ...] | None
    contexts: int
    is_settled: bool


def count_parameters(
    model: Architecture,
    params: Mapping[str, np.ndarray],
    tokens: Int[np.ndarray, "pos batch"],
    outputs: int,
    stops: tuple[int, ...] = (),
) -> ParameterCounts:
    """Count parameters; the rank is over the logits of the last `outputs` positions of all contexts.

    A rank is a lower bound that grows with the contexts, up to what the function depends on. Give many: at
    least a few times more logits than learned parameters. With `stops`, numbers of contexts, it is taken at
    each until it no longer grows.
    """
    check_params(model, params)
    require_value(
        0 < outputs <= tokens.shape[0], "outputs", f"between 1 and {tokens.shape[0]} positions", outputs
    )
    kept = list_parameters(model)
    learned = {name: np.asarray(params[name]) for name, parameter in kept.items() if parameter.learned}
    found = _measure_dependence(model, params, learned, tokens, outputs, stops or (tokens.shape[1],))
    free, chosen = count_learned(kept), tuple(list_constants(model))
    return ParameterCounts(
        stored=sum(parameter.size for parameter in list_all_parameters(model).values()),
        unique=sum(parameter.free for parameter in kept.values()),
        nonzero=sum(int(np.count_nonzero(params[name])) for name in kept) - count_fixed_nonzero(model),
        learned=free,
        constants=len(chosen),
        both=free + len(chosen),
        chosen=chosen,
        bits=count_stored_bits(kept, params),
        routing=find_routing(model),
        rank=found.rank,
        dead=found.dead,
        parts=count_by_part(model),
        rank_contexts=found.contexts,
        rank_settled=found.is_settled,
    )


def count_learned(kept: Mapping[str, Parameter]) -> int:
    """Entries that training may move."""
    return sum(parameter.free for parameter in kept.values() if parameter.learned)


def count_stored_bits(kept: Mapping[str, Parameter], params: Mapping[str, np.ndarray]) -> int:
    """Mantissa bits of all unique parameters, without what the architecture fixes."""
    numbers = (np.ravel(params[name])[parameter.free_places] for name, parameter in kept.items())
    return sum(count_mantissa_bits(float(number)) for array in numbers for number in array)


def find_routing(model: Architecture) -> Routing:
    """Learned where queries, keys, their norms, a relation or positions have a learned parameter."""
    if not any(layer.attention for layer in model.layers):
        return "none"
    learned = (name for name, one in list_parameters(model).items() if one.learned and one.free)
    return "learned" if any(_ROUTES.search(name) for name in learned) else "given"


def count_by_part(model: Architecture) -> dict[str, int]:
    """Unique parameters of each part: `attn.q.weight` and `attn.q.bias` both belong to `attn.q`."""
    sizes: dict[str, int] = {}
    for name, parameter in list_parameters(model).items():
        part = name.rpartition(".")[0]
        sizes[part] = sizes.get(part, 0) + parameter.free
    return sizes


def mark_free_entries(model: Architecture, learned: Iterable[str]) -> Bool[np.ndarray, " learned"]:
    """Of all entries of these arrays, one after the other, those that are not fixed."""
    kept, parts = list_parameters(model), []
    for name in learned:
        mask = np.ones(kept[name].shape, bool)
        for place, _ in kept[name].fixed:
            mask[place] = False
        parts.append(mask.ravel())
    return np.concatenate(parts) if parts else np.zeros(0, bool)


def _measure_dependence(
    model: Architecture,
    params: Mapping[str, np.ndarray],
    learned: Mapping[str, np.ndarray],
    tokens: Int[np.ndarray, "pos batch"],
    outputs: int,
    stops: tuple[int, ...],
) -> _Dependence:
    """The rank and the dead parameters of a small model; twice none for a large one."""
    columns = sum(array.size for array in learned.values())
    if not columns:
        return _Dependence(0, (), 0, True)
    found, free = _Dependence(None, None, 0, False), mark_free_entries(model, learned)
    if columns > MOST_FOR_RANK:
        return found
    for contexts, sketch in _sketch_jacobian(model, params, learned, tokens, outputs, stops):
        moves = _mark_moving_entries(learned, sketch)
        rank = _compute_numerical_rank(sketch[:, moves & free])
        found = _Dependence(rank, name_chosen_entries(learned, ~moves & free), contexts, rank == found.rank)
        if found.is_settled:
            break
    return found


def _sketch_jacobian(
    model: Architecture,
    params: Mapping[str, np.ndarray],
    learned: Mapping[str, np.ndarray],
    tokens: Int[np.ndarray, "pos batch"],
    outputs: int,
    stops: tuple[int, ...],
) -> Iterator[tuple[int, Float[np.ndarray, "mixture learned"]]]:
    """Random mixtures of the rows of the logits' Jacobian, in float64: its rank, and nearly its proportions.

    Twice as many mixtures as columns keep every singular value within a factor of about four (Marchenko and
    Pastur). The Jacobian is never whole in memory, and unlike J^T J the mixtures lose no digits.
    """
    import jax

    columns = sum(array.size for array in learned.values())
    most = max(1, CHUNK_BYTES // (8 * columns * model.vocab * outputs))  # contexts
    chunk = min(_CHUNK, 1 << (most.bit_length() - 1))
    random = np.random.default_rng(0)
    sketch = np.zeros((2 * columns, columns))
    with jax.enable_x64(True):
        slopes = _make_jacobian(model, params, learned, outputs)
    for begin, stop in pairwise((0, *stops)):
        for start in range(begin, stop, chunk):
            rows = slopes(tokens[:, start : min(start + chunk, stop)])
            sketch += random.normal(size=(2 * columns, len(rows))) @ rows
        yield stop, sketch


def _make_jacobian(
    model: Architecture, params: Mapping[str, np.ndarray], learned: Mapping[str, np.ndarray], outputs: int
) -> Callable[[Int[np.ndarray, "pos batch"]], Float[np.ndarray, "logit learned"]]:
    """A function from contexts to the slopes of all their logits in the learned parameters."""
    import jax
    import jax.numpy as jnp

    from glassformer.models.ops_jax import JaxOps

    ops = JaxOps("float64")
    fixed = {name: jnp.asarray(array, jnp.float64) for name, array in params.items()}
    unit = jnp.eye(model.vocab * outputs).reshape(-1, model.vocab, outputs)

    def logits(moved: dict[str, Value], context: Value) -> Value:
        return forward(model, ops, fixed | moved, context[:, None], last=outputs)[:, :, 0]

    def slopes(context: Value) -> Value:
        _, pull = jax.vjp(lambda moved: logits(moved, context), {name: fixed[name] for name in learned})
        return jax.lax.map(lambda logit: pull(logit)[0], unit)  # one at a time, to save memory

    is_small = sum(array.size for array in learned.values()) <= _PLAIN_UP_TO
    compiled = jax.jit(jax.vmap(slopes, 1), compiler_options=PLAIN if is_small else None)

    def rows(tokens: Int[np.ndarray, "pos batch"]) -> Float[np.ndarray, "logit learned"]:
        with jax.enable_x64(True):
            blocks = compiled(jnp.asarray(tokens))
        count = len(unit) * tokens.shape[1]
        return np.hstack([np.asarray(blocks[name]).reshape(count, -1) for name in learned])

    return rows


def _mark_moving_entries(
    learned: Mapping[str, np.ndarray], slopes: Float[np.ndarray, "row learned"]
) -> Bool[np.ndarray, " learned"]:
    """Which learned parameters change a logit when moved by their own size, a zero by that of its array."""
    sizes = [np.abs(array).ravel() for array in learned.values()]
    steps = [np.where(size > 0, size, size.max() or 1.0) for size in sizes]
    effects = np.linalg.norm(slopes, axis=0) * np.concatenate(steps)
    return np.asarray(effects > DEAD_TOLERANCE * effects.max())


def _compute_numerical_rank(slopes: Float[np.ndarray, "row learned"]) -> int:
    """Singular values above RANK_TOLERANCE of the largest, every column scaled to length 1."""
    if not slopes.size:
        return 0
    values = np.linalg.svd(slopes / np.linalg.norm(slopes, axis=0), compute_uv=False)
    return int(np.sum(values > RANK_TOLERANCE * values[0]))


def name_chosen_entries(
    learned: Mapping[str, np.ndarray], chosen: Bool[np.ndarray, " learned"]
) -> tuple[str, ...]:
    """Arrays that are chosen as a whole by their name, single entries as `name[i]` or `name[i,j]`."""
    found: list[str] = []
    offset = 0
    for name, array in learned.items():
        mask = chosen[offset : offset + array.size].reshape(array.shape)
        offset += array.size
        if mask.all():
            found.append(name)
        else:
            found += [f"{name}[{','.join(map(str, place))}]" for place in np.argwhere(mask)]
    return tuple(found)
