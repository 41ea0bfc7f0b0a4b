"""A model of an automaton's strings judged on every context that it can read: proved, or how many are broken.

What a context demands is defined in `contexts.py`. A context *breaks the rule* if it demands something and no
allowed token has the largest logit alone. All vocab^n contexts of full length count, rare or not, and shorter
ones by length. The weighted share counts windows as often as the task's own sequences have them, and `lawful`
is the verdict on contexts that they have at all: `0 1 2` when counting, not `7 3 2`.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from glassformer.core.errors import UserError, require_value
from glassformer.core.waiting import TellShare
from glassformer.models.model import Model
from glassformer.proofs.contexts import tabulate_demands
from glassformer.proofs.lawful import LawfulContexts
from glassformer.proofs.mixing import tabulate_best_mix
from glassformer.proofs.rule_lawful import FEW, MANY, WeighedContexts, weigh_contexts
from glassformer.proofs.rule_margins import ContextMargins
from glassformer.proofs.rule_nodes import Splitter
from glassformer.proofs.rule_search import SAME, ContextSearch, SearchCounts, SearchParts
from glassformer.proofs.rule_weights import make_beginning_chances, make_window_chances
from glassformer.proofs.rule_worst import WorstContexts, search_worst_contexts
from glassformer.proofs.tables import ModelTables, NotProvableError, list_attention_layers
from glassformer.proofs.verdict import Verdict, choose_counterexample, decide_outcome, keep_finite
from glassformer.tasks import Sequences, Strings, tabulate_automaton

_COUNTING, _WEIGHING = 0.2, 0.7  # shares of the time after which all contexts, then the lawful ones, are left
_NARROWING = 0.1  # share of the time that the smallest margin gets
_DESCENDING = 0.1  # share of the time that the search for wrong contexts gets at first, at most
_RUNNING = 0.6  # share of the time after which running all contexts, where that is the way, is left


def prove_rule(
    model: Model,
    rule: Strings,
    data: Sequences,
    time: float = 60.0,
    real: bool = False,
    tell: TellShare | None = None,
) -> Verdict:
    """Search all contexts for `time` seconds at most; `real`: as if numbers were real, without rounding."""
    begin, data = perf_counter(), rule.own_lengths(data)
    parts = make_search_parts(model, rule, real)
    n, vocab = parts.splitter.context, len(rule.tokens())
    search_worst_contexts(parts.worst, n, vocab, begin + _DESCENDING * time)
    counting = ContextSearch(parts)
    counting.run(begin + _COUNTING * time, tell, begin + _RUNNING * time)
    weighed = _weigh_lengths(parts, rule, data, counting, begin + _WEIGHING * time)
    counting.run(begin + (1 - _NARROWING) * time, tell)
    counting.finish()
    floor = counting.narrow(min(begin + time, perf_counter() + _NARROWING * time))
    return _RuleJudgement(parts, rule, data, counting, weighed, floor).proof(perf_counter() - begin, real)


def _weigh_lengths(
    parts: SearchParts, rule: Strings, data: Sequences, counting: ContextSearch, until: float
) -> dict[int, WeighedContexts]:
    """The lawful contexts of each length; those of a length that is all right are."""
    automaton, n, waiting = tabulate_automaton(rule), parts.splitter.context, counting.open_lengths()
    weighed = {}
    for length in range(n, 0, -1):
        if not counting.found.broken[length] and length not in waiting and not counting.found.left[length]:
            weighed[length] = WeighedContexts()
            continue
        begins = length < n
        chances = (
            make_beginning_chances(automaton, length) if begins else make_window_chances(automaton, data, n)
        )
        weighed[length] = weigh_contexts(parts, chances, until, MANY if length in waiting else FEW)
    return weighed


def make_search_parts(model: Model, rule: Strings, real: bool) -> SearchParts:
    """Tables of the model and of the rule."""
    n, vocab = model.architecture.context, model.architecture.vocab
    require_value(
        vocab == len(rule.tokens()),
        "the model's vocabulary",
        f"the rule's {len(rule.tokens())} tokens",
        vocab,
    )
    automaton = tabulate_automaton(rule)
    demands = tabulate_demands(automaton)
    rounded = _tabulate_contexts(model, real=False)
    tables = _tabulate_contexts(model, real=True) if real and rounded else rounded
    is_whole = sum(layer.attention is not None for layer in model.architecture.layers) == 1
    worst = WorstContexts(ContextMargins(model, demands, tables if is_whole else None, real))
    return SearchParts(model, tables, rounded, Splitter(demands, n), worst, LawfulContexts(automaton, n))


def _tabulate_contexts(model: Model, real: bool) -> ModelTables | None:
    """Over all contexts; none where no tables can be made, or bounds of several layers overflow."""
    n, vocab = model.architecture.context, model.architecture.vocab
    try:
        return tabulate_best_mix(model, np.ones((n, vocab), bool), n, real)
    except NotProvableError:
        return None
    except UserError:
        if len(list_attention_layers(model.architecture)) == 1 or not _is_run_finite(model):
            raise
        return None


def _is_run_finite(model: Model) -> bool:
    """Whether the model itself does not overflow, at the positions of one context."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        logits = model.logits(np.zeros((model.architecture.context, 1), np.int32), last=None)
    return bool(np.isfinite(logits).all())


@dataclass(frozen=True, eq=False)
class _RuleJudgement:
    """All that was found, to be put into words."""

    parts: SearchParts
    rule: Strings
    data: Sequences
    counting: ContextSearch
    weighed: dict[int, WeighedContexts]  # by length
    floor: float

    def proof(self, seconds: float, real: bool) -> Verdict:
        found, worst, n = self.counting.found, self.parts.worst, self.parts.splitter.context
        hardest = next(iter(worst.found), None)
        broken = [self.example(context) for context in worst.list_broken()]
        left = sum(found.left.values())
        weighted = self.weighted()
        return Verdict(
            verdict=decide_outcome(sum(found.broken.values()) + len(broken), left),
            inputs=str(self.rule.count_inputs(n)),
            arithmetic="real" if real else self.parts.model.architecture.precision,
            smallest_margin=None if hardest is None else keep_finite(worst.smallest),
            margin_bound=None if left or hardest is None else keep_finite(self.floor),
            rounding_bound=None if hardest is None else keep_finite(self.counting.rounding(hardest)),
            hardest=" ".join(self.labels(hardest or ())) or None,
            counterexample=choose_counterexample(broken),
            classes=_count_node_classes(found),
            exact_error=self.exact_error() | {"weighted": weighted},
            seconds=round(seconds, 3),
            reason=self.left(weighted),
            lawful=(lawful := self.lawful()),
            details={
                "lawful": lawful["verdict"],
                "shorter": {str(length): self.shorter(length) for length in range(1, n)},
                "worst": broken,
            },
        )

    def lawful(self) -> dict[str, Any]:
        """The same, of contexts that the rule can produce, of all lengths."""
        lawful, demands, n = self.parts.lawful, self.parts.splitter.demands, self.parts.splitter.context
        constrained = lawful.count_constrained(demands)
        low, high, examples = 0, 0, list[tuple[int, ...]]()
        for length in range(1, n + 1):
            errors, left, some = self.lawful_errors(length)
            most = constrained[length]
            low, high = low + errors, high + (most if left is None else min(errors + left, most))
            examples += some
        # What the descent found is broken, whatever the searches reached.
        seen = self.parts.worst.list_broken()
        examples += [one for one in seen if lawful.contains(np.array([one]))[0]]
        low = max(low, len(set(examples)))
        broken = [self.example(one) for one in sorted(examples, key=lambda one: (len(one), one))]
        counted = lawful.count(n) if self.rule.length else sum(lawful.count(one) for one in range(1, n + 1))
        hardest = next(iter(self.parts.worst.found), None)
        is_own = hardest is not None and bool(lawful.contains(np.array([hardest]))[0])
        return {
            "verdict": decide_outcome(low or len(broken), high),
            "inputs": str(counted),
            "constrained": str(sum(constrained.values())),
            "errors_low": low,
            "errors_high": high,
            "counterexample": choose_counterexample(broken),
            "smallest_margin": keep_finite(self.parts.worst.smallest) if is_own else None,
            "hardest": " ".join(self.labels(hardest)) if is_own and hardest else None,
        }

    def lawful_errors(self, length: int) -> tuple[int, int | None, tuple[tuple[int, ...], ...]]:
        """Broken, open and examples: from the search of all contexts if it ended, else the lawful one."""
        found, weighed = self.counting.found, self.weighed[length]
        if not found.left[length] and found.lawful_left[length] == 0:
            examples = tuple(one for one in found.lawful_examples if len(one) == length)
            return found.lawful_broken[length], 0, examples + weighed.examples
        return weighed.errors, weighed.open, weighed.examples

    @property
    def windows(self) -> int:
        """All full windows, rare or not; of a question its prompts, because others are never asked."""
        n = self.parts.splitter.context
        return self.rule.count_inputs(n) if self.rule.length else len(self.rule.tokens()) ** n

    def labels(self, tokens: tuple[int, ...]) -> list[str]:
        return [self.rule.tokens()[token] for token in tokens]

    def example(self, context: tuple[int, ...]) -> dict[str, Any]:
        """A context with what it demands and what the model says, by the model itself."""
        tokens, demands = np.array([context]), self.parts.splitter.demands
        demand = demands.of(tokens, whole=len(context) == self.parts.splitter.context)[0]
        got = int(self.parts.worst.margins.model_logits(tokens)[:, 0].argmax())
        return {
            "context": " ".join(self.labels(context)),
            "expected": self.labels(tuple(np.flatnonzero(demands.allowed[demand]).tolist())),
            "got": self.rule.tokens()[got],
            "length": len(context),
            "margin": keep_finite(self.margin(context)),
            "tie": bool(demands.allowed[demand, got]),  # another token has the same logit
        }

    def margin(self, context: tuple[int, ...]) -> float:
        """The model's own; in real numbers that of the tables."""
        known = self.parts.worst.found.get(context)
        if known is not None:
            return known
        tokens, length = np.array([context]), np.array([len(context)])
        demand = self.parts.splitter.demands.of(tokens, whole=len(context) == self.parts.splitter.context)
        return float(self.parts.worst.margins.deployed(tokens, length, demand)[0])

    def exact_error(self) -> dict[str, Any]:
        """Of full windows: counts and shares."""
        found, n = self.counting.found, self.parts.splitter.context
        every, constrained = self.windows, self.parts.splitter.demands.constrained(n, whole=True)
        low, high = found.broken[n], min(found.broken[n] + found.left[n], constrained)
        return {
            "low": low / every,
            "high": high / every,
            "contexts": every,
            "count_low": low,
            "count_high": high,
            "constrained": constrained,
            "of_constrained": {"low": low / constrained, "high": high / constrained} if constrained else None,
        }

    def weighted(self) -> dict[str, Any] | None:
        """Of windows of the task's sequences; none where the sequences are too short for a window."""
        n = self.parts.splitter.context
        if self.data.min_length <= n:
            return None
        every = make_window_chances(tabulate_automaton(self.rule), self.data, n).constrained(
            self.parts.splitter.demands
        )
        low, left = self.weighed[n].broken, self.weighed[n].left
        high = max(low, min(low + left, every))
        shares = {"low": min(low / every, 1.0), "high": min(high / every, 1.0)} if every else None
        return {"low": low, "high": high, "constrained": every, "of_constrained": shares}

    def shorter(self, length: int) -> dict[str, int]:
        found, demands = self.counting.found, self.parts.splitter.demands
        constrained = demands.constrained(length, whole=False)
        return {
            "contexts": len(self.rule.tokens()) ** length,
            "constrained": constrained,
            "errors_low": found.broken[length],
            "errors_high": min(found.broken[length] + found.left[length], constrained),
        }

    def left(self, weighted: dict[str, Any] | None) -> str:
        """What is undecided, in words; empty if nothing is."""
        found, n, said = self.counting.found, self.parts.splitter.context, []
        if found.left[n]:
            noun = self.rule.words.counted
            said.append(f"{found.left[n]:.3g} of {self.windows:.3g} {noun} are undecided")
        lengths = [str(length) for length in range(1, n) if found.left[length]]
        if lengths:
            said.append(f"some contexts of length {', '.join(lengths)} are undecided")
        if weighted is None:
            said.append(
                f"no weighted share: sequences of {self.data.min_length} tokens hold no window of {n + 1}"
            )
        smallest = self.parts.worst.smallest
        if not sum(found.left.values()) and self.floor < smallest - 2 * SAME * (1 + abs(smallest)):
            said.append(f"there may be smaller margins, but none below {self.floor:.4g}")
        return "; ".join(said)


def _count_node_classes(found: SearchCounts) -> dict[str, int]:
    total = found.proved + found.refuted + found.undecided
    return {"total": total, "proved": found.proved, "refuted": found.refuted, "undecided": found.undecided}
