"""What a page asks of a family of tasks: the one place where rules, questions and addition differ for it.

A member takes the task as it is; the page calls it by `family_of(task)`, and asks for no task's class:

    family = family_of(loaded.task)
    tests = family.draw_tests(loaded.task, loaded.architecture)
    family.pack_tests(tests)["about"]                       # "256 prompts, drawn once"
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from glassformer.model.architecture import Architecture
from glassformer.model.model import Model
from glassformer.page.story import Chapter, Tale
from glassformer.tasks import Task

Content = dict[str, Any]


class Family(Protocol):
    """Pages of the tasks of one family."""

    tried: int  # inputs over which a parameter must move a logit, or be called dead

    def describe_task(self, task: Task) -> Content:
        """The task as types.js has it."""

    def name_tokens(self, task: Task, vocab: int) -> list[str]:
        """A label for every token of the model, also for those that only the model knows."""

    def first_start(self, task: Task) -> dict[str, str]:
        """An input, and why it is shown, where nothing is known of any."""

    def draw_tests(self, task: Task, architecture: Architecture) -> Any:
        """The inputs of the live error, the same at every call."""

    def pack_tests(self, tests: Any) -> Content:
        """Those inputs as types.js has them."""

    def judged_logits(
        self, model: Model, task: Task, tests: Any, inputs: Sequence[str]
    ) -> Float[np.ndarray, "tok step batch"]:
        """What the answers to the tests, and to some typed inputs, are read from."""

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        """What was measured of a finished run; none for what was not."""

    def tell_story(self, tale: Tale) -> list[Chapter | None]:
        """The chapters of the guided reading."""
