"""Questions on a page: whole prompts with their answers, measures in words, and what may stand where."""

import numpy as np

from glassformer.models.architecture import make_reference_architecture
from glassformer.pages.families import find_family
from glassformer.pages.measures_part import make_measures_part
from glassformer.pages.task_part import make_task_part
from glassformer.tasks import make_task

MAX, MODULAR = make_task("max_of", numbers=12, k=3), make_task("modular", p=7)


def test_tests_are_prompts_with_their_one_answer():
    tests = find_family(MAX).draw_tests(MAX, make_reference_architecture(12, context=3))
    assert tests.tokens.shape == (3, 256) and set(tests.lengths) == {3}
    assert (tests.allowed.sum(0) == 1).all()
    assert (tests.allowed.argmax(0) == tests.tokens.max(0)).all()


def test_few_prompts_are_all_tested():
    tests = find_family(MODULAR).draw_tests(MODULAR, make_reference_architecture(8, context=3))
    assert len(np.unique(tests.tokens, axis=1).T) == 49
    assert (tests.allowed.argmax(0) == tests.tokens[:2].sum(0) % 7).all()
    assert find_family(MODULAR).pack_tests(tests)["about"] == "49 prompts, drawn once"


def test_a_task_tells_its_settings_and_what_may_stand_where():
    part = make_task_part(MODULAR)
    assert part["slots"] == [list(range(7)), list(range(7)), [7]]
    assert part["about"].endswith("Here p is 7.")
    assert make_task_part(MAX)["about"].endswith("Here numbers is 12 and k is 3.")


def test_the_first_prompt_is_whole():
    assert find_family(MODULAR).first_start(MODULAR)["input"] == "0 0 ="


def test_measures_in_words():
    share = {"value": 0.998, "low": 0.99, "high": 1.0, "positions": 1000}
    measures = {"argmax_accuracy": share, "right_probability": 0.97, "loss": 0.01}
    found = make_measures_part(MAX, {"measures": measures})
    assert [one["label"] for one in found] == [
        "of 1,000 prompts right",
        "probability of the right answer",
        "loss",
    ]
    assert "95% interval over 1,000" in found[0]["meaning"] and found[1]["value"] == 0.97
    assert make_measures_part(MAX, {"measures": {}}) == []
