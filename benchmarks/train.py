"""Training speed: our population trainer against a plain PyTorch eager loop, one thread each, in one run.

Both train plus_last_even's 250-parameter model with the same batch, AdamW and clipping, on windows of the
same shape. Ours is timed whole: drawing data, gradient, optimiser, and an evaluation on 4,096 windows every
500 steps. PyTorch's is timed without evaluation. The two take turns, and the table shows medians.

    make bench        (installs PyTorch first; it is needed for nothing else)
"""

import math
import os
import statistics
import time
from collections.abc import Callable

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core for everything below

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from glassformer.runs.configurations import find_configuration
from glassformer.training.setup import set_up_jax

ROUNDS = 5
CASES = ((8, 1), (64, 16))  # batch, seeds
TORCH_STEPS = 300


class EagerModel(nn.Module):
    """The same model, as one would write it in PyTorch."""

    def __init__(self, vocab: int, context: int, width: int) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.up, self.down = nn.Linear(width, 16 * width), nn.Linear(16 * width, width)
        self.head = nn.Linear(width, vocab)
        self.register_buffer("places", torch.arange(context))
        self.register_buffer("later", torch.ones(context, context).triu(1).bool())

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        e = self.token(tokens) + self.position(self.places)
        scores = self.q(e) @ self.k(e).transpose(-2, -1) / math.sqrt(e.shape[-1])
        z = e + scores.masked_fill(self.later, -math.inf).softmax(-1) @ self.v(e)
        return self.head(z + self.down(functional.relu(self.up(z))))


def torch_steps(batch: int) -> Callable[[], float]:
    """A timer of TORCH_STEPS eager steps; gives model-steps per second."""
    torch.manual_seed(0)
    model = EagerModel(12, 8, 2)
    assert sum(p.numel() for p in model.parameters()) == 250
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    data, span = torch.randint(0, 12, (2000, 50)), torch.arange(9)

    def step() -> None:
        which, start = torch.randint(0, 2000, (batch, 1)), torch.randint(0, 42, (batch, 1))
        windows = data[which, start + span]
        loss = functional.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    def timed() -> float:
        begin = time.perf_counter()
        for _ in range(TORCH_STEPS):
            step()
        return TORCH_STEPS / (time.perf_counter() - begin)

    return timed


def our_steps(batch: int, seeds: int) -> Callable[[], float]:
    """A timer of one stretch of 500 steps of the whole population; gives model-steps per second."""
    from dataclasses import replace

    from glassformer.training.population import Population

    run = find_configuration("plus_last_even")
    train = replace(run.train, batch=batch, seeds=seeds, threads=1, evaluate_every=500, held_out=4096)
    source = run.task.sampler(run.data, run.model.context)
    population = Population(run.architecture, source, train, np.arange(seeds))
    state = population.start()

    def timed() -> float:
        begin = time.perf_counter()
        population.advance(state, 0, train.evaluate_every)
        return train.evaluate_every * seeds / (time.perf_counter() - begin)

    return timed


def main() -> None:
    torch.set_num_threads(1)
    set_up_jax("cpu")
    print("model-steps per second")
    print(f"{'batch':>5} {'seeds':>5} {'PyTorch eager':>15} {'glassformer':>15} {'ratio':>7}")
    for batch, seeds in CASES:
        theirs, ours = torch_steps(batch), our_steps(batch, seeds)
        theirs(), ours()  # warm up, compile
        rounds = [(theirs(), ours()) for _ in range(ROUNDS)]
        slow, fast = (statistics.median(speeds) for speeds in zip(*rounds, strict=True))
        ratio = statistics.median(b / a for a, b in rounds)
        print(f"{batch:>5} {seeds:>5} {slow:>15,.0f} {fast:>15,.0f} {ratio:>6.1f}x")


if __name__ == "__main__":
    main()
