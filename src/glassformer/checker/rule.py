"""The check of a certificate of a rule's or a question's model: every context counted, bounded or run anew.

Of a rule the rows say how its contexts are divided (`rule_rows.py`); what they demand, which of them the rule
can produce, and how many break it, is found here. Of a question all prompts are run (`rule_prompts.py`).
Whatever the certificate counts must be what is found, and no field goes unread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.checker.claims import check_digest
from glassformer.checker.cores import count_cores, map_on_cores
from glassformer.checker.fields import (
    read_choice,
    read_field,
    require_canonical,
    require_integer,
    require_known_fields,
    require_list,
)
from glassformer.checker.reading import HeadAxes, read_axes, read_certificate_model, read_mixing
from glassformer.checker.rule_boxes import LedSets, require_leaders
from glassformer.checker.rule_contexts import ContextCounts, RuleContexts
from glassformer.checker.rule_examples import (
    check_context,
    check_hardest_context,
)
from glassformer.checker.rule_prompts import check_prompts
from glassformer.checker.rule_rows import (
    BOX,
    RUN,
    Row,
    RowCounts,
    count_boxes,
    list_demands,
    list_leaders,
    read_rows,
    require_disjoint,
    require_led_contexts,
    run_lawful,
    run_row,
)
from glassformer.checker.tables import PremixTables, make_token_tables
from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.runs.tree import from_tree, to_tree
from glassformer.tasks import Strings, Task
from glassformer.tasks.automaton import tabulate_automaton
from glassformer.tasks.strings import require_strings

_HEADING = ("format", "made_with", "model", "task", "arithmetic", "verdict", "inputs", "digest")
_RULE = ("lawful", "errors", "smallest_margin", "hardest", "counterexample", "mixing", "axes", "lengths")
_QUESTION = ("errors", "smallest_margin", "hardest", "counterexample")
_LENGTH = ("length", "errors", "lawful_errors", "rows", "lawful_rows")
_LAWFUL = ("verdict", "inputs", "constrained", "errors", "counterexample")
_LISTED = "listed"  # of lawful rows: all lawful contexts of the length are run
_MOST_RUN = 6 << 20  # contexts that a check runs at most; a certificate of ours asks for up to 4 << 20
_MOST_LISTED = 1 << 22  # lawful contexts of one length that are listed
_CHUNK = 64  # boxes of one job
_LengthRows = tuple[list[Row], list[Row] | None]  # of all contexts of a length; of its lawful ones, if any


@dataclass(frozen=True)
class StringsCheck:
    """What a certificate of strings was found to prove."""

    task: str
    verdict: str  # on all inputs
    inputs: str
    errors: tuple[int, int] | None  # inputs that fail, at least and at most; none: not counted
    arithmetic: str
    smallest_margin: float | None  # of the hardest input that is named
    sha256: str
    lawful: dict[str, Any] | None = None  # of rules: the same on contexts that the rule can produce


def check_strings_certificate(tree: Mapping[str, Any]) -> StringsCheck:
    """What the certificate proves, where every claim of it holds."""
    written = read_field(tree, "task", dict)
    rule = require_strings(from_tree(Task, written, "task"), "the certificate")
    require_canonical(written, to_tree(rule), "task")
    require_known_fields(tree, _HEADING + (_QUESTION if rule.length else _RULE), "the certificate")
    *_, architecture, params = read_certificate_model(tree)
    model = Model(architecture, params)
    check_digest(tree, architecture.precision, model.params)
    read_choice(tree, "verdict", ("proved", "refuted", "undecided"))
    vocab = len(rule.tokens())
    if architecture.vocab != vocab:
        raise ClaimError(f"the model has {architecture.vocab} tokens, but the {rule.words.model} has {vocab}")
    if read_field(tree, "arithmetic", str) not in (architecture.precision, "real"):
        raise ClaimError(f"the certificate is about {tree['arithmetic']}, the model {architecture.precision}")
    return _check_question(tree, model, rule) if rule.length else _RuleCheck(tree, model, rule).check()


def _check_question(tree: Mapping[str, Any], model: Model, rule: Strings) -> StringsCheck:
    if tree["arithmetic"] == "real":
        raise ClaimError("all prompts of a question are run, which says nothing of real numbers")
    found = check_prompts(tree, model, tabulate_automaton(rule), rule.words.input)
    about = (tree["verdict"], tree["inputs"], found.errors, tree["arithmetic"], found.smallest_margin)
    return StringsCheck(rule.name, *about, tree["model"]["sha256"])


class _RuleCheck:
    """The claims of a rule's certificate, and what is needed to check them."""

    def __init__(self, tree: Mapping[str, Any], model: Model, rule: Strings) -> None:
        self.tree, self.model, self.rule = tree, model, rule
        self.contexts = RuleContexts(tabulate_automaton(rule), model.architecture.context)
        self.is_real, self.left = tree["arithmetic"] == "real", _MOST_RUN

    def check(self) -> StringsCheck:
        """Sums, verdicts and the contexts that are named; then the rows of every length."""
        counts, claims = self.contexts.counts(), read_field(self.tree, "lawful", dict)
        require_known_fields(claims, _LAWFUL, "lawful")
        self.check_inputs(counts)
        lengths = require_list(self.tree["lengths"], len(counts), "lengths of the certificate")
        for length, said in enumerate(lengths, 1):
            require_known_fields(said, _LENGTH, f"length {length}")
        every = _check_sums(self.tree, lengths, "errors", "verdict")
        lawful = _check_sums(claims, lengths, "lawful_errors", "lawful.verdict")
        for said in (self.tree, claims):
            if said["counterexample"] is not None:
                self.check_counterexample(said, is_lawful=said is claims)
        margin = check_hardest_context(self.tree, self.model, self.contexts)
        rows = [self.read_length(length, said, counts[length]) for length, said in enumerate(lengths, 1)]
        for length, said in enumerate(lengths, 1):
            self.check_length(said, rows[length - 1], counts[length])
        if "axes" not in vars(self) and (self.tree["axes"] != [] or self.tree["mixing"] is not None):
            raise ClaimError("no row is bounded, but a layer or axes of the mix are named")
        about = (self.tree["verdict"], self.tree["inputs"], every, self.tree["arithmetic"], margin)
        named = {name: claims[name] for name in ("verdict", "inputs", "constrained")} | {"errors": lawful}
        return StringsCheck(self.rule.name, *about, self.tree["model"]["sha256"], named)

    def check_inputs(self, counts: Mapping[int, ContextCounts]) -> None:
        """All contexts, the lawful ones, and those of them that demand something."""
        claims = read_field(self.tree, "lawful", dict)
        for said, name, found in (
            (self.tree, "inputs", str(sum(one.contexts for one in counts.values()))),
            (claims, "inputs", str(sum(one.lawful for one in counts.values()))),
            (claims, "constrained", str(sum(one.lawful_constrained for one in counts.values()))),
        ):
            if read_field(said, name, str) != found:
                what = "contexts" if said is self.tree else f"lawful contexts ({name})"
                raise ClaimError(f"there are {found} {what}, not {str(said[name])[:60]}")

    def read_length(self, length: int, said: Mapping[str, Any], counts: ContextCounts) -> _LengthRows:
        """The rows of a length, with all that is known without running any: size and cost."""
        if require_integer(said["length"], "length") != length:
            raise ClaimError(f"the lengths of the certificate are not 1, 2, ..., {self.contexts.context}")
        rows, lawful = read_rows(said["rows"], length, self.contexts.vocab, f"length {length}"), None
        self.spend(sum(row.size for row in rows if row.kind == RUN))
        if said["lawful_rows"] == _LISTED:
            if counts.lawful > _MOST_LISTED:
                raise ClaimError(f"{counts.lawful:,} lawful contexts of length {length} are too many to list")
            self.spend(counts.lawful)
        elif said["lawful_rows"] is not None:
            lawful = read_rows(said["lawful_rows"], length, self.contexts.vocab, f"length {length}, lawful")
            self.spend(sum(row.size for row in lawful if row.kind == RUN))
        (low, high), left = _read_errors(said, "errors"), counts.constrained - sum(row.size for row in rows)
        if high - low != left:
            raise ClaimError(f"errors of length {length} are {[low, high]}, but the rows leave {left:,} open")
        return rows, lawful

    def check_length(self, said: Mapping[str, Any], given: _LengthRows, counts: ContextCounts) -> None:
        """How many contexts of a length break the rule, of all and of the lawful ones, by its rows."""
        rows, length = given[0], said["length"]
        covers = sum(row.size for row in rows) == counts.constrained
        found = self.decide(rows, needs_lawful=said["lawful_rows"] is None and not covers)
        errors = (found.broken, found.broken + counts.constrained - found.covered)
        _compare_errors(said, "errors", errors, length)
        lawful = self.find_lawful(said, given[1], found, counts, covers)
        _compare_errors(said, "lawful_errors", lawful, length)

    def find_lawful(
        self,
        said: Mapping[str, Any],
        rows: list[Row] | None,
        found: RowCounts,
        counts: ContextCounts,
        covers: bool,
    ) -> tuple[int, int]:
        """Lawful contexts that break the rule: by rows of all contexts, by rows of their own, or listed."""
        if said["lawful_rows"] == _LISTED:
            found = run_lawful(self.model, self.contexts, said["length"], counts.lawful)
        elif rows is not None:
            found = self.decide(rows, needs_lawful=True)
        elif covers:
            return found.lawful_broken, found.lawful_broken
        return found.lawful_broken, found.lawful_broken + counts.lawful_constrained - found.lawful

    def decide(self, rows: Sequence[Row], needs_lawful: bool) -> RowCounts:
        """What disjoint rows hold, every one of them confirmed."""
        require_disjoint(rows)
        demands = list_demands(self.contexts, rows)
        boxes, runs = (
            [(row, demand) for row, demand in zip(rows, demands, strict=True) if row.kind == kind]
            for kind in (BOX, RUN)
        )
        found = RowCounts()
        for row, demand in runs:
            found += run_row(self.model, self.contexts, row, demand, needs_lawful)
        if boxes:
            alone = [row for row, _ in boxes]
            sets, is_wrong = list_leaders(self.contexts, alone, [demand for _, demand in boxes])
            self.confirm(sets)
            found += count_boxes(self.contexts, alone, is_wrong, needs_lawful)
        return found

    def spend(self, count: int) -> None:
        """Contexts that are run, of which a check takes so many and no more."""
        if count and self.is_real:
            raise ClaimError("contexts that are run say nothing of real numbers")
        self.left -= count
        if self.left < 0:
            raise ClaimError(f"the certificate asks for more than {_MOST_RUN:,} contexts to be run")

    def confirm(self, sets: LedSets) -> None:
        """Every leader, on all cores; nothing more is looked at once one fails."""
        if not self.is_real:
            require_led_contexts(self.model, sets)
        tables, axes, cores = self.tables, self.axes, count_cores()
        parts = [sets[slice(first, first + _CHUNK)] for first in range(0, len(sets), _CHUNK)]
        for begin in range(0, len(parts), cores):
            some = parts[begin : begin + cores]
            for said in map_on_cores(lambda part: _find_refusal(tables, axes, part), some):
                if said:
                    raise ClaimError(said)

    @cached_property
    def tables(self) -> PremixTables:
        """The model up to its mix."""
        everything = np.ones((self.contexts.context, self.contexts.vocab), bool)
        model, arithmetic = self.model, self.tree["arithmetic"]
        which = read_mixing(self.tree)
        if which is None:
            raise ClaimError("rows are bounded, but the layer of their mix is not named")
        return make_token_tables(model.architecture, model.params, everything, arithmetic, which=which)

    @cached_property
    def axes(self) -> tuple[HeadAxes, ...]:
        """The directions along which mixes are bounded, one set per head."""
        given = tuple(
            read_axes(one) for one in require_list(self.tree["axes"], len(self.tables.heads), "axes")
        )
        for head, along in zip(self.tables.heads, given, strict=True):
            if head.values.shape[0] != len(along.centre) or not len(along.axes):
                raise ClaimError("the axes of the certificate do not have the size of the heads' values")
        return given

    def check_counterexample(self, said: Mapping[str, Any], is_lawful: bool) -> None:
        """It is run; in real numbers a wrong token is shown to lead."""
        tokens = check_context(self.model, self.contexts, read_field(said, "counterexample", dict))
        if is_lawful and not self.contexts.is_lawful(tokens)[0]:
            raise ClaimError("the lawful counterexample is no context that the rule can produce")
        if self.is_real:
            sets = np.arange(self.contexts.vocab) == tokens[:, 0, None]
            leader = int(self.model.logits(tokens, last=1)[:, 0, 0].argmax())
            row = Row("the counterexample", BOX, sets, leader)
            led, is_wrong = list_leaders(self.contexts, [row], [self.contexts.demand_of(row.tokens)])
            if not is_wrong[0]:
                raise ClaimError("the counterexample is a tie, which real numbers may not have")
            self.confirm(led)


def _read_errors(said: Mapping[str, Any], name: str) -> tuple[int, int]:
    """How many contexts break the rule, at least and at most."""
    low, high = (require_integer(count, name) for count in require_list(said[name], 2, name))
    return low, high


def _check_sums(
    said: Mapping[str, Any], lengths: Sequence[Mapping[str, Any]], name: str, verdict: str
) -> tuple[int, int]:
    """What is counted is the sum over the lengths, and the verdict fits it."""
    parts = [_read_errors(one, name) for one in lengths]
    found = sum(low for low, _ in parts), sum(high for _, high in parts)
    if _read_errors(said, "errors") != found:
        raise ClaimError(f"{list(found)} contexts break the rule, not {str(said['errors'])[:60]} ({verdict})")
    _check_verdict(said, found, verdict)
    return found


def _compare_errors(said: Mapping[str, Any], name: str, found: tuple[int, int], length: int) -> None:
    if _read_errors(said, name) != found:
        raise ClaimError(f"{name} of length {length} are {list(found)}, not {str(said[name])[:60]}")


def _check_verdict(said: Mapping[str, Any], errors: tuple[int, int], name: str) -> None:
    """Refuted with a counterexample, proved where nothing breaks the rule, else undecided."""
    is_refuted = said["counterexample"] is not None
    if errors[0] and not is_refuted:
        raise ClaimError(f"{name}: {errors[0]:,} contexts break the rule, but there is no counterexample")
    if is_refuted and not errors[1]:
        raise ClaimError(f"{name}: there is a counterexample, but every context is right")
    expected = "refuted" if is_refuted else "undecided" if errors[1] else "proved"
    if said["verdict"] != expected:
        raise ClaimError(f"{name}: it is {str(said['verdict'])[:60]}, but the rows say {expected}")


def _find_refusal(tables: PremixTables, axes: tuple[HeadAxes, ...], sets: LedSets) -> str:
    """Why the boxes cannot be confirmed; empty where they are."""
    try:
        require_leaders(tables, axes, sets)
    except (ClaimError, UserError) as claim:
        return str(claim)
    return ""
