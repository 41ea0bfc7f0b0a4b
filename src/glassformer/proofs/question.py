"""A question decided on every prompt: whole classes by a bound, the others by running the model on each.

A class has one last token and one answer. First a descent finds a prompt with a small margin. Then every
class is bounded (`question_bound.py`): are all its prompts right, and none with a smaller margin than that?
What a bound leaves open is run through the model itself, as it is deployed, and bounded in whatever order its
sums are added (`question_rounding.py`). So all is decided wherever time sufficed and no margin is too small
for that; the number of wrong prompts is that of this run, and the smallest margin is known to _SAME.
"""

from time import perf_counter
from typing import Any

import numpy as np
from jaxtyping import Int

from glassformer.core.errors import UserError
from glassformer.core.waiting import TellShare
from glassformer.models.model import Model
from glassformer.proofs.enumeration import PromptClasses, PromptTally, measure_answer_margins, run_prompts
from glassformer.proofs.question_bound import (
    make_query_gaps,
    prove_classes,
    prove_classes_alike,
    tabulate_prompts,
)
from glassformer.proofs.question_rounding import bound_class_rounding, tells_rounding
from glassformer.proofs.tables import ModelTables, NotProvableError, list_attention_layers
from glassformer.proofs.verdict import Verdict, choose_counterexample, decide_outcome, keep_finite
from glassformer.tasks import Prompts, Strings, tabulate_automaton

_STARTS, _SAMPLES, _TURNS = 24, 4096, 40  # of the descent: prompts changed, drawn at first, tokens changed
_SAME = 1e-4  # share of a margin and 1 by which float32 may move the margin of the hardest prompt
FEW = 1 << 16  # prompts that are sooner run than bounded


def prove_question(
    model: Model,
    question: Strings,
    seconds: float = 60.0,
    tell: TellShare | None = None,
    any_order: bool = False,
) -> Verdict:
    """Decide every prompt within the time, in the arithmetic that the model runs in.

    The model's own pass adds in a fixed order, so what a prompt gives when it is run is what it always gives;
    `any_order`: prompts that are run count as right only where no other order of adding can undo it.
    """
    begin, prompts = perf_counter(), Prompts(tabulate_automaton(question))
    tally = _find_hard_prompts(model, prompts)
    tables = _find_prompt_tables(model, prompts)
    margin = min(tally.hardest.values()) - _SAME * (1 + abs(min(tally.hardest.values())))
    bounded = _prove_all_classes(model, tables, prompts, max(margin, 0.0))
    asked = ~bounded & _find_prompt_classes(prompts)
    # Of a model that is refuted already nothing is claimed that rounding could undo.
    is_bounded = any_order and not tally.broken
    guards = bound_class_rounding(tables, len(asked), asked) if is_bounded else None
    run = run_prompts(model, prompts, asked, guards, max(margin, 0.0), begin + seconds, tell)
    run.broken |= tally.broken
    run.hardest = dict(sorted((tally.hardest | run.hardest).items(), key=lambda item: item[1]))
    judged = _PromptJudgement(prompts, question, model, tables, bounded, run)
    return judged.proof(max(margin, 0.0), perf_counter() - begin)


def _find_prompt_tables(model: Model, prompts: Prompts) -> ModelTables | None:
    """What bounds work with; none for models that they do not fit, and where prompts are few."""
    if prompts.count <= FEW:
        return None
    try:
        return tabulate_prompts(model, prompts)
    except NotProvableError:
        return None
    except UserError:  # it overflows: of several layers the bounds alone may
        if len(list_attention_layers(model.architecture)) == 1:
            raise
        return None


def _prove_all_classes(
    model: Model, tables: ModelTables | None, prompts: Prompts, margin: float
) -> PromptClasses:
    """By bounds; where no layer attends by one prompt per last token, because all others get the same."""
    if not any(layer.attention for layer in model.architecture.layers):
        found: PromptClasses = prove_classes_alike(model, prompts, margin) & _find_prompt_classes(prompts)
        return found
    return prove_classes(tables, prompts, margin) if tables else _make_empty_classes(prompts)


def _find_prompt_classes(prompts: Prompts) -> PromptClasses:
    """Those that have prompts."""
    found = _make_empty_classes(prompts)
    states = np.array([prompts.automaton.start])
    for slot in prompts.slots[:-1]:
        states = np.unique(prompts.automaton.next[states][:, slot])
    answer = prompts.automaton.allowed.argmax(1)
    for token in prompts.slots[-1]:
        found[token, answer[prompts.automaton.next[states, token]]] = True
    return found


def _make_empty_classes(prompts: Prompts) -> PromptClasses:
    vocab = len(prompts.automaton.tokens)
    return np.zeros((vocab, vocab), bool)


def _find_hard_prompts(model: Model, prompts: Prompts) -> PromptTally:
    """From random prompts to neighbours with smaller margins, until none is better."""
    tally, tokens = PromptTally(), prompts.drawn(np.random.default_rng(0), _SAMPLES)
    margin = measure_answer_margins(model, tokens, prompts.answers(tokens))
    best = np.argsort(margin, kind="stable")[:_STARTS]
    tokens, margin = tokens[:, best], margin[best]
    for _ in range(_TURNS):
        around = _list_prompt_neighbours(tokens, prompts)  # pos change prompt
        flat = around.reshape(len(tokens), -1)
        found = measure_answer_margins(model, flat, prompts.answers(flat)).reshape(around.shape[1:])
        choice = found.argmin(0)
        if not (found.min(0) < margin).any():
            break
        tokens = np.take_along_axis(around, choice[None, None], 1)[:, 0]
        margin = found.min(0)
    tally.see(tokens, prompts.answers(tokens), margin)
    return tally


def _list_prompt_neighbours(
    tokens: Int[np.ndarray, "pos prompt"], prompts: Prompts
) -> Int[np.ndarray, "pos change prompt"]:
    """Every prompt with every other token at every position, its own among them."""
    found = []
    for position, slot in enumerate(prompts.slots):
        changed = np.repeat(tokens[:, None], len(slot), 1)
        changed[position] = slot[:, None]
        found.append(changed)
    return np.concatenate(found, 1)


class _PromptJudgement:
    """All that was found, to be put into one form."""

    def __init__(
        self,
        prompts: Prompts,
        question: Strings,
        model: Model,
        tables: ModelTables | None,
        bounded: PromptClasses,
        run: PromptTally,
    ) -> None:
        self.prompts, self.question, self.model = prompts, question, model
        self.tables, self.bounded, self.run = tables, bounded, run

    def proof(self, margin: float, seconds: float) -> Verdict:
        hardest, smallest = next(iter(self.run.hardest.items()))
        seen = [self.example(prompt) for prompt, gap in self.run.hardest.items() if gap <= 0]
        wrong = [one for one in seen if one["margin"] is None or one["margin"] <= 0]
        outcome = decide_outcome(len(wrong), self.left + len(self.run.broken))
        floor = min(smallest, self.run.floor, *([margin] if self.bounded.any() else []))
        return Verdict(
            verdict=outcome,
            inputs=str(self.prompts.count),
            arithmetic=self.model.architecture.precision,
            smallest_margin=keep_finite(smallest),
            margin_bound=None if self.run.left else keep_finite(floor),
            rounding_bound=self.rounding(hardest),
            hardest=" ".join(self.labels(hardest)),
            counterexample=choose_counterexample(wrong),
            classes=self.classes(),
            exact_error=self.exact_error(),
            seconds=round(seconds, 3),
            reason=self.reason() if outcome == "undecided" or self.run.left else "",
            details={"lawful": outcome, "shorter": {}, "worst": wrong[:10]},
        )

    @property
    def left(self) -> int:
        """Prompts that may be wrong: not reached, or right by too little."""
        return self.run.left + (0 if self.run.broken else self.run.close)

    def reason(self) -> str:
        """What is undecided."""
        late, close = self.run.left, self.left - self.run.left
        parts = [f"{late:,} prompts were not reached in time"] if late else []
        if close or not late:
            parts.append(f"rounding may undo the margins of {close or self.run.wrong:,} prompts")
        return " and ".join(parts)

    def labels(self, prompt: tuple[int, ...]) -> list[str]:
        return [self.question.tokens()[token] for token in prompt]

    def example(self, prompt: tuple[int, ...]) -> dict[str, Any]:
        """A prompt with its answer and what the model says to it alone, not as one of a batch."""
        tokens = np.array(prompt)[:, None]
        answers = self.prompts.answers(tokens)
        answer, got = int(answers[0]), int(self.model.logits(tokens, 1)[:, 0, 0].argmax())
        margin = float(measure_answer_margins(self.model, tokens, answers)[0])
        return {
            "context": " ".join(self.labels(prompt)),
            "expected": self.labels((answer,)),
            "got": self.labels((got,))[0],
            "length": len(prompt),
            "margin": keep_finite(margin),
            "tie": got == answer,  # another token has the same logit
        }

    def rounding(self, prompt: tuple[int, ...]) -> float | None:
        """Half of what rounding may move the gap of the hardest prompt by; none where that prompt was run."""
        answer = self.prompts.answers(np.array(prompt)[:, None])
        if self.tables is None or not self.bounded[prompt[-1], answer[0]] or not tells_rounding(self.tables):
            return None
        gaps = make_query_gaps(self.tables, prompt[-1])
        rivals = np.flatnonzero(np.arange(self.model.architecture.vocab) != answer)
        return keep_finite(float(gaps.rounding(np.repeat(answer, len(rivals)), rivals).max()) / 2)

    def classes(self) -> dict[str, int]:
        total, refuted = int(_find_prompt_classes(self.prompts).sum()), len(self.run.broken)
        rest = total - int(self.bounded.sum()) - refuted
        undecided = rest if self.run.left else len(self.run.unsure) if self.left else 0
        return {
            "total": total,
            "proved": total - refuted - undecided,
            "refuted": refuted,
            "undecided": undecided,
        }

    def exact_error(self) -> dict[str, Any]:
        every, seen = self.prompts.count, sum(gap <= 0 for gap in self.run.hardest.values())
        low = max(self.run.wrong, seen)
        high = min(low + self.left, every)
        shares = {"low": low / every, "high": high / every}
        counts = {"contexts": every, "count_low": low, "count_high": high, "constrained": every}
        return shares | counts | {"of_constrained": shares, "weighted": None}
