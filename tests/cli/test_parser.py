"""The help: its texts, its examples, its version."""

import shlex

import pytest

from glassformer.cli.parser import EXAMPLES, format_epilog, make_parser
from glassformer.cli.program import main, split_dotted
from glassformer.cli.verbs import VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example(capsys, verb):
    with pytest.raises(SystemExit) as stop:
        main([verb, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert f"  glassformer {verb} " in text.partition("example")[2]
    assert "--json" in text


def test_no_words_show_the_help(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    assert all(f"    {verb} " in text for verb in VERBS)


def test_the_examples_of_the_help_are_valid():
    """Every example parses, and its configuration resolves."""
    from glassformer.runs.resolve import resolve_run
    from glassformer.sweeps.reading import make_sweep, parse_grid_options
    from glassformer.zoo import ZOO

    texts = [EXAMPLES, *(format_epilog(verb.function) for verb in VERBS.values())]
    lines = [
        line.split("  ")[1]
        for text in texts
        for line in text.splitlines()
        if line.startswith("  glassformer")
    ]
    assert {shlex.split(line)[1] for line in lines} == {*VERBS}
    for line in lines:
        plain, options = split_dotted(shlex.split(line)[1:])
        known, rest = make_parser()[0].parse_known_args(plain)
        assert rest == []
        if known.verb == "run" and "." not in known.target:
            resolve_run(known.target, options)
        if known.verb == "sweep" and "." not in known.target:
            make_sweep(known.target, parse_grid_options(known.grid), options)
        if known.verb in ("test", "add", "prove", "draw", "page") and "/" not in known.target:
            assert (getattr(known, "model", None) or known.target) in ZOO


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("glassformer 0.")
