"""Rules from a user's own file, run in this process: for notebooks, and for the process of `rule_file.py`."""

import importlib.util
import sys
from collections.abc import Iterable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import NoReturn

from glassformer.core.errors import UserError, locate_error
from glassformer.tasks.task import TASKS, Task

_loaded: dict[Path, tuple[type[Task], ...]] = {}


class _FreshLoader(SourceFileLoader):
    """Compiles the file as it is now: cached bytecode would hide an edit that keeps second and size."""

    def path_stats(self, path: object) -> NoReturn:
        raise OSError("no bytecode is read or written")


def load_rule_file(path: str | Path) -> tuple[type[Task], ...]:
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
        reason = str(error) if isinstance(error, UserError) else locate_error(error, file)
        raise UserError(f"{path} could not be loaded: {reason}") from error
    rules = tuple(rule for name, rule in TASKS.items() if name not in before)
    if not rules:
        raise UserError(f"{path} holds no rule; put @register above a class that extends Rule or Question")
    _loaded[file] = rules
    return rules


def _run(file: Path) -> None:
    """Import the file as a module of its own; dataclasses look their module up in sys.modules."""
    name = f"glassformer_rule_file_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file, loader=_FreshLoader(name, str(file)))
    if spec is None or spec.loader is None:
        raise UserError("its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def _forget(rules: Iterable[type[Task]]) -> None:
    """Take rules out of the registry."""
    for rule in rules:
        TASKS.pop(rule.name, None)
