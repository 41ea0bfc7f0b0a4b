"""Rules from a user's own file, run in this process: for notebooks, and for the process of `rule_file.py`."""

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

from glassformer.errors import UserError, say_where
from glassformer.tasks.task import TASKS, Task

_loaded: dict[Path, tuple[type[Task], ...]] = {}


def load_file(path: str | Path) -> tuple[type[Task], ...]:
    """Run a Python file and return the rules that it registered; they replace those of files before it."""
    file = Path(path).resolve()
    if not file.is_file():
        raise UserError(f"no file called '{path}'")
    for earlier in list(_loaded):
        _forget(_loaded.pop(earlier))
    before = set(TASKS)
    try:
        _run(file)
    except (Exception, SystemExit) as error:
        _forget(rule for name, rule in list(TASKS.items()) if name not in before)
        reason = str(error) if isinstance(error, UserError) else say_where(error, file)
        raise UserError(f"{path} could not be loaded: {reason}") from error
    rules = tuple(rule for name, rule in TASKS.items() if name not in before)
    if not rules:
        raise UserError(f"{path} holds no rule; put @register above a class that extends Rule or Question")
    _loaded[file] = rules
    return rules


def _run(file: Path) -> None:
    """Import the file as a module of its own; dataclasses look their module up in sys.modules."""
    name = f"glassformer_rule_file_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UserError("its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _forget(rules: Iterable[type[Task]]) -> None:
    """Take rules out of the registry."""
    for rule in rules:
        TASKS.pop(rule.name, None)
