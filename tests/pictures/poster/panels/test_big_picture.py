"""The first panel: it counts like its boxes, and its title claims no more than holds."""

from glassformer.pictures.poster.panels import (
    big_picture,
    digits,
    parameters,
)  # fmt: skip
from glassformer.runs.load import load_model
from tests.pictures.poster.adders import MICRO, subject_of


def test_the_poster_counts_like_its_boxes():
    data = big_picture.compute(subject_of(MICRO))
    norms_count = load_model(MICRO).params["attn_norm.gain"].size
    assert sum(block.numbers for block in data["blocks"]) + norms_count == data["total"] == 57
    assert sum(data["stages"].values()) == 57
    assert data["stages"]["attention"] == 12 + 1 + 10


def test_titles_claim_no_more_than_holds():
    """A stage that leads is not most of the numbers; a parabola is no line, however flat."""
    assert "23 of them are attention" in big_picture.title(big_picture.compute(subject_of(MICRO)))
    small = subject_of("hand-6")
    assert "have 2 each" in big_picture.title(big_picture.compute(small))
    assert "almost on a line" in digits.title(digits.compute(small.sums))
    params, dead = parameters.compute(subject_of(MICRO)), "3 of them change no logit of 64 sums"
    assert dead in parameters.title(params) and "float64" in parameters.describe_parameters(params)
