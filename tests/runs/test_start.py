"""Where seeds start: by the laws of their architecture, or from a file with noise of their own."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.atomic import write_arrays
from glassformer.core.errors import UserError
from glassformer.models.architecture import FixedEntry, make_reference_architecture
from glassformer.runs.config import Run
from glassformer.runs.start import require_startable
from glassformer.runs.training import start_population
from glassformer.tasks import Sequences, make_rule
from glassformer.training.population import Population
from glassformer.training.settings import TrainSettings

MODEL = replace(make_reference_architecture(vocab=5, context=4), fixed=(FixedEntry("head.bias", (1,), 0.5),))
RULE, DATA = make_rule("successor", high=4), Sequences(20, 6, 8)
SOURCE = RULE.sampler(DATA, 4)


def run(path, noise):
    train = TrainSettings(seeds=2, held_out=8, start_from=str(path), start_noise=noise, threads=1)
    return Run(task=RULE, data=DATA, model=MODEL, train=train)


def population(one):
    return Population(MODEL, SOURCE, one.train, np.array([3, 4]))


def first(path, noise):
    one = run(path, noise)
    return start_population(one, population(one))


def test_seeds_start_from_a_file_each_with_its_own_noise(tmp_path):
    path = tmp_path / "start.safetensors"
    some = population(run("", 0.0))
    fresh = first("", 0.0)
    start = np.linspace(1, 2, some.flat.size, dtype=np.float32)
    write_arrays(path, some.flat.unpack(start), {})
    still, noisy = (np.asarray(first(path, noise).vectors) for noise in (0.0, 0.01))
    assert np.array_equal(still, [start, start]) and not np.array_equal(fresh.vectors, still)
    assert 0 < np.abs(noisy / start - 1).max() < 0.06 and not np.array_equal(noisy[0], noisy[1])
    assert np.array_equal(noisy, first(path, 0.01).vectors)
    assert (some.flat.unpack(noisy)["head.bias"][:, 1] == 0.5).all()  # what is fixed has no noise


def test_a_file_of_another_model_is_one_sentence(tmp_path):
    path = tmp_path / "start.safetensors"
    write_arrays(path, {"head.bias": np.zeros(5)}, {})
    with pytest.raises(UserError, match=r"start\.safetensors: the weights lack"):
        require_startable(run(path, 0.0))
    with pytest.raises(UserError, match="which is no file"):
        require_startable(run(tmp_path / "none.safetensors", 0.0))
