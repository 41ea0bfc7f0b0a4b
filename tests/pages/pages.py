"""Pages for the tests of what stands above the panels, and of proof and population: each payload is made once."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer.pages.pack import pack_array
from glassformer.pages.payload import make_page_payload
from glassformer.pages.write import make_html
from glassformer.runs.load import load_model, load_run
from tests.selection import chosen

FIRST = ("plus_last_even", "microadder-57", "nanogpt-58")
RUNS = Path(__file__).parent.parent / "pictures" / "runs"
SHOWN = "glassformer.store.get()"


@cache
def made(target: str) -> dict[str, Any]:
    folder = RUNS / target
    return (
        make_page_payload(load_run(folder), folder)
        if folder.is_dir()
        else make_page_payload(load_model(target))
    )


def payload(target: str, **other: Any) -> dict[str, Any]:
    """The payload of a finished run or a model of the zoo, with some parts replaced."""
    return {**deepcopy(made(target)), **other}


def page_of(target: str, **other: Any) -> str:
    """The page as it is, or with some parts of its data replaced."""
    return make_html(payload(target, **other), target) if other else untouched(target)


@cache
def untouched(target: str) -> str:
    return make_html(made(target), target)


def with_seeds(target: str, shift: float = 0.5) -> dict[str, Any]:
    """A population whose weights are kept: each seed has the model's numbers, moved by its own amount."""
    content = payload(target)
    population, loaded = content["population"], load_run(RUNS / target)
    seeds = np.array([row["seed"] - population["best_seed"] for row in population["rows"]])
    population["params"] = {
        name: pack_array(array[None] + (shift * seeds).reshape(-1, *[1] * array.ndim).astype(array.dtype))
        for name, array in loaded.params.items()
    }
    return population


def wait_drawn(page, panel: str) -> None:
    """Scrolls to a panel, past others that grow as they are drawn, and waits until it shows the state of now."""
    page.wait_for_function(
        """panel => {
          const left = document.querySelector(".panel:not([data-draws])");
          (left ?? document.getElementById(`panel-${panel}`)).scrollIntoView({block: "center"});
          return left === null && !document.querySelector(`#panel-${panel}[data-stale]`);
        }""",
        arg=panel,
    )


def first(targets):
    """What differs little from page to page: here on three of them, on the others in make test-slow."""
    return pytest.mark.parametrize("target", chosen(targets, FIRST))
