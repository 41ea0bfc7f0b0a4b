"""What there is: tasks, models, figures, runs, settings; objects with at least `id` and `about`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.core.errors import UserError
from glassformer.core.text_files import read_json
from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.pictures.registry import FIGURES, FILMS, PANELS
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import find_runs, is_complete, read_stored_run
from glassformer.runs.load import RUNS
from glassformer.runs.resolve import list_setting_leaves
from glassformer.runs.tree import to_tree
from glassformer.tasks import TASKS
from glassformer.zoo import ZOO
from glassformer.zoo.entry import VERDICTS

_RULE_FIGURE, _PANEL, _VIDEO = "figures of rule model", "panels of adder", "video"
_KINDS = {"rule": "rule", "question": "question", "addition": "trained adder"}  # by family
_BUILT = "hand-built adder"
_Items = list[dict[str, Any]]


def _list_tasks() -> _Items:
    """Every task, and the configurations that train it."""
    found: _Items = [{"id": name, "about": _take_first_line(task.__doc__)} for name, task in TASKS.items()]
    for item in found:
        item["configurations"] = [run.name for run in CONFIGURATIONS.values() if run.task.name == item["id"]]
    return found


def _list_models() -> _Items:
    """Every configuration, then the zoo's hand-built adders: size, and whether there are weights for it."""
    built = [entry for entry in ZOO.values() if entry.build]
    return [_describe_configuration(run) for run in CONFIGURATIONS.values()] + [
        {
            "id": entry.id,
            "about": entry.about,
            "kind": _BUILT,
            "parameters": _count_free(entry.architecture),
            "trained": True,
            "verdict": _read_verdicts().get(entry.id),
        }
        for entry in built
    ]


@cache
def _read_verdicts() -> dict[str, str]:
    """What `glassformer prove` says of the zoo's models; tools/verdicts.py has written it down."""
    content: dict[str, dict[str, str]] = json.loads(VERDICTS.read_text(encoding="utf-8"))
    return {name: about["verdict"] for name, about in content.items()}


def _find_run_verdict(name: str) -> str | None:
    """Of a finished run under runs/."""
    try:
        found = read_json(RUNS / name / "result.json").get("verdict")
    except UserError:
        return None
    return found if isinstance(found, str) else None


def _find_lawful_verdict(name: str) -> str | None:
    """Of a finished run of a rule: the verdict on contexts that the rule can produce."""
    try:
        found = ((read_json(RUNS / name / "result.json").get("proof") or {}).get("lawful") or {}).get(
            "verdict"
        )
    except (UserError, AttributeError):
        return None
    return found if isinstance(found, str) else None


def _describe_configuration(run: Run) -> dict[str, Any]:
    """`trained`: weights come with the package, or a finished run is here."""
    ships = run.name in ZOO and ZOO[run.name].weights is not None
    return {
        "id": run.name,
        "about": run.about or _describe_size_and_task(run),
        "kind": _KINDS[run.task.family],
        "parameters": _count_free(run.architecture),
        "trained": ships or (RUNS / run.name / "result.json").exists(),
        "verdict": _read_verdicts().get(run.name) if ships else _find_run_verdict(run.name),
        "lawful": None if ships else _find_lawful_verdict(run.name),
    }


def _describe_size_and_task(run: Run) -> str:
    """Size and rule of a configuration that says nothing about itself."""
    return f"Width {run.model.width}, context {run.model.context}. {run.task.describe()}"


def _count_free(architecture: Architecture) -> int:
    return sum(parameter.free for parameter in list_parameters(architecture).values())


def _list_figures() -> _Items:
    """What `glassformer draw` makes, of rule models and of adders, and what `glassformer video` does."""
    return [
        {"id": picture.id, "about": f"{picture.name}: {picture.about}", "kind": kind}
        for kind, pictures in ((_RULE_FIGURE, FIGURES), (_PANEL, PANELS), (_VIDEO, FILMS))
        for picture in pictures
    ]


def _list_runs() -> _Items:
    """The run folders under runs/."""
    return [{"id": str(folder), "about": _describe_run(folder)} for folder in find_runs(RUNS)]


def _describe_run(folder: Path) -> str:
    """The task and how far it got; a folder that cannot be read does not hide the others."""
    try:
        return f"{read_stored_run(folder).task.name}, {'complete' if is_complete(folder) else 'unfinished'}"
    except UserError as error:
        return f"damaged: {error}"


def _list_settings() -> _Items:
    """Every setting of a run by its dotted name, with plus_last_even's value."""
    every = list_setting_leaves(to_tree(CONFIGURATIONS["plus_last_even"]))
    return [{"id": path, "about": repr(value)} for path, value in every.items()]


def _take_first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


def format_items(items: _Items) -> list[str]:
    """One line per item, under a heading per kind where there are several."""
    width = max((len(item["id"]) for item in items), default=0)
    kinds = list(dict.fromkeys(item.get("kind") for item in items))
    if len(kinds) <= 1:
        return [_format_item(item, width) for item in items] or ["  none"]
    found: list[str] = []
    for kind in kinds:
        found += [f"  {kind}s", *(f"  {_format_item(item, width)}" for item in items if item["kind"] == kind)]
    return found


def _format_item(item: dict[str, Any], width: int) -> str:
    number = f"{item['parameters']:>6} parameters  " if "parameters" in item else ""
    verdict = f"  [{item['verdict']}]" if item.get("verdict") else ""
    if item.get("lawful") == "proved" and item.get("verdict") != "proved":
        verdict = "  [proved on lawful contexts]"
    return f"  {item['id']:<{width}}  {number}{item['about']}{verdict}"


LISTINGS = {
    "tasks": _list_tasks,
    "models": _list_models,
    "figures": _list_figures,
    "runs": _list_runs,
    "settings": _list_settings,
}
