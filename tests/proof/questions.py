"""Small questions, and models of random numbers that read their prompts."""

import numpy as np

from glassformer.model.architecture import reference
from glassformer.model.forward import parameters
from glassformer.model.model import Model
from glassformer.tasks import make_task

QUESTIONS = [make_task("max_of", numbers=3, k=3), make_task("modular", p=4)]


def drawn(task, seed):
    shape = reference(vocab=len(task.tokens()), context=task.length - 1)
    random = np.random.default_rng(seed)
    params = {name: random.normal(size=part.shape).astype("f4") for name, part in parameters(shape).items()}
    return Model(shape, params)
