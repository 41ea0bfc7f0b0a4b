"""Pages of tasks whose strings an automaton makes and judges: what rules and questions share, and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from jaxtyping import Float

from glassformer.models.architecture import Architecture
from glassformer.models.model import Model
from glassformer.pages.families.family import Content
from glassformer.pages.measure_words import make_loss_measure, make_share_measure
from glassformer.pages.pack import pack_array
from glassformer.pages.story import Chapter, StorySubject
from glassformer.pages.story_rule import tell_rule_story
from glassformer.pages.trials_part import ContextSet, make_context_set
from glassformer.pages.words import group_digits
from glassformer.pages.worst import compute_last_logits
from glassformer.proofs.contexts import Demands, tabulate_demands
from glassformer.proofs.tables import NotProvableError
from glassformer.tasks import Automaton, Strings, Task, tabulate_automaton


class StringsFamily:
    """What must follow a context is read off the task's automaton."""

    tried = 2_048

    def describe_task(self, task: Task) -> Content:
        """What must follow, as an automaton that reads backwards: far smaller than the task's own."""
        try:
            demands = tabulate_demands(make_task_automaton(task))
        except NotProvableError:
            demands = _demand_nothing(len(task.tokens()))
        return {
            "name": task.name,
            "about": task.describe(),
            "next": pack_array(demands.next),
            "window": pack_array(demands.window),
            "beginning": pack_array(demands.beginning),
            "allowed": pack_array(demands.allowed),
        }

    def name_tokens(self, task: Task, vocab: int) -> list[str]:
        return list(task.tokens())

    def draw_tests(self, task: Task, architecture: Architecture) -> ContextSet:
        return make_context_set(_strings_of(task), architecture)

    def pack_tests(self, tests: ContextSet) -> Content:
        return {
            "about": self.about_tests(group_digits(tests.tokens.shape[1])),
            "tokens": pack_array(tests.tokens),
            "lengths": pack_array(tests.lengths),
            "allowed": pack_array(tests.allowed),
            "answers": None,
        }

    def about_tests(self, count: str) -> str:
        raise NotImplementedError

    def judged_logits(
        self, model: Model, task: Task, tests: ContextSet, inputs: Sequence[str]
    ) -> Float[np.ndarray, "tok step batch"]:
        """After the last token of every context."""
        ids = [make_task_automaton(task).ids(text) for text in inputs]
        more = [np.pad(one, (0, len(tests.tokens) - len(one))) for one in ids]
        tokens = np.column_stack([tests.tokens, *more]).astype(np.int64)
        lengths = np.concatenate([tests.lengths, [len(one) for one in ids]]).astype(np.int64)
        return np.asarray(compute_last_logits(model, tokens, lengths)[:, None])


class RuleFamily(StringsFamily):
    """A rule is followed token by token."""

    def about_tests(self, count: str) -> str:
        return f"{count} contexts with a constrained next token, drawn once"

    def first_start(self, task: Task) -> dict[str, str]:
        why = "the first token; the rule demands nothing that can be tested"
        return {"input": task.tokens()[0], "why": why}

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        return [
            make_share_measure(
                measures.get("argmax_accuracy"),
                "of {of} positions",
                "share of constrained positions in new sequences whose largest logit is an allowed token; "
                "only positions where the window determines what is allowed",
            ),
            make_share_measure(
                measures.get("argmax_accuracy_all"),
                "of all {of} positions",
                "the same over all constrained positions, also where the window does not determine what is "
                "allowed",
            ),
            make_share_measure(
                measures.get("sampled_error"),
                "wrong of {of} sampled",
                "share of constrained positions that break the rule in sequences that the model writes "
                "itself, sampled at temperature 1",
            ),
            make_loss_measure(measures),
        ]

    def tell_story(self, tale: StorySubject) -> list[Chapter | None]:
        return tell_rule_story(tale, make_task_automaton(tale.loaded.task))


def _strings_of(task: Task) -> Strings:
    """The task, typed as its family says."""
    return cast(Strings, task)


def make_task_automaton(task: Task) -> Automaton:
    return tabulate_automaton(_strings_of(task))


def _demand_nothing(vocab: int) -> Demands:
    """For a rule whose table would be too large: the page then judges nothing."""
    none = np.zeros(1, np.int32)
    return Demands(np.ones((1, vocab), bool), np.zeros((1, vocab), np.int32), none, none)
