"""The kernel that writes problems: the same tokens as the plain sampler, whatever the task.

A CPU has no kernels: Pallas interprets them here, which runs the same program.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from glassformer.tasks.addition import Addition
from glassformer.tasks.sampler import SumSampler
from glassformer.training import fused_problems, kernels
from glassformer.training.fused_problems import KernelSumSampler, fits_writer
from glassformer.training.kernels import choose_sampler
from glassformer.training.settings import TrainSettings
from glassformer.training.streams import make_stream_key

SHORT = Addition(digits=4, digit_stages=((7, 2),), carry_until=5, carry_gone=9)
TASKS = [
    *(replace(SHORT, layout=layout) for layout in ("lsb", "lsb24", "msb", "nanogpt", "columns")),
    replace(SHORT, base=2, layout="columns"),
    replace(SHORT, base=16, layout="columns"),
    replace(SHORT, operation="subtract", layout="columns"),
    replace(SHORT, operation="times 9", layout="columns"),
]


def draw(source, seed=3):
    return source.draw((), make_stream_key(seed, "steps"), jnp.arange(5, 9), 64)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.layout}-{task.operation}-{task.base}")
def test_tokens_are_those_of_the_plain_sampler(task, monkeypatch):
    monkeypatch.setattr(fused_problems, "_LANES", 32)  # two programs
    plain, written = draw(SumSampler(task)), draw(KernelSumSampler(task, interpret=True))
    assert written.dtype == plain.dtype
    np.testing.assert_array_equal(written, plain)
    assert len(np.unique(plain)) > 1


def test_seeds_side_by_side_see_what_they_see_alone():
    source = KernelSumSampler(SHORT, interpret=True)
    both = jax.lax.map(lambda seed: draw(source, seed), jnp.arange(3), batch_size=2)
    for seed in range(3):
        np.testing.assert_array_equal(both[seed], draw(SumSampler(SHORT), seed))


@pytest.mark.parametrize(
    ("on_gpu", "train", "task", "is_written"),
    [
        (True, TrainSettings(batch=64), SHORT, True),
        (True, TrainSettings(batch=64, kernel="plain"), SHORT, False),
        (True, TrainSettings(batch=100), SHORT, False),
        (True, TrainSettings(batch=64), replace(SHORT, digits=100), False),
        (False, TrainSettings(batch=64), SHORT, False),
    ],
)
def test_where_it_is_used(on_gpu, train, task, is_written, monkeypatch):
    monkeypatch.setattr(kernels, "uses_gpu", lambda train: on_gpu)
    chosen = choose_sampler(SumSampler(task), train)
    assert isinstance(chosen, KernelSumSampler) == is_written
    assert fits_writer(task, train.batch) or not is_written
