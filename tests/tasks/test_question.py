"""Questions: prompts of one length, each with one answer."""

from dataclasses import dataclass

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.runs.config import Run
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Prompts, Sequences, Task, make_task, tabulate_automaton
from glassformer.tasks.tabulated import TabulatedQuestion, to_tabulated_question

QUESTIONS = (("modular", {"p": 7}), ("max_of", {"numbers": 6, "k": 3}))
each = pytest.mark.parametrize(("name", "settings"), QUESTIONS)


def true_answers(name: str, tokens: np.ndarray, settings: dict) -> np.ndarray:
    """By arithmetic, not by the automaton."""
    return (tokens[0] + tokens[1]) % settings["p"] if name == "modular" else tokens.max(0)


@each
def test_answers_are_those_of_arithmetic(name, settings):
    prompts = Prompts(tabulate_automaton(make_task(name, **settings)))
    tokens = prompts.between(0, prompts.count)
    np.testing.assert_array_equal(prompts.answers(tokens), true_answers(name, tokens, settings))


@each
def test_every_prompt_comes_once(name, settings):
    prompts = Prompts(tabulate_automaton(make_task(name, **settings)))
    tokens = prompts.between(0, prompts.count)
    assert prompts.count == {"modular": 7 * 7, "max_of": 6**3}[name]
    assert len(np.unique(tokens, axis=1).T) == prompts.count
    np.testing.assert_array_equal(prompts.between(5, 9), tokens[:, 5:9])


@each
def test_balanced_prompts_have_every_answer_alike(name, settings):
    prompts = Prompts(tabulate_automaton(make_task(name, **settings)))
    tokens = prompts.balanced(np.random.default_rng(0), 6_000)
    counts = np.bincount(prompts.answers(tokens))
    assert len(counts) == len(prompts.shares.answers)
    assert counts.min() > 0.8 * counts.mean()
    lowest = tokens[:, prompts.answers(tokens) == 1]
    kinds, seen = np.unique(lowest, axis=1, return_counts=True)
    assert seen.min() > 0.5 * seen.mean()  # and every prompt of an answer is as likely as the others
    np.testing.assert_array_equal(true_answers(name, kinds, settings), 1)


@each
def test_training_data_hold_prompts_with_their_answers(name, settings):
    import jax
    import jax.numpy as jnp

    task = make_task(name, **settings)
    sampler, prompts = task.sampler(Sequences(), task.length - 1), Prompts(tabulate_automaton(task))
    drawn = np.asarray(sampler.draw((), jax.random.key(0), jnp.arange(4), 32))
    assert drawn.shape == (4, task.length, 32)
    for step in drawn:
        np.testing.assert_array_equal(prompts.answers(step[:-1]), step[-1])
    held_out = sampler.held_out(jax.random.key(1), 10_000)  # more than there are: all of them
    assert held_out.tokens.shape[1] == prompts.count
    assert np.asarray(held_out.counted).sum() == prompts.count
    few = np.asarray(sampler.held_out(jax.random.key(1), 20).tokens)
    np.testing.assert_array_equal(prompts.answers(few[:-1]), few[-1])


def test_a_malformed_prompt_demands_nothing():
    task = make_task("modular", p=5)
    for tokens in (("=", 1, 2), (1, "=", 2), (1, 2, 3), (1, 2, "=", 3, 4)):
        assert not task.choose(task.read_all(*tokens)).constrained
    assert task.choose(task.read_all(1, 2, "=")).weights == {3: 1.0}


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("modular", {"p": 1}, "p must be at least 2, but it is 1"),
        ("modular", {"p": 10**9}, "p must be at most 1,?000"),
        ("max_of", {"k": 0}, "k must be at least 1, but it is 0"),
        ("max_of", {"numbers": 2.5}, "numbers must be an integer"),
        ("max_of", {"balance": 2.0}, "balance must be a share between 0 and 1"),
        ("max_of", {"K": 3}, "no setting of max_of called 'K'"),
    ],
)
def test_bad_settings_get_one_sentence(name, settings, sentence):
    with pytest.raises(UserError, match=sentence):
        make_task(name, **settings)


def test_the_context_must_be_the_prompts():
    with pytest.raises(
        UserError, match=r"model.context must be 4, the prompt's \(--model.context 4\), but it is 8"
    ):
        Run(task=make_task("max_of"))


@each
def test_a_question_as_data_is_the_same_question(name, settings):
    data = to_tabulated_question(renamed(make_task(name, **settings)))
    again = from_tree(Task, to_tree(data), "task")
    assert again == data
    assert isinstance(again, TabulatedQuestion)
    ours, theirs = tabulate_automaton(make_task(name, **settings)), tabulate_automaton(again)
    for part in ("next", "probability", "constrained", "allowed"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
    assert (ours.tokens, ours.length) == (theirs.tokens, theirs.length)
    tokens = Prompts(ours).between(0, 20)
    np.testing.assert_array_equal(Prompts(ours).answers(tokens), Prompts(theirs).answers(tokens))
    first = tuple(again.values()[token] for token in tokens[:, 7])
    assert again.choose(again.read_all(*first)) == again.choose(again.read_all(*first))


def renamed(task):
    """Under a name that no built-in task has."""
    kind = type("Mine", (type(task),), {"name": "mine", "__doc__": type(task).__doc__})
    return kind(**{key: getattr(task, key) for key in task.__dataclass_fields__})


TABLE = to_tree(to_tabulated_question(renamed(make_task("modular", p=3))))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"labels": ["0", "1", "2", "<b>"]}, "labels must be"),
        ({"labels": ["0", "1", "2", "2"]}, "labels must be"),
        ({"labels": ["0", "1", "2", "01"]}, "labels must be"),
        ({"labels": ["0", "1", "2", "javascript"]}, "labels must be"),
        ({"length": 3}, "digest must be"),
        ({"length": 10**9}, "length must be"),
        ({"balance": -1.0}, "balance must be"),
        ({"digest": "0"}, "digest must be"),
        ({"name": "max_of"}, "name must be another"),
    ],
)
def test_a_forged_table_is_one_sentence(changes, sentence):
    with pytest.raises(UserError, match=sentence):
        from_tree(Task, TABLE | changes, "task")


def test_a_table_of_strings_that_are_no_questions_is_refused():
    """Its digest is right, but an answer is not determined."""
    from glassformer.tasks.tabulated import digest_tables

    choices = tuple("free " + choice.split(" ", 1)[1] for choice in TABLE["choices"])
    tables = (tuple(TABLE["labels"]), TABLE["length"], choices, TABLE["chooses"], tuple(TABLE["next"]))
    forged = TABLE | {"choices": list(choices), "digest": digest_tables(*tables)}
    with pytest.raises(UserError, match="exactly one answer"):
        from_tree(Task, forged, "task")


def test_more_prompts_than_can_be_counted_are_refused():
    @dataclass(frozen=True)
    class Long(type(make_task("max_of"))):
        """The largest of 600 numbers."""

        name = "long"

        def slots(self):
            return (range(4),) * 600

    with pytest.raises(UserError, match="at most 1e299 prompts"):
        to_tabulated_question(Long())


def test_an_error_of_a_method_is_at_its_own_line():
    @dataclass(frozen=True)
    class Broken(type(make_task("max_of"))):
        """The largest, but for an error."""

        name = "broken"

        def read(self, memory, token):
            raise KeyError("boom")

    with pytest.raises(UserError, match=r"KeyError: 'boom' \(test_question.py, line \d+\)"):
        tabulate_automaton(Broken())
