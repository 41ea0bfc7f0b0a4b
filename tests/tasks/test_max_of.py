"""The largest of k."""

from hypothesis import given
from hypothesis import strategies as st

from glassformer.tasks import make_task


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_the_largest_of_k(numbers):
    task = make_task("max_of", numbers=10, k=len(numbers))
    assert task.choose(task.read_all(*numbers)).weights == {max(numbers): 1.0}
