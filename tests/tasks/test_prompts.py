"""Prompts are numbered, also beyond 64 bits."""

from glassformer.tasks import Prompts, make_task, tabulate_automaton


def test_prompts_beyond_64_bits_are_numbered_too():
    prompts = Prompts(tabulate_automaton(make_task("max_of", numbers=8, k=40)))
    assert prompts.count == 8**40
    assert prompts.between(8, 10)[-3:].T.tolist() == [[0, 1, 0], [0, 1, 1]]
