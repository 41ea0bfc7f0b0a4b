"""What there is: tasks, models, figures, runs, settings; objects with at least `id` and `about`."""

from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.model.forward import parameters
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import find_runs, is_complete, stored
from glassformer.runs.load import RUNS
from glassformer.runs.resolve import leaves
from glassformer.runs.tree import to_tree
from glassformer.tasks import RULES, Addition

Items = list[dict[str, Any]]


def tasks() -> Items:
    """Every task, and the configurations that train it."""
    found: Items = [{"id": name, "about": first_line(rule.__doc__)} for name, rule in RULES.items()]
    found.append({"id": Addition.name, "about": first_line(Addition.__doc__)})
    for item in found:
        item["configurations"] = [run.name for run in CONFIGURATIONS.values() if run.task.name == item["id"]]
    return found


def models() -> Items:
    """Every configuration with its size."""
    return [
        {
            "id": run.name,
            "about": run.about or f"{run.task.name}: width {run.model.width}, context {run.model.context}",
            "parameters": sum(parameter.size for parameter in parameters(run.architecture).values()),
            "trained": (RUNS / run.name / "result.json").exists(),
            "verdict": None,
        }
        for run in CONFIGURATIONS.values()
    ]


def figures() -> Items:
    """None yet."""
    return []


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
    width = max((len(item["id"]) for item in items), default=0)
    if not items:
        return ["  none"]
    sizes = [f"{item['parameters']:>6} parameters  " if "parameters" in item else "" for item in items]
    return [
        f"  {item['id']:<{width}}  {size}{item['about']}" for item, size in zip(items, sizes, strict=True)
    ]
