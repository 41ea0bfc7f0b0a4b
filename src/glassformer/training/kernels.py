"""Where kernels are used: on a GPU, unless they are turned off, and for models and tasks that suit them."""

from collections.abc import Callable

import jax
from jaxtyping import Array

from glassformer.models.architecture import Architecture
from glassformer.tasks.sampler import Sampler, SumSampler
from glassformer.training.objective import compute_window_loss
from glassformer.training.settings import TrainSettings
from glassformer.training.sharpen import sharpen_loss


def choose_loss(model: Architecture, train: TrainSettings, batch: int) -> Callable[..., Array]:
    """The loss in one kernel, on a GPU and for a model that suits it; else as the compiler makes it."""
    if not _uses_kernels(train):
        return sharpen_loss(compute_window_loss, train.logit_factor)
    from glassformer.training.fused import compute_fused_loss, fits_kernel  # Pallas takes a second to import

    loss = compute_fused_loss if fits_kernel(model, batch) else compute_window_loss
    return sharpen_loss(loss, train.logit_factor)


def choose_sampler(source: Sampler, train: TrainSettings) -> Sampler:
    """One that draws the same problems and writes them in a kernel, on a GPU and where one fits."""
    if not _uses_kernels(train) or not isinstance(source, SumSampler):
        return source
    from glassformer.training.fused_problems import KernelSumSampler, fits_writer

    return KernelSumSampler(source.addition) if fits_writer(source.addition, train.batch) else source


def _uses_kernels(train: TrainSettings) -> bool:
    return uses_gpu(train) and train.kernel != "plain"


def uses_gpu(train: TrainSettings) -> bool:
    return train.device != "cpu" and jax.default_backend() != "cpu"
