"""One head alone is embedding plus message."""

import numpy as np

from glassformer.pictures.parts.message_sums import compute_carry
from glassformer.pictures.parts.single_messages import compute_single_states
from tests.pictures.conftest import subject_of


def test_one_head_alone_is_embedding_plus_message():
    carry = compute_carry(subject_of("plus_last_even"), 0)
    np.testing.assert_allclose(
        compute_single_states(carry, carry.messages)[0], carry.embedded + carry.messages[0], atol=1e-5
    )
