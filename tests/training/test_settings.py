"""Training's settings: stretches, and one sentence for each number out of range."""

import pytest

from glassformer.core.errors import UserError
from glassformer.training.settings import TrainSettings


@pytest.mark.parametrize(
    ("steps", "every", "chunks"),
    [
        (1200, 500, [(0, 500), (500, 500), (1000, 200)]),
        (1000, 500, [(0, 500), (500, 500)]),
        (3, 500, [(0, 3)]),
        (2, 1, [(0, 1), (1, 1)]),
    ],
)
def test_stretches_cover_all_steps_once(steps, every, chunks):
    assert TrainSettings(steps=steps, evaluate_every=every).chunks() == chunks


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"seeds": 0}, "seeds must be at least 1, but it is 0"),
        ({"steps": 0}, "steps must be at least 1, but it is 0"),
        ({"batch": -1}, "batch must be at least 1, but it is -1"),
        ({"held_out": 0}, "held_out must be at least 1, but it is 0"),
        ({"first_seed": -1}, "first_seed must be at least 0, but it is -1"),
        ({"peak_rate": 0.0}, "peak_rate must be above 0, but it is 0.0"),
        ({"final_rate": 1.5}, "final_rate must be a share between 0 and 1, but it is 1.5"),
        ({"beta2": 1.0}, "beta2 must be at least 0 and below 1, but it is 1.0"),
        ({"clip": -1.0}, "clip must be at least 0, but it is -1.0"),
        ({"seeds": 2**31 + 1}, "seeds must be at most 2,147,483,648, but it is 2147483649"),
        ({"first_seed": 2**31}, "first_seed must be below 2^31 with all seeds, but it is 2147483648"),
    ],
)
def test_bad_settings_get_one_sentence(settings, sentence):
    with pytest.raises(UserError) as error:
        TrainSettings(**settings)
    assert str(error.value) == sentence
