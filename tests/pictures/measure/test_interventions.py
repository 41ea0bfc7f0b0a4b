"""A pass without a change is the model's own."""

import numpy as np
import pytest

from glassformer.pictures.measure.interventions import (
    collect_trial_weights,
    compute_patched_logits,
)
from tests.pictures.conftest import NAMES, subject_of


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_without_a_change_is_the_models_own(name):
    subject = subject_of(name)
    contexts = subject.trials.contexts[:300]
    own = subject.model.forward(contexts, last=1)[:, 0]
    np.testing.assert_array_equal(compute_patched_logits(subject.model, contexts), own)
    put_back = compute_patched_logits(
        subject.model,
        contexts,
        collect_trial_weights(subject)[:, :300],
        subject.trial_traces["embedded"][:300],
    )
    np.testing.assert_allclose(put_back, own, rtol=1e-5, atol=1e-4)
