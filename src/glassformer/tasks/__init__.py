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
from glassformer.tasks.addition import Addition, add_column, add_digits, to_digits, to_numbers
from glassformer.tasks.automaton import Automaton, compute_state_distribution, tabulate_automaton
from glassformer.tasks.check import follow_states, mark_allowed, mark_constrained
from glassformer.tasks.choice import Choice, Token, free, only, uniform
from glassformer.tasks.floor import compute_entropy_floor, compute_position_floors
from glassformer.tasks.knowledge import TokenSource, classify_positions, measure_source_distance
from glassformer.tasks.layouts import LAYOUTS, Layout, make_layout
from glassformer.tasks.load import load_rule_file
from glassformer.tasks.operations import Operation
from glassformer.tasks.prompts import Prompts
from glassformer.tasks.question import Question
from glassformer.tasks.rule import Rule, list_rules, make_rule
from glassformer.tasks.rule_file import read_rule
from glassformer.tasks.sequences import Sequences
from glassformer.tasks.strings import Strings
from glassformer.tasks.tabulated import TabulatedQuestion, TabulatedRule, to_data_task
from glassformer.tasks.task import TASKS, Task, TaskWords, make_task, register

__all__ = [
    "LAYOUTS",
    "TASKS",
    "Addition",
    "Automaton",
    "Choice",
    "Layout",
    "Operation",
    "Prompts",
    "Question",
    "Rule",
    "Sequences",
    "Strings",
    "TabulatedQuestion",
    "TabulatedRule",
    "Task",
    "TaskWords",
    "Token",
    "TokenSource",
    "add_column",
    "add_digits",
    "classify_positions",
    "compute_entropy_floor",
    "compute_position_floors",
    "compute_state_distribution",
    "follow_states",
    "free",
    "list_rules",
    "load_rule_file",
    "make_layout",
    "make_rule",
    "make_task",
    "mark_allowed",
    "mark_constrained",
    "measure_source_distance",
    "only",
    "read_rule",
    "register",
    "tabulate_automaton",
    "to_data_task",
    "to_digits",
    "to_numbers",
    "uniform",
]

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "addition": (
        "Addition MOST_DIGITS_AT_ALL SCHEDULE_SETTINGS count_digits join_digits require_addition "
        "split_digits to_numbers"
    ),
    "automaton": "Automaton compute_state_distribution tabulate_automaton",
    "board": (
        "BOARD_BASE BOARD_DIGITS BOARD_PAIRS BOARD_SEED EDGE_CASES draw_board_pairs draw_random_pairs "
        "is_board_task replace_board_pairs"
    ),
    "draws": "draw_sequences",
    "examples": "list_example_pairs",
    "hard": "HARD draw_hard_pairs",
    "knowledge": "Knowledge list_window_starts measure_source_distance tabulate_knowledge",
    "layouts": "DIGIT_LABELS Layout",
    "operations": "ADD OPERATIONS Operation",
    "pairs": "draw_training_pairs",
    "rules_operator": "PlusLastEven",
    "sample": "SequencePool sample_pool",
    "sampler": "HeldOutWindows Sampler SumSampler",
    "sequences": "Sequences",
    "strings": "require_strings",
    "task": "Family",
}
