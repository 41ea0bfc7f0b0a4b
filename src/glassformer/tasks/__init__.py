"""Tasks: what a model has to learn, defined once, tabulated, sampled, checked and explained.

The protocol is `Task` (tasks/task.py). Importing this package loads the tasks but not JAX; `tasks.sampler`,
`tasks.sample` and `tasks.pairs` do load it.
"""

from glassformer.tasks import (  # noqa: F401  they fill TASKS
    max_of,
    modular,
    rules_map,
    rules_operator,
    rules_parity,
    rules_recall,
)
from glassformer.tasks.addition import Addition, add, column, digits_of, numbers_of
from glassformer.tasks.automaton import Automaton, state_distribution, tabulate
from glassformer.tasks.check import constrained, follow, right
from glassformer.tasks.choice import Choice, Token, free, only, uniform
from glassformer.tasks.floor import entropy_floor, floor_by_position
from glassformer.tasks.knowledge import Source, classify, source_distance
from glassformer.tasks.layouts import LAYOUTS, Layout, make_layout
from glassformer.tasks.load import load_file
from glassformer.tasks.prompts import Prompts
from glassformer.tasks.question import Question
from glassformer.tasks.rule import Rule, make_rule, rules
from glassformer.tasks.rule_file import read_rule
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.strings import Strings
from glassformer.tasks.tabulated import Tabulated, TabulatedQuestion, as_data
from glassformer.tasks.task import TASKS, Task, Words, make_task, register

__all__ = [
    "LAYOUTS",
    "TASKS",
    "Addition",
    "Automaton",
    "Choice",
    "Layout",
    "Prompts",
    "Question",
    "Rule",
    "Sequences",
    "Source",
    "Strings",
    "Tabulated",
    "TabulatedQuestion",
    "Task",
    "Token",
    "Words",
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
    "load_file",
    "make_layout",
    "make_rule",
    "make_task",
    "numbers_of",
    "only",
    "read_rule",
    "register",
    "right",
    "rules",
    "source_distance",
    "state_distribution",
    "tabulate",
    "uniform",
]
