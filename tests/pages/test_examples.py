"""Examples are answered in the model's own arithmetic."""

import numpy as np

from glassformer.pages.examples import make_example
from glassformer.runs.load import load_model


def test_examples_are_answered_in_the_models_own_arithmetic(small_run):
    folder = small_run("plus_last_even")
    loaded = load_model(folder)
    example = make_example(loaded, loaded.task, "4 7 +", "")
    logits = loaded.forward(np.array([4, 7, 11]), last=1)[0].astype(np.float64)
    assert example["expected"] == "4" and example["right"]
    assert example["margin"] == logits[4] - np.delete(logits, 4).max()
    adder = load_model("nanogpt-58")
    assert make_example(adder, adder.task, "0+9000", "")["got"] == str(adder.add(0, 9000)) == "15000"
    assert make_example(adder, adder.task, "57+68", "")["margin"] > 0
