"""L-BFGS on one fixed batch: the last digits of a model that Adam has brought near a minimum."""

from collections.abc import Callable

import jax
import optax
from jaxtyping import Array, Float


def polish_vector(
    goal: Callable[[Float[Array, " n"]], Float[Array, ""]], vector: Float[Array, " n"], steps: int
) -> tuple[Float[Array, " n"], Float[Array, ""]]:
    """The vector after some L-BFGS steps with line search, and the goal's value there."""
    optimiser = optax.lbfgs()
    evaluate = optax.value_and_grad_from_state(goal)

    def step(carry: tuple[Array, optax.OptState], _: None) -> tuple[tuple[Array, optax.OptState], None]:
        vector, memory = carry
        value, slope = evaluate(vector, state=memory)
        change, memory = optimiser.update(slope, memory, vector, value=value, grad=slope, value_fn=goal)
        return (optax.apply_updates(vector, change), memory), None

    (vector, _), _ = jax.lax.scan(step, (vector, optimiser.init(vector)), None, length=steps)
    return vector, goal(vector)
