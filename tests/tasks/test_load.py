"""Rules from a user's own file."""

import os
import sys

import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import TASKS, load_rule_file, make_rule, mark_allowed, tabulate_automaton

from .plain import draw

RULE = '''
from dataclasses import dataclass
from glassformer.tasks import Rule, only, register, uniform


@register
@dataclass(frozen=True)
class Mirror(Rule):
    """After x comes high - x: 2 7 2 7."""

    high: int = 9
    name = "mirror"

    def start(self):
        return None

    def choose(self, state):
        return uniform(self.integers()) if state is None else only([self.low + self.high - state])

    def after(self, state, token):
        return token
'''


@pytest.fixture
def write(tmp_path, registry):
    def write(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_file_with_one_class_is_a_rule(write):
    (rule,) = load_rule_file(write(RULE))
    assert rule is TASKS["mirror"]
    automaton = tabulate_automaton(make_rule("mirror", high=5))
    tokens = draw(automaton, count=10, length=6)
    assert mark_allowed(automaton, tokens).all()
    assert (tokens[1:] + tokens[:-1] == 5).all()


def test_loading_again_replaces_the_rule(write, monkeypatch):
    """Also where the edit keeps the size and falls into the same second, as cached bytecode would not see."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    files = [write(RULE), write(RULE.replace("high: int = 9", "high: int = 4"), "later.py")]
    for file in files:
        os.utime(file, (0, 0))
    (first,) = load_rule_file(files[0])
    (second,) = load_rule_file(files[1].replace(files[0]))
    assert first is not second
    assert make_rule("mirror").high == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1", "holds no rule; put @register above a class that extends Rule"),
        ("1 / 0", "could not be loaded: ZeroDivisionError: division by zero"),
        (RULE + "\nraise ValueError('no')", "could not be loaded: ValueError: no"),
        (
            RULE.replace('"mirror"', '"lucky7"'),
            "could not be loaded: there is a task called 'lucky7' already",
        ),
    ],
)
def test_bad_files_get_one_sentence(write, text, sentence):
    path = write(text)
    with pytest.raises(UserError) as error:
        load_rule_file(path)
    assert str(error.value).startswith(f"{path} {sentence}")
    assert "mirror" not in TASKS


def test_no_such_file(tmp_path):
    with pytest.raises(UserError, match=r"no file called '.*none.py'"):
        load_rule_file(tmp_path / "none.py")
