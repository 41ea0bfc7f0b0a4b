"""A short guided reading, in chapters whose every number is computed from this model as the page computes it.

A chapter says what its panel then shows: `state` is what the page opens with it, on top of its first state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from glassformer.model.model import Model, in_float64
from glassformer.page.pack import unpacked
from glassformer.page.words import listed, short
from glassformer.runs.load import Loaded

MOST = 8  # chapters
LEAST, EVEN = 0.01, 0.999  # a weight worth a name; a share of the largest that counts as the same
Content = Mapping[str, Any]
Chapter = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Tale:
    """What a story is about: the page's own data, and its model in the page's arithmetic."""

    loaded: Loaded
    page: Content

    @cached_property
    def model(self) -> Model:
        return in_float64(self.loaded)

    @property
    def input(self) -> str:
        return str(self.page["start"]["input"])

    @property
    def proof(self) -> Content:
        found: Content = self.page["proof"]
        return found

    @property
    def is_refuted(self) -> bool:
        return bool(self.proof["verdict"] == "refuted")

    def at_step(self, index: int) -> Model:
        """The model at one of the page's checkpoints."""
        stored = self.page["training"]["params"]
        return Model(
            self.model.architecture, {name: unpacked(array)[index] for name, array in stored.items()}
        )

    def label(self, token: int) -> str:
        return str(self.page["tokens"][token]["label"])

    def attending(self) -> tuple[int, int]:
        """The last layer that attends, and how many heads it has; -1 where none does."""
        layers = [
            (index, one["heads"]) for index, one in enumerate(self.page["model"]["layers"]) if one["heads"]
        ]
        return layers[-1] if layers else (-1, 0)


def story_of(loaded: Loaded, page: Content, tell: Callable[[Tale], list[Chapter | None]]) -> list[Chapter]:
    """The chapters that the task's family tells; a model whose numbers overflow has no story."""
    with np.errstate(all="ignore"):
        chapters = tell(Tale(loaded, page))
    return [one for one in chapters if one is not None and "NaN" not in one["text"]][:MOST]


def looked(row: np.ndarray, named: Callable[[int], str], most: int) -> str:
    """The places with the largest weights, with these; `row` has the places that can be seen."""
    if len(row) > 1 and row.min() > EVEN * row.max():
        return f"all {len(row)} places the same weight, {short(row[0])}"
    places = noticed(row, most)
    words = [f"weight {short(row[place])} to {named(place)}" for place in places]
    return listed(words) if words else f"no place a weight of {LEAST} or more"


def noticed(row: np.ndarray, most: int) -> list[int]:
    """The places worth a name, the largest weight first."""
    return [int(place) for place in np.argsort(-row, kind="stable")[:most] if row[place] >= LEAST]


def chapter(title: str, text: list[str], panel: str, picture: str = "", **state: Any) -> Chapter:
    """Sentences that are empty are left out; a panel of several pictures may show a certain one."""
    words = " ".join(filter(None, text))
    return {"title": title, "text": words, "panel": panel, "picture": picture, "state": state}
