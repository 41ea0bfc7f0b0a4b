"""The arithmetic is measured."""

from glassformer.pages.payload import make_page_payload
from glassformer.runs.load import load_model


def test_the_arithmetic_is_measured():
    words = make_page_payload(load_model("rope-62"))["arithmetic"]
    assert "float32" in words and "the answers differ on 0 of 139 inputs" in words
    assert make_page_payload(load_model("hand-4"))["arithmetic"].endswith("the model's own arithmetic.")
