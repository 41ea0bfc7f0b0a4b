"""The certificate of a rule's or a question's model: rows that divide its contexts, and what they decide.

The rows of `rule_rows.py` are made for a checker; so the certificate may claim less than the proof found, and
says so in its own counts and verdict. docs/certificate.md describes the format.
"""

from time import perf_counter
from typing import Any

import numpy as np

from glassformer.models.model import Model
from glassformer.proofs.certificate import digest_certificate, make_heading
from glassformer.proofs.lawful_words import count_all_errors
from glassformer.proofs.rule import make_search_parts
from glassformer.proofs.rule_lawful import MANY
from glassformer.proofs.rule_rows import BOX, Example, LengthRows, RowBudget, RowSearch, has_boxes
from glassformer.proofs.rule_search import SearchParts
from glassformer.proofs.rule_weights import ContextChances, make_beginning_chances, make_window_chances
from glassformer.proofs.verdict import Verdict, decide_outcome, keep_finite
from glassformer.tasks import Prompts, Sequences, Strings, tabulate_automaton

_MOST_PROMPTS = 1 << 24  # that a checker is asked to run
_SECONDS = 30.0  # for the search of rows, at most
_FIRST = 0.6  # share of time and budget for rows of all contexts; the rest is for lawful ones that they leave
_LISTED = "listed"  # in place of rows: the checker lists the lawful contexts of the length and runs them


def make_rule_certificate(
    proof: Verdict, model: Model, rule: Strings, data: Sequences, origin: str
) -> dict[str, Any] | None:
    """Rows for all contexts; apart from them rows for lawful ones where the others leave some of those.

    None where a checker has nothing to follow: in real numbers contexts are not run.
    """
    parts = make_search_parts(model, rule, proof.arithmetic == "real")
    if parts.worst.real and not has_boxes(parts):
        return None
    lengths = _LengthSearch(parts, rule, data).run()
    tables = parts.tables if _has_box_row(lengths) else None
    margin = _measure_hardest(proof, model, parts, rule)
    content = make_heading(model, rule, origin) | {
        "arithmetic": proof.arithmetic,
        "inputs": proof.inputs,
        "lawful": _make_lawful_part(proof, parts, rule, lengths),
        **_make_verdict(proof.counterexample, "errors", "example", lengths, parts, rule),
        "smallest_margin": margin,
        "hardest": None if margin is None else proof.hardest,
        "mixing": tables.mixing if tables else None,
        "axes": [
            {"centre": head.centre.tolist(), "axes": head.axes.tolist()}
            for head in (tables.heads if tables else ())
        ],
        "lengths": [{key: one[key] for key in _KEPT} for one in lengths],
    }
    return content | {"digest": digest_certificate(content)}


def _has_box_row(lengths: list[dict[str, Any]]) -> bool:
    """Whether anything rests on bounds of the mix."""
    given = [one[name] for one in lengths for name in ("rows", "lawful_rows")]
    return any(row[0] == BOX for rows in given if isinstance(rows, list) for row in rows)


def describe_certified(proof: Verdict, content: dict[str, Any] | None) -> str:
    """What a certificate leaves open that the proof does not, in words; empty where it holds all."""
    if content is None:
        return "it is not written, because in real numbers a checker follows one layer of attention alone"
    own, low, high = content["lawful"], *count_all_errors(proof)
    said = []
    if own["verdict"] != proof.main_verdict:
        open_ = own["errors"][1] - own["errors"][0]
        said.append(f"{own['verdict']} on lawful contexts, {open_:,} of which it leaves open")
    if content["errors"][1] - content["errors"][0] > high - low:
        least, most = content["errors"]
        said.append(f"of all contexts at least {least:,} break the rule, {most - least:,} are left open")
    return "; ".join(said)


_KEPT = ("length", "errors", "lawful_errors", "rows", "lawful_rows")


def _share_budget(share: float) -> RowBudget:
    whole = RowBudget()
    return RowBudget(whole.products * share, int(whole.contexts * share))


class _LengthSearch:
    """Rows of every length, within a checker's budget: lawful contexts first, where not all can be had."""

    def __init__(self, parts: SearchParts, rule: Strings, data: Sequences) -> None:
        self.parts, self.rule, self.data = parts, rule, data
        n, demands = parts.splitter.context, parts.splitter.demands
        self.lengths = list(range(1, n + 1))
        self.constrained = {one: demands.constrained(one, whole=one == n) for one in self.lengths}
        self.lawful = parts.lawful.count_constrained(demands)

    def run(self) -> list[dict[str, Any]]:
        """An entry per length."""
        search, begin = RowSearch(self.parts, _share_budget(_FIRST)), perf_counter()
        search.begin(self.lengths)
        every = search.run(begin + _FIRST * _SECONDS)
        lawful, rest = dict[int, LengthRows](), _share_budget(1 - _FIRST)
        for length in self.list_open(every)[::-1]:
            lawful[length] = self.find_lawful(length, rest, begin + (1 + _FIRST) / 2 * _SECONDS)
        search.budget.products = max(search.budget.products, 0.0) + max(rest.products, 0.0)
        search.budget.contexts += rest.contexts
        every = search.run(begin + _SECONDS)
        left = self.list_open(every)
        return [self.entry(one, every[one], lawful[one] if one in left else None) for one in self.lengths]

    def list_open(self, every: dict[int, LengthRows]) -> list[int]:
        """Lengths of which some contexts are in no row."""
        return [one for one in self.lengths if every[one].covered < self.constrained[one]]

    def find_lawful(self, length: int, budget: RowBudget, until: float) -> LengthRows:
        """Lawful contexts alone: all listed where they are few, else rows of them."""
        chances = self.make_chances(length)
        counted = self.parts.lawful.count(length)
        if not self.parts.worst.real and counted <= min(MANY, budget.contexts):
            budget.contexts -= counted
            return self.list_all(length, chances)
        search = RowSearch(self.parts, budget, chances)
        search.begin([length])
        return search.run(until)[length]

    def make_chances(self, length: int) -> ContextChances:
        automaton = tabulate_automaton(self.rule)
        if length < self.parts.splitter.context:
            return make_beginning_chances(automaton, length)
        return make_window_chances(automaton, self.data, length)

    def list_all(self, length: int, chances: ContextChances) -> LengthRows:
        """Run the lawful contexts."""
        listed = chances.windows(MANY)
        assert listed is not None
        contexts, demands = listed[0], self.parts.splitter.demands
        demand = demands.of(contexts, whole=length == self.parts.splitter.context)
        asked = np.flatnonzero(demand)
        sizes = np.full(len(asked), length)
        broken = ~(self.parts.worst.margins.deployed(contexts[asked], sizes, demand[asked]) > 0)
        wrong = contexts[asked[broken]]
        example = tuple(wrong[0].tolist()) if len(wrong) else None
        return LengthRows(_LISTED, lawful=len(asked), lawful_broken=len(wrong), lawful_example=example)

    def entry(self, length: int, every: LengthRows, lawful: LengthRows | None) -> dict[str, Any]:
        """What the certificate says of a length, and examples of broken contexts for its head."""
        low, own = every.broken, lawful or every
        left = 0 if lawful is None else self.lawful[length] - lawful.lawful
        return {
            "length": length,
            "errors": [low, low + self.constrained[length] - every.covered],
            "lawful_errors": [own.lawful_broken, own.lawful_broken + left],
            "rows": every.rows,
            "lawful_rows": None if lawful is None else lawful.rows,
            "example": every.example or own.lawful_example,
            "lawful_example": own.lawful_example,
        }


def _make_lawful_part(
    proof: Verdict, parts: SearchParts, rule: Strings, lengths: list[dict[str, Any]]
) -> dict[str, Any]:
    own = proof.lawful or {}
    counts = {"inputs": own["inputs"], "constrained": own["constrained"]}
    return counts | _make_verdict(
        own["counterexample"], "lawful_errors", "lawful_example", lengths, parts, rule
    )


def _make_verdict(
    counterexample: dict[str, Any] | None,
    errors: str,
    example: str,
    lengths: list[dict[str, Any]],
    parts: SearchParts,
    rule: Strings,
) -> dict[str, Any]:
    """By what the rows decide, and a counterexample from elsewhere or from a row."""
    low, high = (sum(one[errors][end] for one in lengths) for end in (0, 1))
    seen = next((one[example] for one in lengths if one[example]), None)
    wrong = counterexample or (seen and _describe_example(seen, parts, rule))
    outcome = decide_outcome(1 if wrong else 0, high)
    return {"verdict": outcome, "errors": [low, high], "counterexample": wrong}


def _describe_example(context: Example, parts: SearchParts, rule: Strings) -> dict[str, Any]:
    tokens, demands, labels = np.array([context]), parts.splitter.demands, rule.tokens()
    demand = demands.of(tokens, whole=len(context) == parts.splitter.context)[0]
    got = int(parts.worst.margins.model_logits(tokens)[:, 0].argmax())
    return {
        "context": " ".join(labels[token] for token in context),
        "expected": [labels[token] for token in np.flatnonzero(demands.allowed[demand])],
        "got": labels[got],
        "length": len(context),
        "tie": bool(demands.allowed[demand, got]),
    }


def _measure_hardest(proof: Verdict, model: Model, parts: SearchParts, rule: Strings) -> float | None:
    """The margin of the hardest known context, as the model has it when run alone."""
    if not proof.hardest or proof.arithmetic == "real":
        return None
    tokens = tabulate_automaton(rule).ids(proof.hardest)[None]
    demand = parts.splitter.demands.of(tokens, whole=tokens.shape[1] == parts.splitter.context)
    return keep_finite(float(parts.worst.margins.deployed(tokens, np.array([tokens.shape[1]]), demand)[0]))


def make_question_certificate(
    proof: Verdict, model: Model, question: Strings, origin: str
) -> dict[str, Any] | None:
    """How many prompts fail, and the smallest margin; a checker runs all. None where they are too many."""
    count, error = Prompts(tabulate_automaton(question)).count, proof.exact_error or {}
    is_counted = count <= _MOST_PROMPTS and error["count_low"] == error["count_high"]
    if not is_counted and proof.counterexample is None:
        return None
    has_margin = is_counted and proof.margin_bound == proof.smallest_margin is not None
    content = make_heading(model, question, origin) | {
        "arithmetic": proof.arithmetic,
        "verdict": proof.verdict,
        "inputs": proof.inputs,
        "errors": error["count_low"] if is_counted else None,
        "smallest_margin": proof.smallest_margin if has_margin else None,
        "hardest": proof.hardest if has_margin else None,
        "counterexample": proof.counterexample,
    }
    return content | {"digest": digest_certificate(content)}
