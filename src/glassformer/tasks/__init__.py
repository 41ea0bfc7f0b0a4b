"""Tasks: what a model has to learn, defined once, tabulated, sampled, checked and explained.

Importing this package loads the rules but not JAX; `tasks.sample` and `tasks.pairs` do load it.
"""

from glassformer.tasks import rules_map, rules_operator, rules_parity, rules_recall  # noqa: F401  fill RULES
from glassformer.tasks.addition import Addition, add, column, digits_of, numbers_of
from glassformer.tasks.automaton import Automaton, state_distribution, tabulate
from glassformer.tasks.check import constrained, follow, right
from glassformer.tasks.choice import Choice, Token, free, only, uniform
from glassformer.tasks.floor import entropy_floor, floor_by_position
from glassformer.tasks.knowledge import Source, classify, source_distance
from glassformer.tasks.layouts import LAYOUTS, Layout, make_layout
from glassformer.tasks.load import load_file
from glassformer.tasks.rule import RULES, Rule, make_rule, register
from glassformer.tasks.rule_file import read_rule
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.tabulated import Tabulated, as_data, is_data

__all__ = [
    "LAYOUTS",
    "RULES",
    "Addition",
    "Automaton",
    "Choice",
    "Layout",
    "Rule",
    "Sequences",
    "Source",
    "Tabulated",
    "Token",
    "add",
    "as_data",
    "classify",
    "column",
    "constrained",
    "digits_of",
    "entropy_floor",
    "floor_by_position",
    "follow",
    "free",
    "is_data",
    "load_file",
    "make_layout",
    "make_rule",
    "numbers_of",
    "only",
    "read_rule",
    "register",
    "right",
    "source_distance",
    "state_distribution",
    "tabulate",
    "uniform",
]
