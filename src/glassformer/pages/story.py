"""A guided reading in chapters; every number in it is computed from the model, as the page computes it.

A chapter names its panel; `state` is what it changes in the page's first state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from glassformer.core.words import join_words
from glassformer.models.model import Model, to_float64
from glassformer.pages.pack import unpack_array
from glassformer.pages.words import format_number
from glassformer.runs.load import LoadedModel

_MOST = 8  # chapters
_LEAST, _EVEN = 0.01, 0.999  # the least weight to name; the share of the largest that counts as equal
Content = Mapping[str, Any]
Chapter = dict[str, Any]


@dataclass(frozen=True, eq=False)
class StorySubject:
    """What a story is about: the page's own data, and its model in the page's arithmetic."""

    loaded: LoadedModel
    page: Content

    @cached_property
    def model(self) -> Model:
        return to_float64(self.loaded)

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
            self.model.architecture, {name: unpack_array(array)[index] for name, array in stored.items()}
        )

    def label(self, token: int) -> str:
        return str(self.page["tokens"][token]["label"])

    def attending(self) -> tuple[int, int]:
        """The last layer that attends, and how many heads it has; -1 where none does."""
        layers = [
            (index, one["heads"]) for index, one in enumerate(self.page["model"]["layers"]) if one["heads"]
        ]
        return layers[-1] if layers else (-1, 0)


def make_story(
    loaded: LoadedModel, page: Content, tell: Callable[[StorySubject], list[Chapter | None]]
) -> list[Chapter]:
    """The chapters that the task's family tells; a model whose logits overflow has no story."""
    with np.errstate(all="ignore"):
        chapters = tell(StorySubject(loaded, page))
    return [one for one in chapters if one is not None and "NaN" not in one["text"]][:_MOST]


def describe_attention_row(row: np.ndarray, named: Callable[[int], str], most: int) -> str:
    """The positions with the largest weights; `row` has the positions up to the query."""
    if len(row) > 1 and row.min() > _EVEN * row.max():
        return f"all {len(row)} positions the same weight, {format_number(row[0])}"
    places = pick_named_positions(row, most)
    words = [f"weight {format_number(row[place])} to {named(place)}" for place in places]
    return join_words(words) if words else f"no position a weight of {_LEAST} or more"


def pick_named_positions(row: np.ndarray, most: int) -> list[int]:
    """The positions to name, the largest weight first."""
    return [int(place) for place in np.argsort(-row, kind="stable")[:most] if row[place] >= _LEAST]


def make_chapter(title: str, text: list[str], panel: str, picture: str = "", **state: object) -> Chapter:
    """Sentences that are empty are left out; a panel of several pictures may show a certain one."""
    words = " ".join(filter(None, text))
    return {"title": title, "text": words, "panel": panel, "picture": picture, "state": state}
