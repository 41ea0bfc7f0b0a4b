"""What a poster shows of an adder: a pair to work through, what is proved, and many sums to measure on.

The digit z_k of the answer is written at the position before its own: the query of that position asks for it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from glassformer.core.errors import UserError
from glassformer.models.adding import SumAnswer, write_sum
from glassformer.models.architecture import Architecture
from glassformer.models.attention import Attention, AttentionSite
from glassformer.models.blocks import to_dense
from glassformer.models.forward import format_layer_prefix, ignore_record, untie_parameters
from glassformer.models.lengths import lengthen_adder
from glassformer.models.model import Model
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.poster.sample import SumSample, compute_carries, compute_signed_margins, draw_sample
from glassformer.proofs.response import respond_sum
from glassformer.proofs.stored import find_verdict
from glassformer.proofs.verdict import Verdict
from glassformer.runs.load import LoadedModel
from glassformer.tasks import Addition, Layout, to_digits, to_numbers
from glassformer.tasks.hard import draw_hard_pairs

if TYPE_CHECKING:
    from glassformer.pictures.measure.subject import Subject

_SECONDS = 10.0  # that a proof for a picture may take
TRIED = 5_000  # hard pairs of which the worst is shown where no proof names one
_CHECKED = 200  # of them, with which it is seen whether the numbers stay finite


@dataclass(frozen=True)
class HeadSite:
    """One head of one layer."""

    layer: int
    head: int
    prefix: str  # of the layer's names
    name: str  # in words


@dataclass(frozen=True, eq=False)
class Sums:
    """A model that adds, and the pair of numbers that is followed through it."""

    model: Model
    task: Addition
    name: str
    pair: tuple[int, int]
    findings: Verdict
    tried: tuple[int, int] | None = (
        None  # the worst of the hard pairs that were tried, where no proof names a pair
    )
    about: str = ""  # what is special about it, in a line
    step: int | None = None  # the training step of the weights; none: the last
    trained_digits: int = 0  # of the numbers that it was trained on; these may be longer

    @property
    def architecture(self) -> Architecture:
        return self.model.architecture

    @property
    def layout(self) -> Layout:
        return self.task.written()

    @property
    def steps(self) -> int:
        """Digits of the answer."""
        return self.task.digits + 1

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The column of each digit in the order of writing: 0 is the units."""
        places = list(self.layout.z_positions)
        return tuple(places.index(place) for place in range(self.layout.prompt_length, self.layout.length))

    @cached_property
    def heads(self) -> tuple[HeadSite, ...]:
        """Every head of every layer, in the order of the pass."""
        layers = self.architecture.layers
        sizes = [layer.attention.heads if layer.attention else 0 for layer in layers]
        return tuple(
            HeadSite(
                index, head, format_layer_prefix(self.architecture, index), _name_head(sizes, index, head)
            )
            for index, size in enumerate(sizes)
            for head in range(size)
        )

    @property
    def focus(self) -> int:
        """The column that panels look at closely: the hardest pair's worst, if it is not written first."""
        worst, middle = self.findings.hardest_step, min(5, self.task.digits - 1)
        column = self.columns[worst.step] if worst and worst.step > 0 else middle
        return column if column < self.task.digits else middle

    @property
    def attention_layers(self) -> tuple[int, ...]:
        """Layers that attend."""
        return tuple(index for index, layer in enumerate(self.architecture.layers) if layer.attention)

    @cached_property
    def sum(self) -> SumAnswer:
        """What the model answers to the pair."""
        return write_sum(self.model, self.task, *self.pair)

    @cached_property
    def digits(self) -> Int[np.ndarray, "number column"]:
        """Of a, b and the right sum, units first; a and b have a 0 in the last column."""
        a, b = (to_digits([number], self.task.digits, self.task.base) for number in self.pair)
        rows = [np.r_[a[:, 0], 0], np.r_[b[:, 0], 0], self.task.solve_digits(a, b)[:, 0]]
        return np.asarray(np.stack(rows), np.int64)

    @property
    def carry(self) -> Int[np.ndarray, " column"]:
        """Into every column of the right sum."""
        x, y, z = self.digits
        return compute_carries(x, y, z, self.task.base)

    @cached_property
    def tokens(self) -> Int[np.ndarray, " pos"]:
        """The problem, and the answer as the model wrote it."""
        a, b = (to_digits([number], self.task.digits, self.task.base) for number in self.pair)
        written = np.array([digit.token for digit in self.sum.digits])
        return np.concatenate([self.layout.prompt(a, b)[:, 0], written])

    @cached_property
    def trace(self) -> dict[str, np.ndarray]:
        """Every intermediate of the pair; the last digit is written, not read."""
        return self.model.trace(self.tokens[:-1])

    @cached_property
    def logits(self) -> Float[np.ndarray, "step tok"]:
        """Of every answer digit, in the order of writing."""
        return np.asarray(self.trace["logits"][self.layout.predicting], np.float64)

    @cached_property
    def sample(self) -> SumSample:
        """Thousands of sums with their right answers."""
        return draw_sample(self)

    @cached_property
    def tables(self) -> dict[str, np.ndarray]:
        """Every intermediate for contexts that repeat one token: `tok pos dim`."""
        vocab, places = self.architecture.vocab, self.layout.length - 1
        return self.model.trace(np.repeat(np.arange(vocab)[:, None], places, 1))

    @cached_property
    def token_table(self) -> Float[np.ndarray, "tok dim"]:
        return np.asarray(self.tables["token.table"], np.float64)

    @cached_property
    def place_table(self) -> Float[np.ndarray, "pos dim"]:
        """What a position joins to any token: its own dimensions, or what is added in all of them."""
        embedded = self.tables["embedded"][0].astype(np.float64)
        own = self.architecture.token_dims
        return np.asarray(
            embedded[:, own:] if self.architecture.position_dims else embedded - self.token_table[0]
        )

    def message(
        self, layer: int, normed: Float[np.ndarray, "tok pos dim"]
    ) -> Float[np.ndarray, "tok pos dim"]:
        """What a layer's heads together add to the stream if all look at one token and position alone."""
        attention, name = self.attention(layer), f"{format_layer_prefix(self.architecture, layer)}attn"
        params = untie_parameters(self.architecture, self.model.params)
        stream = np.ascontiguousarray(normed.transpose(2, 1, 0))  # dim pos tok
        here = AttentionSite(
            NumpyOps(self.architecture.precision), params, name, stream, range(stream.shape[1])
        )
        _, _, values = attention.project(here)
        carried = [attention.carried(here, head, values) for head in range(attention.heads)]
        moved = attention.write(here, carried, ignore_record)
        full = np.broadcast_to(to_dense(moved), (moved.shape[0], *stream.shape[1:]))
        return np.asarray(full.transpose(2, 1, 0), np.float64)

    def digit_messages(self, layer: int) -> Float[np.ndarray, "digit column dim"]:
        """The same for every digit in every column of the first number, where all other digits are 0."""
        columns, places, base = self.task.digits, list(self.layout.x_positions), self.task.base
        chosen = np.zeros((columns, base, columns), np.int32)  # column, digit, the column that it is set in
        for column in range(columns):
            chosen[column, :, column] = np.arange(base)
        x = chosen.reshape(columns, -1)
        trace = self.model.trace(self.layout.prompt(x, x * 0).T)
        normed = trace[f"{format_layer_prefix(self.architecture, layer)}attn.input"]
        by_digit = normed.reshape(base, columns, *normed.shape[1:])  # digit column pos dim
        return self.message(layer, by_digit[:, np.arange(columns), places])

    def with_pair(self, pair: tuple[int, int]) -> "Sums":
        """The same model with another pair to work through."""
        return replace(self, pair=pair)

    def attention(self, layer: int) -> Attention:
        found = self.architecture.layers[layer].attention
        assert found is not None
        return found

    def token_name(self, token: int) -> str:
        """What stands for a token."""
        labels = self.layout.labels
        return labels[token] if token < len(labels) else f"<{token}>"


def make_sums(subject: "Subject") -> Sums:
    """What a poster is about: the pair asked for, or the worst of all pairs."""
    task, name, model, pair = subject.addition, subject.name, subject.model, subject.pair
    if not any(layer.attention for layer in model.architecture.layers):
        raise UserError(f"{name} has no attention, so that there is nothing to explain")
    _require_finite_pass(model, task, name)
    trained = subject.trained_digits or task.digits
    judged = LoadedModel(model.architecture, model.params, task, subject.data, name).with_digits(trained)
    with np.errstate(over="ignore"):
        findings = find_verdict(judged, subject.folder, _SECONDS, "this poster")
        model, task = _fit_counterexample(model, task, findings, pair)
        if task.digits != trained:
            findings = _take_to_length(findings, model, task)
        tried = None if findings.hardest_step or findings.wrong_pair else find_worst_tried_pair(model, task)
        if tried is not None:
            findings = refute_by_pairs(findings, model, task, [one for one in (tried, pair) if one])
    chosen = _choose_default_pair(findings, tried) if pair is None else pair
    about = find_model_summary(name, subject.folder)
    return Sums(model, task, name, chosen, findings, tried, about, subject.step, trained)


def _take_to_length(findings: Verdict, model: Model, task: Addition) -> Verdict:
    """Without the hardest pairs of single digits; the hardest of all stays if it is as hard here."""
    worst = findings.hardest_step
    if worst is None or max(worst.a, worst.b) >= task.base**task.digits:
        return replace(findings, details={})
    margin = write_sum(model, task, worst.a, worst.b).digits[worst.step].margin
    is_same = abs(margin - worst.margin) <= 2 * (findings.rounding_bound or 0.0)
    return replace(findings, details={"hardest_by_step": [asdict(worst)] if is_same else []})


def _fit_counterexample(
    model: Model, task: Addition, findings: Verdict, pair: tuple[int, int] | None
) -> tuple[Model, Addition]:
    """At the length at which a counterexample fails, where it is shown: at others it may come out right."""
    digits = (findings.counterexample or {}).get("digits")
    return (model, task) if digits is None or pair else lengthen_adder(model, task, digits)


def _require_finite_pass(model: Model, task: Addition, name: str) -> None:
    """Weights may be so large that the pass leaves its arithmetic; then there is nothing to draw."""
    with np.errstate(all="ignore"):
        tokens, _ = _make_hard_sums(task, _CHECKED)
        trace = model.trace(tokens)
    numbers = [array for key, array in trace.items() if ".scores." not in key]
    if not all(np.isfinite(array).all() for array in numbers):
        raise UserError(
            f"{name} cannot be drawn: its weights are so large that its numbers overflow in "
            f"{model.architecture.precision}"
        )


def refute_by_pairs(
    findings: Verdict, model: Model, task: Addition, pairs: Sequence[tuple[int, int]]
) -> Verdict:
    """The same verdict, unless one of these pairs comes out wrong: then that refutes the model."""
    if findings.verdict == "proved":
        return findings
    found = [respond_sum(model, task, pair) for pair in pairs]
    wrong = [one.record for one in found if not one.is_right]
    return findings.refuted_by(wrong[0], "sums tried for this poster") if wrong else findings


def _choose_default_pair(findings: Verdict, tried: tuple[int, int] | None) -> tuple[int, int]:
    """The counterexample, or the hardest pair, or the worst that was tried."""
    if findings.wrong_pair:
        return findings.wrong_pair
    if worst := findings.hardest_step:
        return worst.a, worst.b
    assert tried is not None
    return tried


def find_worst_tried_pair(model: Model, task: Addition) -> tuple[int, int]:
    """Of many hard pairs the one with the smallest margin, given the right digits before each."""
    x, y = draw_hard_pairs(np.random.default_rng(0), TRIED, task.digits, task.base)
    tokens, asked = _make_hard_sums(task, TRIED)
    logits = model.forward(tokens, last=task.digits + 1)  # sum step tok
    worst = int(compute_signed_margins(logits, asked).min(1).argmin())
    a, b = to_numbers(np.stack([x[:, worst], y[:, worst]], 1), task.base)
    return a, b


def _make_hard_sums(
    task: Addition, count: int
) -> tuple[Int[np.ndarray, "sum pos"], Int[np.ndarray, "sum step"]]:
    """The same hard pairs at every call, written out with their right answers, and these alone."""
    x, y = draw_hard_pairs(np.random.default_rng(0), count, task.digits, task.base)
    layout = task.written()
    tokens = layout.encode(x, y, task.solve_digits(x, y))
    return tokens[:-1].T, tokens[layout.answer].T


def find_model_summary(name: str, folder: Path | None) -> str:
    """The zoo's line on a model, or the run's own."""
    from glassformer.runs.folder import read_stored_run
    from glassformer.zoo import ZOO

    if folder is not None:
        return read_stored_run(folder).about
    return ZOO[name].about if name in ZOO else ""


def _name_head(sizes: list[int], layer: int, head: int) -> str:
    """As short as the model allows: `attention`, `head 1`, `layer 0, head 3`."""
    if sum(sizes) == 1:
        return "attention"
    if len(sizes) == 1:
        return f"head {head}"
    return f"layer {layer}" if sizes[layer] == 1 else f"layer {layer}, head {head}"
