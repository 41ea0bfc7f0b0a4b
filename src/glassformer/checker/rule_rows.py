"""The rows of a rule's certificate: sets of contexts that hold any of some tokens at each position.

`["box", ["3ff", "80"], 4]` is all contexts of two tokens whose first is one of the tokens 0 to 9 (the bits of
3ff) and whose second is token 7. All contexts of a row demand the same. A box is decided as a whole: its
token, here 4, leads after all of its contexts, which is right or wrong as the demand has it. The contexts of
a `run` row are run one by one. Rows of one length are disjoint; what no row holds stays open.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.checker.fields import read_field, read_items, require_integer, require_list
from glassformer.checker.rule_boxes import LedSets
from glassformer.checker.rule_contexts import RuleContexts
from glassformer.core.errors import UserError
from glassformer.models.model import Model

BOX, RUN = "box", "run"
_BLOCK = 1 << 13  # contexts run at a time
_PAIRS = 1 << 22  # of sets compared at a time
_MOST_ROWS = 200_000  # of one length


@dataclass(frozen=True, eq=False)
class Row:
    """A set of contexts of one length."""

    name: str
    kind: str
    tokens: np.ndarray  # pos tok
    leader: int = -1  # of a box

    @property
    def size(self) -> int:
        """How many contexts it has."""
        return prod(self.tokens.sum(1).tolist())


@dataclass(frozen=True)
class RowCounts:
    """What some rows decide."""

    covered: int = 0  # contexts
    broken: int = 0  # that break the rule
    lawful: int = 0
    lawful_broken: int = 0

    def __add__(self, other: "RowCounts") -> "RowCounts":
        return RowCounts(
            self.covered + other.covered,
            self.broken + other.broken,
            self.lawful + other.lawful,
            self.lawful_broken + other.lawful_broken,
        )


def read_rows(tree: object, length: int, vocab: int, where: str) -> list[Row]:
    """Rows as they lie in the file, each set with at least one token at every position."""
    rows = read_items(tree, where, lambda item: read_field({where: item}, where, list))
    if len(rows) > _MOST_ROWS:
        raise ClaimError(f"{where} has {len(rows):,} rows, more than the {_MOST_ROWS:,} that can be checked")
    return [_read_row(row, length, vocab, f"row {number} of {where}") for number, row in enumerate(rows)]


def _read_row(tree: list[Any], length: int, vocab: int, name: str) -> Row:
    kind = tree[0] if tree else None
    if kind not in (BOX, RUN):
        raise UserError(f"{name} must be a {BOX} or a {RUN}, but it is {str(kind)[:60]!r}")
    _, masks, *rest = require_list(tree, 3 if kind == BOX else 2, name)
    leader = require_integer(rest[0], name) if rest else -1
    if rest and not 0 <= leader < vocab:
        raise UserError(f"the token of {name} must be one of {vocab}, but it is {leader}")
    sets = [_read_token_set(mask, vocab, name) for mask in require_list(masks, length, name)]
    return Row(name, kind, np.stack(sets), leader)


def _read_token_set(text: object, vocab: int, name: str) -> np.ndarray:
    """Bit t of the hexadecimal number is token t."""
    is_plain = isinstance(text, str) and text.isascii() and text.isalnum() and len(text) <= vocab
    try:
        bits = int(text, 16) if is_plain and isinstance(text, str) else 0
    except ValueError:
        bits = 0
    if not 0 < bits < 2**vocab or format(bits, "x") != text:
        raise UserError(f"a set of {name} must be some of {vocab} tokens, as a hexadecimal number")
    return np.array([bits >> token & 1 for token in range(vocab)], bool)


def require_disjoint(rows: Sequence[Row]) -> None:
    """No context is in two rows."""
    if not rows:
        return
    every = np.stack([row.tokens for row in rows])  # row pos tok
    last = every[:, -1].argmax(1)
    order = np.argsort(last, kind="stable")  # rows that differ in the last token alone are soon apart
    step = max(_PAIRS // len(rows), 1)
    for begin in range(0, len(rows), step):
        some = order[begin : begin + step]
        meets = np.ones((len(some), len(rows)), bool)
        for position in range(every.shape[1]):
            meets &= every[some, position].astype(np.float32) @ every[:, position].T.astype(np.float32) > 0
        meets[np.arange(len(some)), some] = False
        for one, other in np.argwhere(meets)[:1]:
            raise ClaimError(f"{rows[some[one]].name} and row {other} hold the same contexts")


def list_demands(contexts: RuleContexts, rows: Sequence[Row]) -> list[int]:
    """The demand of each row, which all of its contexts have."""
    found = [contexts.demand_of(row.tokens) for row in rows]
    for row, demand in zip(rows, found, strict=True):
        if not demand:
            raise ClaimError(f"the contexts of {row.name} do not all demand the same")
    return found


def list_leaders(
    contexts: RuleContexts, rows: Sequence[Row], demands: Sequence[int]
) -> tuple[LedSets, np.ndarray]:
    """Boxes with the tokens that must lead after them, whom they must lead, and whether they are wrong."""
    tokens = np.stack([row.tokens for row in rows])
    for row in rows:
        if row.tokens[-1].sum() != 1:
            raise ClaimError(f"{row.name} is a box whose contexts do not all end in the same token")
    leader = np.array([row.leader for row in rows])
    allowed = contexts.allowed[np.array(demands)]  # row tok
    is_wrong = ~allowed[np.arange(len(rows)), leader]
    rivals = np.where(is_wrong[:, None], allowed, ~allowed)
    return LedSets(tokens, leader, rivals, tuple(row.name for row in rows)), is_wrong


def require_led_contexts(model: Model, sets: LedSets) -> None:
    """Raises where a leader does not lead after the first or the last context of its box: run, so cheap."""
    vocab = sets.tokens.shape[2]
    for chosen in (sets.tokens.argmax(2), vocab - 1 - sets.tokens[:, :, ::-1].argmax(2)):  # set pos
        for begin in range(0, len(sets), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            leads = np.arange(vocab)[:, None] == sets.leader[some]  # tok set
            with np.errstate(all="ignore"):
                logits = model.logits(chosen[some].T.astype(np.int32), last=1)[:, 0]
            best, other = (
                np.where(side, logits, -np.inf).max(0) for side in (leads, sets.rivals[some].T & ~leads)
            )
            for i in np.flatnonzero(~(best > other))[:1]:
                at, after = begin + i, chosen[begin + i].tolist()
                raise ClaimError(f"{sets.names[at]}: token {sets.leader[at]} does not lead after {after}")


def count_boxes(
    contexts: RuleContexts, rows: Sequence[Row], is_wrong: np.ndarray, needs_lawful: bool
) -> RowCounts:
    """What boxes hold; lawful contexts are counted where they are broken, or where that is asked for."""
    found = RowCounts()
    for row, wrong in zip(rows, is_wrong.tolist(), strict=True):
        lawful = contexts.count_lawful(row.tokens) if wrong or needs_lawful else 0
        found += RowCounts(row.size, row.size * wrong, lawful, lawful * wrong)
    return found


def run_row(model: Model, contexts: RuleContexts, row: Row, demand: int, needs_lawful: bool) -> RowCounts:
    """Every context of a row, run."""
    found, allowed = RowCounts(), contexts.allowed[demand]
    for tokens in _list_contexts(row):
        broken = _find_broken(model, tokens, allowed[:, None])
        some = tokens if needs_lawful else tokens[:, broken]
        is_lawful = contexts.is_lawful(some)
        lawful_broken = is_lawful[broken] if needs_lawful else is_lawful
        counts = (tokens.shape[1], broken.sum(), is_lawful.sum(), lawful_broken.sum())
        found += RowCounts(*map(int, counts))
    return found


def run_lawful(model: Model, contexts: RuleContexts, length: int, most: int) -> RowCounts:
    """Every lawful context of a length that demands something, run."""
    tokens = contexts.list_lawful(length, most)
    demands = contexts.demands(tokens)
    asked = np.flatnonzero(demands)
    broken = 0
    for begin in range(0, len(asked), _BLOCK):
        some = asked[begin : begin + _BLOCK]
        broken += int(_find_broken(model, tokens[:, some], contexts.allowed[demands[some]].T).sum())
    return RowCounts(lawful=len(asked), lawful_broken=broken)


def _find_broken(model: Model, tokens: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Whether no allowed token, `tok context`, has the largest logit alone after contexts `pos context`."""
    return ~(measure_context_margins(model, tokens, allowed) > 0)


def measure_context_margins(model: Model, tokens: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The best allowed logit minus the best other one, of the deployed model."""
    with np.errstate(all="ignore"):
        logits = model.logits(tokens, last=1)[:, 0].astype(np.float64)  # tok context
        best, other = (np.where(side, logits, -np.inf).max(0) for side in (allowed, ~allowed))
        found: np.ndarray = np.where(np.isnan(logits).any(0), np.nan, best - other)
    return found


def _list_contexts(row: Row) -> Iterator[np.ndarray]:
    """The contexts of a row, `pos context`, some at a time."""
    choices = [np.flatnonzero(tokens) for tokens in row.tokens]
    for begin in range(0, row.size, _BLOCK):
        number, found = np.arange(begin, min(begin + _BLOCK, row.size)), []
        for choice in reversed(choices):
            number, digit = np.divmod(number, len(choice))
            found.append(choice[digit])
        yield np.stack(found[::-1]).astype(np.int32)
