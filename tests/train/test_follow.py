"""One number goes and the others follow, where they can."""

import numpy as np

from glassformer.train.follow import Valley, follow, settle


def miss(vector):
    """Nothing wherever the product of the first two and the third together are 6: the third can go."""
    return np.array([vector[0] * vector[1] + vector[2] - 6.0])


def slopes(vector):
    return np.array([[vector[1], vector[0], 1.0]])


HERE = Valley(
    lambda v: float(np.sum(miss(v) ** 2) / 2), lambda v: (slopes(v).T @ miss(v), slopes(v).T @ slopes(v))
)


def test_the_others_make_up_for_it():
    vector, reached = follow(HERE, np.array([2.0, 1.0, 4.0]), np.ones(3, bool), 2)
    assert reached == 1 and vector[2] == 0
    assert abs(vector[0] * vector[1] - 6) < 0.7  # a loss of 0.2 is inside the valley


def test_where_nothing_can_follow_it_stops():
    alone = np.array([False, True, True])
    here = Valley(HERE.loss, lambda v: (np.array([0, 0, 1.0]) * miss(v), np.diag([0, 0, 1.0])))
    vector, reached = follow(here, np.array([2.0, 1.0, 4.0]), alone, 2)
    assert 0 < reached < 0.2 and HERE.loss(vector) < 0.2


def test_settling_keeps_what_is_not_free():
    vector, loss = settle(HERE, np.array([2.0, 1.0, 1.0]), np.array([True, False, False]))
    assert loss < 1e-6 and vector[1:].tolist() == [1.0, 1.0]
