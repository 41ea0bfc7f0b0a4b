"""What there is: tasks, models, figures, runs, settings; objects with at least `id` and `about`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from glassformer.draw.registry import FIGURES, FILMS, PANELS
from glassformer.errors import UserError
from glassformer.model.architecture import Architecture
from glassformer.model.forward import parameters
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import find_runs, is_complete, stored
from glassformer.runs.load import RUNS
from glassformer.runs.resolve import leaves
from glassformer.runs.text_files import read_json
from glassformer.runs.tree import to_tree
from glassformer.tasks import TASKS
from glassformer.zoo import ZOO
from glassformer.zoo.entry import VERDICTS

RULE_FIGURE, PANEL, VIDEO = "figures of rule model", "panels of adder", "video"
KINDS = {"rule": "rule", "question": "question", "addition": "trained adder"}  # by family
BUILT = "hand-built adder"
Items = list[dict[str, Any]]


def tasks() -> Items:
    """Every task, and the configurations that train it."""
    found: Items = [{"id": name, "about": first_line(task.__doc__)} for name, task in TASKS.items()]
    for item in found:
        item["configurations"] = [run.name for run in CONFIGURATIONS.values() if run.task.name == item["id"]]
    return found


def models() -> Items:
    """Every configuration, then the zoo's hand-built adders: size, and whether there are numbers for it."""
    built = [entry for entry in ZOO.values() if entry.build]
    return [configured(run) for run in CONFIGURATIONS.values()] + [
        {
            "id": entry.id,
            "about": entry.about,
            "kind": BUILT,
            "parameters": size(entry.architecture),
            "trained": True,
            "verdict": verdicts().get(entry.id),
        }
        for entry in built
    ]


@cache
def verdicts() -> dict[str, str]:
    """What `glassformer prove` says of the zoo's models; tools/verdicts.py has written it down."""
    content: dict[str, dict[str, str]] = json.loads(VERDICTS.read_text(encoding="utf-8"))
    return {name: about["verdict"] for name, about in content.items()}


def run_verdict(name: str) -> str | None:
    """Of a finished run under runs/."""
    try:
        found = read_json(RUNS / name / "result.json").get("verdict")
    except UserError:
        return None
    return found if isinstance(found, str) else None


def configured(run: Run) -> dict[str, Any]:
    """`trained`: weights come with the package, or a finished run is here."""
    ships = run.name in ZOO and ZOO[run.name].weights is not None
    return {
        "id": run.name,
        "about": run.about or f"{run.task.name}: width {run.model.width}, context {run.model.context}",
        "kind": KINDS[run.task.family],
        "parameters": size(run.architecture),
        "trained": ships or (RUNS / run.name / "result.json").exists(),
        "verdict": verdicts().get(run.name) if ships else run_verdict(run.name),
    }


def size(architecture: Architecture) -> int:
    return sum(parameter.free for parameter in parameters(architecture).values())


def figures() -> Items:
    """What `glassformer draw` makes, of rule models and of adders, and what `glassformer video` does."""
    return [
        {"id": picture.id, "about": f"{picture.name}: {picture.about}", "kind": kind}
        for kind, pictures in ((RULE_FIGURE, FIGURES), (PANEL, PANELS), (VIDEO, FILMS))
        for picture in pictures
    ]


def runs() -> Items:
    """The run folders under runs/."""
    return [{"id": str(folder), "about": about_run(folder)} for folder in find_runs(RUNS)]


def about_run(folder: Path) -> str:
    """The task and how far it got; a folder that cannot be read does not hide the others."""
    try:
        return f"{stored(folder).task.name}, {'complete' if is_complete(folder) else 'unfinished'}"
    except UserError as error:
        return f"damaged: {error}"


def settings() -> Items:
    """Every setting of a run by its dotted name, with plus_last_even's value."""
    every = leaves(to_tree(CONFIGURATIONS["plus_last_even"]))
    return [{"id": path, "about": repr(value)} for path, value in every.items()]


def first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


def lines(items: Items) -> list[str]:
    """One line an item, under a heading for each kind where there are several."""
    width = max((len(item["id"]) for item in items), default=0)
    kinds = list(dict.fromkeys(item.get("kind") for item in items))
    if len(kinds) <= 1:
        return [line(item, width) for item in items] or ["  none"]
    found: list[str] = []
    for kind in kinds:
        found += [f"  {kind}s", *(f"  {line(item, width)}" for item in items if item["kind"] == kind)]
    return found


def line(item: dict[str, Any], width: int) -> str:
    number = f"{item['parameters']:>6} parameters  " if "parameters" in item else ""
    verdict = f"  [{item['verdict']}]" if item.get("verdict") else ""
    return f"  {item['id']:<{width}}  {number}{item['about']}{verdict}"
