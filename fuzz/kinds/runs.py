"""Valid run folders and configuration trees, which several kinds damage."""

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# glassformer run rope-36 --task.digits 2 --steps 60 --seeds 2 ... made the adder, once; it adds nothing right
FOLDERS = (ROOT / "fuzz" / "runs" / "adder", *sorted((ROOT / "tests" / "pictures" / "runs").iterdir()))
# What loading, counting and testing a model import, and what all verbs together do
MOST_STATES = 1_000  # of a rule that is measured
MODEL_NEEDS = ("numpy", "jaxtyping", "safetensors", "jax", "optax", "scipy", "rich", "tomli_w", "ml_dtypes")
NEEDS = (*MODEL_NEEDS, "flint", "matplotlib", "threadpoolctl")
LARGEST = 70_000  # bytes of a file that is copied for a case


@cache
def run_files() -> dict[str, dict[str, bytes]]:
    """The files of every run folder by name; large histories are left out."""
    return {
        folder.name: {
            path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.stat().st_size < LARGEST
        }
        for folder in FOLDERS
    }


@cache
def configuration_trees() -> tuple[dict[str, Any], ...]:
    """Every named configuration as a plain tree, as a run.toml holds it."""
    from glassformer.runs.configurations import CONFIGURATIONS
    from glassformer.runs.tree import to_tree

    trees = [json.loads(json.dumps(to_tree(run))) for run in CONFIGURATIONS.values()]
    return (*trees, *[trees[0] | {"task": rule} for rule in tabulated_rules()])


def tabulated_rules() -> list[dict[str, Any]]:
    """Rules of a user's own, as folders carry them."""
    from glassformer.runs.tree import to_tree
    from glassformer.tasks import make_rule
    from glassformer.tasks.tabulated import to_tabulated_rule

    rules = [
        to_tabulated_rule(make_rule("successor", high=3), "mine"),
        to_tabulated_rule(make_rule("plus_last_even"), "own"),
    ]
    return [json.loads(json.dumps(to_tree(rule))) for rule in rules]


def seal_rule(tree: Any) -> Any:
    """The digest of a rule's tables made to fit again, where the damage leaves any."""
    from glassformer.tasks.tabulated import digest_tables

    task = tree.get("task") if isinstance(tree, dict) else None
    names = ("low", "high", "operator", "choices", "chooses", "next")
    if not isinstance(task, dict) or not {"digest", *names} <= {*task}:
        return tree
    try:
        return tree | {"task": task | {"digest": digest_tables(*(task[name] for name in names))}}
    except (TypeError, ValueError, RecursionError):
        return tree


@cache
def metadata_trees() -> tuple[dict[str, Any], ...]:
    """What weights of every named configuration say about themselves."""
    return tuple(
        {"format": 1, **{key: tree[key] for key in ("task", "data", "model")}, "seed": 0}
        for tree in configuration_trees()
    )


def tabulate_small(rule: Any) -> Any:
    """The automaton of a rule, if it has few states: sets of the others' states take a second."""
    from glassformer.core.errors import UserError
    from glassformer.tasks import tabulate_automaton

    automaton = tabulate_automaton(rule)
    if len(automaton.states) > MOST_STATES:
        raise UserError("too many states for a case")
    return automaton


def refuse_training(*_: Any) -> Any:
    """A folder without its result is one to resume: minutes of honest work, which the user asked for."""
    from glassformer.core.errors import UserError

    raise UserError("no training in a case")


def shorten_counts() -> None:
    """`count` takes no rank of a Jacobian; `test` of a rule is small, and for small rules alone.

    Both are seconds of honest work for every valid model; a file cannot make them more.
    """
    from glassformer.commands import measure_target as testing
    from glassformer.models import count
    from glassformer.runs import training
    from glassformer.tasks import floor
    from glassformer.verify import rule

    count.MOST_FOR_RANK = 0
    training.train_into_folder = refuse_training
    rule.measure_fresh_loss = lambda *_: (0.0, 0.0)  # a program of its own to compile
    rule.tabulate_automaton = tabulate_small
    rule.POOL, floor.MOST_IN_ALL, testing._GENERATED = 16, 100_000, 20
