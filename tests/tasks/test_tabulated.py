"""A rule as data: the same automaton, bit for bit, and nothing that does not fit together."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import (
    TabulatedRule,
    Task,
    compute_entropy_floor,
    list_rules,
    make_rule,
    tabulate_automaton,
)
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.tabulated import digest_tables, to_tabulated_rule
from tests.selection import each

SMALL = {"step_back": {"high": 4, "trigger": 2, "k": 2}, "copy_modulo": {"high": 4}, "lucky7": {}}


@pytest.mark.parametrize("name", each(3, list_rules()))
def test_the_table_is_the_rule_bit_for_bit(name):
    rule = make_rule(name, **SMALL.get(name, {}))
    data = to_tabulated_rule(rule, name="mine")
    first, second = tabulate_automaton(rule), tabulate_automaton(from_tree(Task, to_tree(data), "task"))
    assert (first.tokens, first.start, len(first.states)) == (second.tokens, second.start, len(second.states))
    for part in ("next", "probability", "constrained", "allowed"):
        assert np.array_equal(getattr(first, part), getattr(second, part)), part
    sequences = Sequences(100, 12, 14)
    assert compute_entropy_floor(first, sequences, 4) == compute_entropy_floor(second, sequences, 4)
    assert data.describe() == rule.describe()


def test_a_table_answers_as_a_rule_does():
    rule = to_tabulated_rule(make_rule("plus_last_even", high=4), name="mine")
    state = rule.start()
    for token in (4, 3, "+"):
        state = rule.after(state, token)
    assert rule.choose(state).weights == {4: 1.0}
    assert rule.tokens()[-1] == "+"


def signed(rule, **changes):
    """The rule with other parts and the digest that fits them."""
    new = {
        name: getattr(rule, name) for name in ("low", "high", "operator", "choices", "chooses", "next")
    } | changes
    return (
        to_tree(rule)
        | {name: list(one) if isinstance(one, tuple) else one for name, one in new.items()}
        | {"digest": digest_tables(*new.values())}
    )


RULE = to_tabulated_rule(make_rule("successor", high=2), name="mine")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"next": ("1 2",) * 4}, "task.next must be 3 whole numbers below 4"),
        ({"next": ("1 2 9",) * 4}, "task.next must be 3 whole numbers below 4"),
        ({"next": ("1 2 -1",) * 4}, "task.next must be 3 whole numbers below 4"),
        ({"next": ("1 2 ²",) * 4}, "task.next must be 3 whole numbers below 4"),
        ({"next": ("1 2 " + "9" * 5000,) * 4}, "task.next must be 3 whole numbers below 4"),
        ({"next": ()}, "task.next must be 1 to 200000 states"),
        ({"chooses": "0 1 2"}, "task.chooses must be 4 whole numbers below 4"),
        ({"chooses": "0 1 2 4"}, "task.chooses must be 4 whole numbers below 4"),
        ({"choices": ()}, "task.chooses must be 4 whole numbers below 0"),
        ({"choices": ("",) * 4}, "task.choices must be 'only' or 'free' and 3 chances"),
        ({"choices": ("any 1 0 0",) * 4}, "task.choices must be 'only' or 'free' and 3 chances"),
        ({"choices": ("only 1 x 0",) * 4}, "task.choices must hold chances"),
        ({"choices": ("only 1 nan 0",) * 4}, "task.choices must be chances of at least 0 that sum to 1"),
        ({"choices": ("only 2 -1 0",) * 4}, "task.choices must be chances of at least 0 that sum to 1"),
        ({"high": 10**9}, "task.high must be such that low..high holds at most 4096"),
    ],
)
def test_a_forged_table_is_one_sentence(changes, sentence):
    with pytest.raises(UserError) as error:
        from_tree(Task, signed(RULE, **changes), "task")
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"digest": "0" * 64}, "task.digest must be that of the rule's tables"),
        ({"name": "lucky7"}, "task.name must be another than that of a built-in task"),
        ({"name": "../x"}, "task.name must be letters"),
        ({"name": ""}, "task.name must be letters"),
        ({"about": "x" * 2000}, "task.about must be a text of at most 1000 characters"),
        ({"nxet": 1}, "no setting of task called 'nxet'; did you mean 'next'?"),
    ],
)
def test_other_parts_are_looked_at_too(changes, sentence):
    with pytest.raises(UserError) as error:
        from_tree(Task, to_tree(RULE) | changes, "task")
    assert str(error.value).startswith(sentence)


def test_too_large_a_table_is_refused_before_it_is_made(registry):
    wide = make_rule("step_back", high=4000, trigger=2, k=2)
    with pytest.raises(UserError, match="the states of a rule times its tokens must be at most 3,000,000"):
        tabulate_automaton(wide)


def test_two_tables_are_the_same_rule_where_their_digests_are():
    assert replace(RULE) == RULE and hash(replace(RULE)) == hash(RULE)
    assert to_tabulated_rule(make_rule("successor", high=3), name="mine").digest != RULE.digest
    assert isinstance(RULE, TabulatedRule)
