"""What differs between the pages of rules, questions and addition.

A page calls `find_family(task)`, and never asks for a task's class:

    family = find_family(loaded.task)
    tests = family.draw_tests(loaded.task, loaded.architecture)
    family.pack_tests(tests)["about"]                       # "256 prompts, drawn once"
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

from glassformer.models.architecture import Architecture
from glassformer.models.model import Model
from glassformer.pages.story import Chapter, StorySubject
from glassformer.tasks import Task

Content = dict[str, Any]


class Family(Protocol):
    """Pages of the tasks of one family."""

    tried: int  # inputs over which a parameter must change a logit, or be called dead

    def describe_task(self, task: Task) -> Content:
        """The task as types.js has it."""

    def name_tokens(self, task: Task, vocab: int) -> list[str]:
        """A label for every token of the model, also for those that the task does not have."""

    def first_start(self, task: Task) -> dict[str, str]:
        """An input, and why it is shown, where no hard input is known."""

    def draw_tests(self, task: Task, architecture: Architecture) -> Any:
        """The inputs of the live error, the same at every call."""

    def pack_tests(self, tests: Any) -> Content:
        """Those inputs as types.js has them."""

    def judged_logits(
        self, model: Model, task: Task, tests: Any, inputs: Sequence[str]
    ) -> Float[np.ndarray, "tok step batch"]:
        """The logits that decide the answers to the tests and to some inputs."""

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        """The measures of a finished run; None for what was not measured."""

    def tell_story(self, tale: StorySubject) -> list[Chapter | None]:
        """The chapters of the guided reading."""
