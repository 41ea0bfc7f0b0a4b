"""Configuration of rules: registry, settings, sentences for bad input."""

import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import TASKS, Rule, make_rule, register


def test_settings_are_fields_and_rules_compare_by_them():
    assert make_rule("plus_last_even", p=0.5) == make_rule("plus_last_even", p=0.5)
    assert make_rule("plus_last_even", p=0.5) != make_rule("plus_last_even")
    assert hash(make_rule("lucky7")) == hash(make_rule("lucky7"))


def test_plus_is_the_last_token():
    assert make_rule("plus_last_even").tokens() == (*map(str, range(11)), "+")
    assert make_rule("successor").tokens() == tuple(map(str, range(10)))


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("plus_last_evn", {}, "no task called 'plus_last_evn'; did you mean 'plus_last_even'?"),
        ("lucky7", {"hgh": 9}, "no setting of lucky7 called 'hgh'; did you mean 'high'?"),
        ("plus_last_even", {"p": 2}, "p must be a probability between 0 and 1, but it is 2"),
        ("plus_last_even", {"p": "often"}, "p must be a number, but it is 'often'"),
        ("plus_last_even", {"low": True}, "low must be an integer, but it is True"),
        ("successor", {"high": 0}, "high must be an integer above low = 0, but it is 0"),
        ("successor", {"high": 2.5}, "high must be an integer, but it is 2.5"),
        ("lucky7", {"high": 6}, "high must be at least 7, but it is 6"),
        ("lucky7", {"low": 8}, "low must be at most 7, but it is 8"),
        ("lucky7", {"avoid_7_7": 1}, "avoid_7_7 must be true or false, but it is 1"),
        ("step_back", {"trigger": 11}, "trigger must be in 0..10, but it is 11"),
        ("step_back", {"k": 0}, "k must be at least 1, but it is 0"),
        ("copy_modulo", {"k": -1}, "k must be at least 1, but it is -1"),
        ("two_token_parity", {"high": 9}, "high must be at least 10, but it is 9"),
        ("even_greater_than_10", {"high": 10}, "high must be above 10, but it is 10"),
    ],
)
def test_bad_settings_get_one_sentence(name, settings, sentence):
    with pytest.raises(UserError) as error:
        make_rule(name, **settings)
    assert str(error.value) == sentence


def test_a_name_is_taken_once():
    with pytest.raises(UserError, match="there is a task called 'lucky7' already"):
        register(type("Impostor", (Rule,), {"name": "lucky7"}))
    assert TASKS["lucky7"].__name__ == "Lucky7"


def test_a_rule_needs_a_name():
    with pytest.raises(UserError, match="the name of Nameless must be a text"):
        register(type("Nameless", (Rule,), {}))
