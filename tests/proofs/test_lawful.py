"""Lawful contexts: the prover's counts are those of the checker, by other code."""

import pytest

from glassformer.checker.rule_contexts import RuleContexts
from glassformer.proofs.contexts import tabulate_demands
from glassformer.proofs.lawful import LawfulContexts
from glassformer.runs.configurations import RULE_CONFIGURATIONS
from glassformer.tasks import tabulate_automaton

LARGE = {"step_back", "copy_modulo"}  # seconds of counting


@pytest.mark.parametrize("name", [name for name in RULE_CONFIGURATIONS if name not in LARGE])
def test_both_count_the_same(name):
    run = RULE_CONFIGURATIONS[name]
    automaton, n = tabulate_automaton(run.task), run.model.context
    lawful, counts = LawfulContexts(automaton, n), RuleContexts(automaton, n).counts()
    constrained = lawful.count_constrained(tabulate_demands(automaton))
    assert constrained == {length: one.lawful_constrained for length, one in counts.items()}
    assert all(lawful.count(length) == one.lawful for length, one in counts.items())
