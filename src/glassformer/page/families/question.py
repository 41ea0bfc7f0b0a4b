"""Pages of questions: a whole prompt is read, and one token answers it."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from glassformer.page.families.family import Content
from glassformer.page.families.strings import StringsFamily, automaton_of
from glassformer.page.measure_words import loss_measure, share_measure
from glassformer.page.story import Chapter, Tale
from glassformer.page.story_question import question_story
from glassformer.page.words import listed
from glassformer.tasks import Automaton, Prompts, Question, Task


class QuestionFamily(StringsFamily):
    """Only the answer is judged, after the last token of the prompt."""

    def describe_task(self, task: Task) -> Content:
        """With the tokens that may stand at each position of the prompt."""
        slots = Prompts(automaton_of(task)).slots
        about = " ".join(filter(None, [task.describe(), _settings_words(task)]))
        return super().describe_task(task) | {"about": about, "slots": [slot.tolist() for slot in slots]}

    def about_tests(self, count: str) -> str:
        return f"{count} prompts, drawn once"

    def first_start(self, task: Task) -> dict[str, str]:
        return {"input": _first_prompt(automaton_of(task)), "why": "the first of all prompts"}

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        return [
            share_measure(
                measures.get("argmax_accuracy"),
                "of {of} prompts right",
                "share of fresh random prompts that are answered right",
            ),
            _probability_measure(measures.get("right_probability")),
            loss_measure(measures, "mean cross-entropy of the answer on fresh prompts, in nats"),
        ]

    def tell_story(self, tale: Tale) -> list[Chapter | None]:
        return question_story(tale, automaton_of(tale.loaded.task))


def _settings_words(task: Any) -> str:
    """`Here numbers is 16 and k is 3.`: its own settings that are single numbers."""
    shared = {one.name for one in fields(Question)}
    values = {one.name: getattr(task, one.name) for one in fields(task) if one.name not in shared}
    words = [f"{name} is {value}" for name, value in values.items() if isinstance(value, int | float)]
    return f"Here {listed(words)}." if words else ""


def _first_prompt(automaton: Automaton) -> str:
    return automaton.text(Prompts(automaton).between(0, 1)[:, 0])


def _probability_measure(value: Any) -> Content | None:
    """How sure the model is of what is right, where that was measured."""
    content = value if isinstance(value, dict) else {"value": value}
    meaning = "mean probability that the model gives to the right answer, over fresh random prompts"
    return share_measure(content, "for the right answer", meaning)
