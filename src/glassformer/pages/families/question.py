"""Pages of questions: a whole prompt is read, and one token answers it."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from glassformer.core.words import join_words
from glassformer.pages.families.family import Content
from glassformer.pages.families.strings import StringsFamily, make_task_automaton
from glassformer.pages.measure_words import make_loss_measure, make_share_measure
from glassformer.pages.story import Chapter, StorySubject
from glassformer.pages.story_question import tell_question_story
from glassformer.tasks import Automaton, Prompts, Question, Task


class QuestionFamily(StringsFamily):
    """Only the answer is judged, after the last token of the prompt."""

    def describe_task(self, task: Task) -> Content:
        """With the tokens that may stand at each position of the prompt."""
        slots = Prompts(make_task_automaton(task)).slots
        about = " ".join(filter(None, [task.describe(), _settings_words(task)]))
        return super().describe_task(task) | {"about": about, "slots": [slot.tolist() for slot in slots]}

    def about_tests(self, count: str) -> str:
        return f"{count} prompts, drawn once"

    def first_start(self, task: Task) -> dict[str, str]:
        return {"input": _first_prompt(make_task_automaton(task)), "why": "the first of all prompts"}

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        return [
            make_share_measure(
                measures.get("argmax_accuracy"),
                "of {of} prompts right",
                "share of fresh random prompts that are answered right",
            ),
            _probability_measure(measures.get("right_probability")),
            make_loss_measure(measures, "mean cross-entropy of the answer on fresh prompts, in nats"),
        ]

    def tell_story(self, tale: StorySubject) -> list[Chapter | None]:
        return tell_question_story(tale, make_task_automaton(tale.loaded.task))


def _settings_words(task: Any) -> str:
    """`Here numbers is 16 and k is 3.`: the task's own numeric settings."""
    shared = {one.name for one in fields(Question)}
    values = {one.name: getattr(task, one.name) for one in fields(task) if one.name not in shared}
    words = [f"{name} is {value}" for name, value in values.items() if isinstance(value, int | float)]
    return f"Here {join_words(words)}." if words else ""


def _first_prompt(automaton: Automaton) -> str:
    return automaton.text(Prompts(automaton).between(0, 1)[:, 0])


def _probability_measure(value: Any) -> Content | None:
    """The mean probability of the right answer, where it was measured."""
    content = value if isinstance(value, dict) else {"value": value}
    meaning = "mean probability that the model gives to the right answer, over fresh random prompts"
    return make_share_measure(content, "probability of the right answer", meaning)
