"""Models of questions that are right by construction, and nearly right ones."""

import numpy as np

from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.model import Model
from glassformer.models.projection import FullProjection
from glassformer.tasks import make_task

QUESTIONS = [make_task("max_of", numbers=3, k=3), make_task("modular", p=4)]
SHARP, LOUD = 3.0, 30.0  # score between two neighbours, and what attention writes


def largest_model(numbers: int = 6, k: int = 3, noise: float = 0.0, seed: int = 0, hidden: int = 0) -> Model:
    """Attends to the largest number and writes it; noise is a share of each array's largest entry."""
    layer = Layer(
        Attention(head_size=1, value_size=numbers, out=FullProjection()),
        FeedForward(hidden=hidden) if hidden else None,
    )
    shape = Architecture(vocab=numbers, context=k, width=numbers, layers=(layer,))
    random = np.random.default_rng(seed)
    params = {name: np.zeros(one.shape) for name, one in list_parameters(shape).items()}
    params["token.weight"] = np.eye(numbers)
    params["attn.q.weight"] = np.ones((1, numbers))
    params["attn.k.weight"] = SHARP * np.arange(numbers)[None]
    params["attn.v.weight"] = np.eye(numbers)
    params["attn.out.weight"] = LOUD * np.eye(numbers)
    params["head.weight"] = np.eye(numbers)
    for name, array in params.items():
        params[name] = array + noise * max(np.abs(array).max(), 0.1) * random.normal(size=array.shape)
    return Model(shape, {name: array.astype(np.float32) for name, array in params.items()})


def drawn(task, seed):
    """A model of random numbers that reads the task's prompts."""
    shape = make_reference_architecture(vocab=len(task.tokens()), context=task.length - 1)
    random = np.random.default_rng(seed)
    params = {
        name: random.normal(size=part.shape).astype("f4") for name, part in list_parameters(shape).items()
    }
    return Model(shape, params)
