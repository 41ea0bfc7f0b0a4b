"""Half a minute of the fuzzer; `make fuzz` has more. And that it finds what is planted."""

from random import Random

import pytest

from fuzz.__main__ import fuzz
from fuzz.kinds import KINDS
from fuzz.mutate.tree import mutate_tree

SEED = 17
CASES = 500


def test_no_case_is_a_finding(monkeypatch):
    monkeypatch.setattr(
        "fuzz.case.SECONDS", 4.0
    )  # where all cores are busy a second of theirs is half of one
    report = fuzz(tuple(KINDS), CASES, SEED, workers=1)
    assert not report.findings, report.words()
    assert not report.skipped
    # Of a certificate every field is a claim: hardly any change leaves it valid.
    accepting = [tally for kind, tally in report.tallies.items() if kind != "certificate"]
    assert all(tally.accepted for tally in accepting), report.words()
    assert all(tally.refused for tally in report.tallies.values()), report.words()


@pytest.mark.parametrize(
    ("bug", "fault", "words"),
    [
        ("key_error", "foreign", "KeyError: 'planted'"),
        ("exit", "foreign", "SystemExit: 0"),
        ("death", "foreign", "the process died (status -6)"),
        ("time", "slow", "use_time"),
        ("memory", "large", "MemoryError"),
        ("memory_refused", "large", ""),
        ("marker", "executed", ""),
    ],
)
def test_a_planted_bug_is_found_under_its_name(bug, fault, words, tmp_path):
    report = fuzz(("safetensors",), 2, SEED, workers=1, out=tmp_path, planted=bug)
    tally = report.tallies["safetensors"]
    assert report.findings == getattr(tally, fault) > 0, report.words()
    assert tally.cases == 2
    assert all(line.startswith(f"{fault}: ") and words in line for line in report.faults), report.words()
    found = next(tmp_path.iterdir()).read_text()
    assert found.startswith("python -m fuzz --kinds safetensors --seed 17 --case ")


def test_a_hanging_case_is_killed_and_counts_as_slow(monkeypatch):
    monkeypatch.setattr("fuzz.pool.WALL", 1.0)
    report = fuzz(("safetensors",), 1, SEED, workers=1, planted="hang")
    assert report.tallies["safetensors"].slow == 1, report.words()
    assert "hang" in next(iter(report.faults))


def test_damage_is_the_same_for_the_same_seed_and_leaves_its_input():
    tree = {"a": [1, {"b": "c"}], "d": {"e": 1.5}}
    first = [mutate_tree(tree, Random(seed)) for seed in range(200)]
    assert repr(first) == repr([mutate_tree(tree, Random(seed)) for seed in range(200)])
    assert tree == {"a": [1, {"b": "c"}], "d": {"e": 1.5}}
    assert len({repr(one) for one in first}) > 130
