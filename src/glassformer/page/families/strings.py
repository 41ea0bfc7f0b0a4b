"""Pages of tasks whose strings an automaton makes and judges: what rules and questions share, and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from jaxtyping import Float

from glassformer.model.architecture import Architecture
from glassformer.model.model import Model
from glassformer.page.families.family import Content
from glassformer.page.measure_words import loss_measure, share_measure
from glassformer.page.pack import packed
from glassformer.page.story import Chapter, Tale
from glassformer.page.story_rule import rule_story
from glassformer.page.trials_part import RuleSet, rule_set
from glassformer.page.words import grouped
from glassformer.page.worst import last_logits
from glassformer.proof.contexts import Demands, tabulate_demands
from glassformer.proof.tables import NotProvableError
from glassformer.tasks import Automaton, Strings, Task, tabulate


class StringsFamily:
    """What must follow a context is read off the task's automaton."""

    tried = 2_048

    def describe_task(self, task: Task) -> Content:
        """What must follow, as a machine that reads backwards: far smaller than the task's own."""
        try:
            demands = tabulate_demands(automaton_of(task))
        except NotProvableError:
            demands = _demand_nothing(len(task.tokens()))
        return {
            "name": task.name,
            "about": task.describe(),
            "next": packed(demands.next),
            "window": packed(demands.window),
            "beginning": packed(demands.beginning),
            "allowed": packed(demands.allowed),
        }

    def name_tokens(self, task: Task, vocab: int) -> list[str]:
        return list(task.tokens())

    def draw_tests(self, task: Task, architecture: Architecture) -> RuleSet:
        return rule_set(_strings_of(task), architecture)

    def pack_tests(self, tests: RuleSet) -> Content:
        return {
            "about": self.about_tests(grouped(tests.tokens.shape[1])),
            "tokens": packed(tests.tokens),
            "lengths": packed(tests.lengths),
            "allowed": packed(tests.allowed),
            "answers": None,
        }

    def about_tests(self, count: str) -> str:
        raise NotImplementedError

    def judged_logits(
        self, model: Model, task: Task, tests: RuleSet, inputs: Sequence[str]
    ) -> Float[np.ndarray, "tok step batch"]:
        """After the last token of every context."""
        ids = [automaton_of(task).ids(text) for text in inputs]
        more = [np.pad(one, (0, len(tests.tokens) - len(one))) for one in ids]
        tokens = np.column_stack([tests.tokens, *more]).astype(np.int64)
        lengths = np.concatenate([tests.lengths, [len(one) for one in ids]]).astype(np.int64)
        return np.asarray(last_logits(model, tokens, lengths)[:, None])


class RuleFamily(StringsFamily):
    """A rule is followed token by token."""

    def about_tests(self, count: str) -> str:
        return f"{count} contexts in which the rule demands something, drawn once"

    def first_start(self, task: Task) -> dict[str, str]:
        why = "the first token: the rule demands nothing that could be tested"
        return {"input": task.tokens()[0], "why": why}

    def list_measures(self, measures: Mapping[str, Any]) -> list[Content | None]:
        return [
            share_measure(
                measures.get("argmax_accuracy"),
                "of {of} places",
                "share of fresh positions, where the rule demands something and the window tells what, at "
                "which the largest logit is of a token that may come",
            ),
            share_measure(
                measures.get("argmax_accuracy_all"),
                "of all {of} places",
                "the same over all positions where the rule demands something, also where the window does "
                "not tell what",
            ),
            share_measure(
                measures.get("sampled_error"),
                "wrong of {of} sampled",
                "share of such positions that break the rule in sequences that the model writes itself, "
                "drawn at temperature 1",
            ),
            loss_measure(measures),
        ]

    def tell_story(self, tale: Tale) -> list[Chapter | None]:
        return rule_story(tale, automaton_of(tale.loaded.task))


def _strings_of(task: Task) -> Strings:
    """The task as what its family says that it is."""
    return cast(Strings, task)


def automaton_of(task: Task) -> Automaton:
    return tabulate(_strings_of(task))


def _demand_nothing(vocab: int) -> Demands:
    """Of a rule that depends on too much for a table: the page then judges nothing."""
    none = np.zeros(1, np.int32)
    return Demands(np.ones((1, vocab), bool), np.zeros((1, vocab), np.int32), none, none)
