"""A user's rule file, run in a process of its own: what comes back is the rule's table, never its code.

    read_rule("my_rule.py", {"high": 7})       the first rule of the file, with high = 7

The process has a time limit and a memory limit, so a rule that loops for ever or ends the program is one
sentence here, and whatever else its code does is over before anything of ours continues.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError, locate_error
from glassformer.scale.child import describe_exit, make_import_path
from glassformer.tasks.load import load_rule_file
from glassformer.tasks.tabulated import (
    TabulatedQuestion,
    TabulatedRule,
    to_tabulated_question,
    to_tabulated_rule,
)
from glassformer.tasks.task import make_task

SECONDS = 30.0  # for a rule to be tabulated; the largest that are allowed take about four
_MEMORY = 4 * 2**30  # bytes of addresses for the same
_NAME = "name"  # the setting that says which rule of the file


def read_rule(
    path: str | Path, settings: Mapping[str, object] | None = None
) -> TabulatedRule | TabulatedQuestion:
    """The rule of a file that the user named, with these settings; the others keep their defaults."""
    question = json.dumps({"file": str(path), "settings": dict(settings or {})}, default=str)
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
    environment = os.environ | {"PYTHONPATH": make_import_path(), "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            input=question.encode(),
            stdout=subprocess.PIPE,
            timeout=SECONDS,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{path} was stopped: its rule took longer than {SECONDS:g} s; does a method loop for ever?"
        ) from None
    return _read_answer(path, done.stdout, done.returncode)


def _read_answer(path: str | Path, answer: bytes, status: int) -> TabulatedRule | TabulatedQuestion:
    try:
        content = json.loads(answer)
        if "error" in content:
            raise UserError(content["error"])
        tables = {name: tuple(part) for name, part in content.items() if isinstance(part, list)}
        kind = TabulatedQuestion if "length" in content else TabulatedRule
        return kind(**(content | tables))
    except (ValueError, TypeError, KeyError):
        raise UserError(
            f"{path} ended the process that runs it ({describe_exit(status)}) instead of giving a rule"
        ) from None


def main() -> None:
    """The other process: a question on standard input, an answer on standard output.

    What the rule prints goes to standard error.
    """
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    question = json.load(sys.stdin)
    _limit_memory()
    try:
        content: dict[str, Any] = asdict(_tabulate_file(question["file"], question["settings"]))
    except UserError as error:
        content = {"error": str(error)}
    except (Exception, SystemExit) as error:
        content = {"error": f"{question['file']}: {locate_error(error, question['file'])}"}
    with answer:
        json.dump(content, answer)


def _tabulate_file(file: str, settings: dict[str, Any]) -> TabulatedRule | TabulatedQuestion:
    rules = [rule.name for rule in load_rule_file(file)]
    name = settings.pop(_NAME, rules[0])
    if name not in rules:
        raise UserError(f"{file} has no rule called '{name}'; it has {', '.join(rules)}")
    return _tabulate(make_task(name, **settings))


def _tabulate(task: Any) -> TabulatedRule | TabulatedQuestion:
    return to_tabulated_question(task) if task.length else to_tabulated_rule(task)


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # not every system has such a limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
