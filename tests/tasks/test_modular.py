"""The sum modulo p."""

from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks import make_task


@given(st.integers(2, 40), st.integers(0, 39), st.integers(0, 39))
def test_the_sum_modulo_p(p, a, b):
    task = make_task("modular", p=p)
    a, b = a % p, b % p
    assert task.choose(task.read_all(a, b, "=")).weights == {(a + b) % p: 1.0}
