"""A user's rule file in a process of its own: its table, or a sentence with the file and the line."""

import sys

import pytest

from glassformer.core.errors import UserError
from glassformer.tasks import TASKS, read_rule, rule_file, tabulate_automaton

from .test_load import RULE


def wrong(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError) as error:
        read_rule(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_becomes_a_table_and_nothing_of_it_is_here(tmp_path):
    before = set(sys.modules)
    (tmp_path / "mine.py").write_text(RULE)
    rule = read_rule(tmp_path / "mine.py", {"high": 5})
    assert (rule.name, rule.high, rule.settings) == ("mirror", 5, "low = 0, high = 5")
    assert len(tabulate_automaton(rule).states) == 7
    assert "mirror" not in TASKS
    assert not any("rule_file_mine" in name for name in set(sys.modules) - before)


def test_what_it_prints_is_not_its_answer(tmp_path, capfd):
    (tmp_path / "mine.py").write_text("print('{}')\n" + RULE)
    assert read_rule(tmp_path / "mine.py").name == "mirror"
    out, err = capfd.readouterr()
    assert (out, err) == ("", "{}\n")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("        return token", "        return 1 // 0", "ZeroDivisionError"),
        ("        return token", "        import sys; sys.exit(0)", "SystemExit: 0 (mine.py, line 21)"),
        ("        return token", "        return self.after(state, token)", "RecursionError"),
        (
            "(self, state, token)",
            "(self, state)",
            "takes 2 positional arguments but 3 were given (mine.py, line 20)",
        ),
        ("        return token", "        return [token]", "unhashable type: 'list' (mine.py, line 20)"),
        (
            "return uniform",
            "return 5 or uniform",
            "choose must return only(values), uniform(values) or free(weights)",
        ),
        (
            "\n@register",
            "\nimport sys; sys.exit(0)\n@register",
            "could not be loaded: SystemExit: 0 (mine.py, line 6)",
        ),
        ("\n@register", "\nraise SystemExit\n@register", "could not be loaded: SystemExit (mine.py, line 6)"),
        (
            "\n@register",
            "\nimport os; os._exit(0)\n@register",
            "ended the process that runs it (exit status 0)",
        ),
        ("\n@register", "\nimport os; os.abort()\n@register", "ended the process that runs it (SIGABRT)"),
        ("After x", "Apr\xe8s x", "could not be loaded: SyntaxError: (unicode error) 'utf-8' codec"),
        ("high: int = 9", "high: int = 10**9", "high must be such that low..high holds at most 4096"),
        ("        return token", "        return (x", "SyntaxError: '(' was never closed (mine.py, line 21)"),
    ],
)
def test_what_goes_wrong_names_file_and_line(tmp_path, old, new, sentence):
    assert old in RULE
    assert sentence in wrong(tmp_path, RULE.replace(old, new, 1))


def test_a_rule_that_loops_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(rule_file, "SECONDS", 3.0)
    said = wrong(tmp_path, RULE.replace("        return token", "        while True: pass"))
    assert "was stopped: its rule took longer than 3 s; does a method loop for ever?" in said


def test_a_rule_that_fills_memory_is_ended(tmp_path):
    said = wrong(tmp_path, RULE.replace("        return token", "        return (0,) * 10**10"))
    assert "MemoryError" in said


def test_a_name_or_setting_that_is_not_there(tmp_path):
    (tmp_path / "mine.py").write_text(RULE)
    with pytest.raises(UserError, match="has no rule called 'nirror'; it has mirror"):
        read_rule(tmp_path / "mine.py", {"name": "nirror"})
    with pytest.raises(UserError, match="no setting of mirror called 'hihg'; did you mean 'high'"):
        read_rule(tmp_path / "mine.py", {"hihg": 3})
