"""Sums of the test set."""

import numpy as np

from glassformer.pages.pack import unpack_array
from glassformer.pages.payload import make_page_payload
from glassformer.runs.load import load_model


def test_sums_of_the_test_set_are_right():
    page = make_page_payload(load_model("microadder-57"))
    tokens, answers = unpack_array(page["test"]["tokens"]), unpack_array(page["test"]["answers"])
    task = page["task"]
    a = [sum(int(tokens[place, n]) * 10**k for k, place in enumerate(task["x"])) for n in range(128)]
    b = [sum(int(tokens[place, n]) * 10**k for k, place in enumerate(task["y"])) for n in range(128)]
    z = [sum(int(answers[place - 22, n]) * 10**k for k, place in enumerate(task["z"])) for n in range(128)]
    assert [x + y for x, y in zip(a, b, strict=True)] == z
    marks = np.array(task["prompt"])
    assert (tokens[: len(marks)][marks >= 0] == marks[marks >= 0][:, None]).all()
