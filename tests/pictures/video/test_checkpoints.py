"""Which checkpoints a film shows."""

import numpy as np
import pytest

from glassformer.pictures.video.checkpoints import choose_checkpoints, make_checkpoint_subject
from tests.pictures.conftest import subject_of


@pytest.mark.parametrize("every", [1, 2, 5, 100])
def test_first_and_last_step_are_always_there(every: int) -> None:
    shown = choose_checkpoints(subject_of("plus_last_even"), every)
    assert shown[0] == 0 and shown[-1] == 11
    assert shown[:-1] == list(range(0, 11, every))


def test_a_checkpoint_is_the_model_of_that_step() -> None:
    subject = subject_of("plus_last_even")
    early = make_checkpoint_subject(subject, 3)
    assert early.step == subject.past.history.steps[3]
    assert np.array_equal(early.model.params["token.weight"], subject.past.history.params["token.weight"][3])
