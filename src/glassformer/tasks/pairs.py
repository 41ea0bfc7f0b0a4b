"""Pairs of numbers to train on, in JAX: from short to long, and at first mostly with carries.

Step 0 of the default curriculum draws at most three digits, 80% of the pairs carry-heavy;
step 50,000 draws ten digits, all uniform. None of the board's pairs is ever drawn.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from glassformer.tasks.addition import Addition, schedule_carry_share, schedule_digits
from glassformer.tasks.board import replace_board_pairs

_KINDS = 4  # of carry-heavy pairs, equally likely
_FEW = 3  # digits added to 99..9


def draw_training_pairs(
    key: PRNGKeyArray, steps: Int[Array, " step"], batch: int, addition: Addition
) -> tuple[Int[Array, "step digit batch"], Int[Array, "step digit batch"]]:
    """Digits, units first, of the two numbers; a step's draw depends on key and step number alone.

    Pairs are drawn for a sum. Another operation gets those whose columns have the same totals.
    """
    return addition.match_pair(*replace_board_pairs(*_drawn(key, steps, batch, addition), addition.base))


def draw_problems(
    key: PRNGKeyArray, steps: Int[Array, " step"], batch: int, addition: Addition
) -> Int[Array, "step pos batch"]:
    """The tokens of problems with their answers, in the layout of the task."""
    x, y = draw_training_pairs(key, steps, batch, addition)
    tokens: Array = addition.written().encode(x, y, addition.solve_digits(x, y))
    return tokens


def _drawn(
    key: PRNGKeyArray, steps: Int[Array, " step"], batch: int, addition: Addition
) -> tuple[Int[Array, "step digit batch"], Int[Array, "step digit batch"]]:
    """Pairs as the curriculum has them, the board's own among them."""

    def draw(step: Array, most: Array, share: Array) -> tuple[Array, Array]:
        return _pairs_of_step(
            jax.random.fold_in(key, step), most, share, (addition.digits, batch), addition.base
        )

    return jax.vmap(draw)(steps, schedule_digits(addition, steps), schedule_carry_share(addition, steps))


def _pairs_of_step(
    key: PRNGKeyArray,
    most: Int[Array, ""],
    share: Float[Array, ""],
    shape: tuple[int, int],
    base: int,
) -> tuple[Int[Array, "digit batch"], Int[Array, "digit batch"]]:
    """Uniform digits, turned into a carry-heavy pair in the given share of the batch."""
    key_digits, key_size, key_place, key_kind, key_heavy = jax.random.split(key, 5)
    batch = shape[1:]
    x, y = _digits(key_digits, shape, base)
    size = jax.random.randint(key_size, batch, 1, most + 1)  # digits of a carry-heavy number
    place = jax.random.randint(key_place, batch, 0, size)
    kind = jax.random.randint(key_kind, batch, 0, _KINDS)
    is_heavy = jax.random.uniform(key_heavy, batch) < share
    heavy_x, heavy_y = _carry_heavy(x, y, place, kind, base)
    keep = jnp.arange(shape[0])[:, None] < jnp.where(is_heavy, size, most)  # digit batch
    return (
        jnp.where(keep, jnp.where(is_heavy, heavy_x, x), 0),
        jnp.where(keep, jnp.where(is_heavy, heavy_y, y), 0),
    )


def _digits(key: PRNGKeyArray, shape: tuple[int, int], base: int) -> tuple[Array, Array]:
    """Two arrays of digits; 16 random bits each leave a bias below 3 in 10,000 in every base.

    In one byte each: a GPU draws for a thousand models at once, and most of its time goes to memory.
    """
    bits = jax.random.bits(key, (2, *shape), jnp.uint16)
    x, y = (bits % base).astype(jnp.int8)
    return x, y


def _carry_heavy(
    x: Int[Array, "digit batch"],
    y: Int[Array, "digit batch"],
    place: Int[Array, " batch"],
    kind: Int[Array, " batch"],
    base: int,
) -> tuple[Int[Array, "digit batch"], Int[Array, "digit batch"]]:
    """The four kinds of pairs where carries matter, made from uniform digits."""
    large = (base + 1) // 2  # the smallest digit that carries when it is doubled
    digit = jnp.arange(len(x))[:, None]
    is_place = digit == place
    # `rem`, since `%` of signed numbers also minds their signs: half of what these lines take.
    upper, lower, most = (jnp.full_like(x, number) for number in (base - large, large, base - 1))
    kinds = [
        # One carrying column, in base ten 5-9 plus 5-9; none of the others carries by itself.
        tuple(
            jnp.where(is_place, large + jax.lax.rem(part, upper), jax.lax.rem(part, lower)) for part in (x, y)
        ),
        # In base ten 99..9 plus up to three digits.
        (jnp.full_like(x, base - 1), jnp.where(digit < _FEW, y, 0)),
        # Any number plus a single digit, in any column.
        (x, jnp.where(is_place, 1 + jax.lax.rem(y, most), 0)),
        # Near a power of the base: in base ten 99..9x plus 0 to 19.
        (jnp.where(digit == 0, x, base - 1), jnp.where(digit == 0, y, jnp.where(digit == 1, y & 1, 0))),
    ]
    is_kind = [kind == number for number in range(_KINDS)]
    return jnp.select(is_kind, [x for x, _ in kinds]), jnp.select(is_kind, [y for _, y in kinds])
