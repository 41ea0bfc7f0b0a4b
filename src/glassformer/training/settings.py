"""How a population is trained: numbers only, shared by the command line, TOML files and Python."""

from dataclasses import dataclass, field
from typing import Literal

from glassformer.core.errors import require_bounds, require_value
from glassformer.core.values import LATER

_MOST_STEPS = 10**9  # of a training run: a month of work for the smallest model here


@dataclass(frozen=True)
class TrainSettings:
    """A population of seeds, the data that each step sees, and the optimiser."""

    seeds: int = 16  # models trained side by side; the best is kept
    first_seed: int = 0  # seed i of the population is first_seed + i
    steps: int = 10_000  # optimiser steps
    batch: int = 64  # windows per step
    evaluate_every: int = 100  # steps between evaluations, checkpoints and points of resumption
    keep_checkpoints: bool = False  # of every seed, in checkpoints/; the chosen seed's are kept anyway
    held_out: int = 4096  # windows of the evaluation, never trained on
    peak_rate: float = 1e-2  # learning rate after warm-up
    warm_up: int = 200  # steps of linear rise to it
    start_from: str = (
        ""  # a .safetensors file of the same architecture: where every seed starts; none: its law
    )
    start_noise: float = 0.0  # between the seeds that start from a file, a share of each parameter
    schedule: Literal["cosine", "linear", "constant"] = "cosine"  # of the rate after warm-up
    final_rate: float = 0.02  # last rate as a share of the peak
    weight_decay: float = 0.0  # AdamW's, times the rate
    clip: float = 1.0  # largest gradient norm; 0: no clipping
    beta1: float = 0.9  # Adam's decay of the mean gradient
    beta2: float = 0.999  # Adam's decay of the mean square
    grokfast_decay: float = 0.98  # of the slow gradient average
    grokfast_gain: float = 0.0  # how much of that average is added to each gradient; 0: none
    polish_steps: int = 0  # L-BFGS steps of the best seeds at the end
    polish_seeds: int = 64  # how many of the best seeds are polished
    polish_batch: int = 8192  # windows of the one batch that they are polished on, made as the held-out ones
    margin_steps: int = 0  # L-BFGS steps that raise their smallest margin, after each polish; adders only
    mine: int = 0  # rounds in which the prover's worst sums join that batch and the best are polished again
    device: Literal["auto", "cpu", "gpu"] = "auto"  # auto: the GPU where there is one
    kernel: Literal["auto", "plain", "fused"] = (
        "auto"  # on a GPU: one kernel per step, where the model suits it
    )
    threads: int = 0  # CPU threads, each with its share of the seeds; 0: one per core
    logit_factor: float = field(default=1.0, metadata=LATER)  # of all logits, in the loss alone

    def __post_init__(self) -> None:
        require_bounds(
            self, steps=(1, _MOST_STEPS), evaluate_every=(1, _MOST_STEPS), warm_up=(0, _MOST_STEPS)
        )
        require_bounds(self, seeds=(1, 2**31), first_seed=(0, 2**31), polish_seeds=(1, 2**31))
        require_bounds(self, batch=(1, 10**7), held_out=(1, 10**8), polish_batch=(1, 10**8))
        require_bounds(self, polish_steps=(0, 10**7), margin_steps=(0, 10**7))
        require_bounds(self, mine=(0, 1_000), threads=(0, 4_096))
        for name in ("weight_decay", "clip", "grokfast_gain", "start_noise"):
            require_value(getattr(self, name) >= 0, name, "at least 0", getattr(self, name))
        for name in ("beta1", "beta2", "grokfast_decay"):
            require_value(0 <= getattr(self, name) < 1, name, "at least 0 and below 1", getattr(self, name))
        require_value(self.peak_rate > 0, "peak_rate", "above 0", self.peak_rate)
        require_value(self.logit_factor > 0, "logit_factor", "above 0", self.logit_factor)
        require_value(0 <= self.final_rate <= 1, "final_rate", "a share between 0 and 1", self.final_rate)
        require_value(
            self.first_seed + self.seeds <= 2**31, "first_seed", "below 2^31 with all seeds", self.first_seed
        )

    @property
    def is_polished(self) -> bool:
        """Whether the best seeds are worked on after the last step."""
        return self.polish_steps > 0 or self.margin_steps > 0

    def chunks(self) -> list[tuple[int, int]]:
        """(first step, number of steps) between two evaluations; the last may be shorter.

        >>> TrainSettings(steps=1200, evaluate_every=500).chunks()
        [(0, 500), (500, 500), (1000, 200)]
        """
        starts = range(0, self.steps, self.evaluate_every)
        return [(first, min(self.evaluate_every, self.steps - first)) for first in starts]
