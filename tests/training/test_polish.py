"""L-BFGS on functions whose minimum is known."""

import jax.numpy as jnp
import numpy as np

from glassformer.training.polish import polish_vector


def test_a_quadratic_is_solved():
    scales = jnp.array([1.0, 10.0, 100.0])

    def goal(vector):
        return jnp.sum(scales * (vector - 2) ** 2)

    vector, value = polish_vector(goal, jnp.zeros(3), 15)
    np.testing.assert_allclose(vector, 2, atol=1e-3)
    assert float(value) == float(goal(vector)) < 1e-3


def test_the_valley_of_rosenbrock():
    def goal(vector):
        return 100 * (vector[1] - vector[0] ** 2) ** 2 + (1 - vector[0]) ** 2

    _, value = polish_vector(goal, jnp.array([-1.2, 1.0]), 60)
    assert float(value) < 1e-3


def test_no_steps_change_nothing():
    vector, value = polish_vector(lambda v: jnp.sum(v**2), jnp.array([3.0]), 0)
    assert (vector.tolist(), float(value)) == ([3.0], 9.0)
