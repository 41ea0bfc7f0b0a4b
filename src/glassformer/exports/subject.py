"""What is exported: a model's steps and parameters, and what the head of a file says of it."""

import textwrap
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glassformer.checker.claims import hash_model
from glassformer.core.errors import UserError
from glassformer.exports.any_length import is_any_length_adder, trace_any_length, trace_short_length
from glassformer.exports.fixed import FixedArray, find_fixed_arrays
from glassformer.exports.literals import LINE
from glassformer.exports.simplify import SimplifiedProgram, simplify_program
from glassformer.models.constants import count_constants
from glassformer.models.forward import list_parameters
from glassformer.models.lengths import ENDS
from glassformer.models.program import trace_whole
from glassformer.proofs.stored import find_stored_verdict
from glassformer.proofs.verdict import Verdict
from glassformer.proofs.verdict_words import describe_exported_verdict
from glassformer.runs.load import LoadedModel
from glassformer.tasks.operations import ADD
from glassformer.zoo import ZOO

COMPUTED_SIZES = ("length", f"digits + {ENDS}")  # positions, and columns per number, as a pass says them


@dataclass(frozen=True)
class ExportSubject:
    """A model to be written down; `said` is the target as the user gave it."""

    loaded: LoadedModel
    said: str

    def __post_init__(self) -> None:
        """Files say how numbers are added; what else is done with columns has no file yet."""
        task = self.loaded.task
        if task.family == "addition" and self.loaded.addition.does != ADD:
            raise UserError(
                f"{self.said} {task.words.ability}, and exported files are about adding two numbers"
            )

    @property
    def precision(self) -> str:
        return self.loaded.architecture.precision

    @property
    def positions(self) -> int:
        return self.loaded.architecture.context

    @cached_property
    def is_any_length(self) -> bool:
        """Whether the file takes numbers of any length: its pass has `digits` beside the tokens."""
        return is_any_length_adder(self.loaded)

    @cached_property
    def steps(self) -> SimplifiedProgram:
        if self.is_any_length:
            return trace_any_length(self.loaded.architecture, self.loaded.addition)
        return simplify_program(trace_whole(self.loaded.architecture, self.positions))

    @cached_property
    def fixed(self) -> dict[int, FixedArray]:
        """By their steps; of an adder for any length rules are as numbers of two digits have them."""
        if self.is_any_length:
            short = trace_short_length(self.loaded.architecture, self.loaded.addition)
            return find_fixed_arrays(short, self.precision)
        return find_fixed_arrays(self.steps, self.precision)

    @property
    def digits(self) -> int:
        """Of each number that an adder reads, where the caller does not say it."""
        return self.loaded.addition.digits

    @property
    def computed(self) -> list[FixedArray]:
        """Rules that the pass itself computes, from the number of positions that it is given."""
        return [one for one in self.fixed.values() if one.is_rule] if self.is_any_length else []

    @property
    def written(self) -> list[FixedArray]:
        """Fixed arrays that the file holds from the start."""
        return [one for one in self.fixed.values() if not (one.is_rule and self.is_any_length)]

    @property
    def learned(self) -> dict[str, np.ndarray]:
        """Every array that training may move; what is tied is stored once, under the name of its source."""
        return self.stored(is_learned=True)

    def stored(self, is_learned: bool) -> dict[str, np.ndarray]:
        """Where entries are fixed the free ones alone, in a row."""
        every, params = list_parameters(self.loaded.architecture).items(), self.loaded.params
        return {
            name: np.ravel(params[name])[one.free_places] if one.fixed else params[name]
            for name, one in every
            if one.learned == is_learned and one.free
        }

    @cached_property
    def sha256(self) -> str:
        return hash_model(self.loaded.architecture, self.loaded.params)

    @cached_property
    def counts(self) -> dict[str, int]:
        """As `glassformer count` has them."""
        every = list_parameters(self.loaded.architecture).values()
        return {
            "unique": sum(one.free for one in every),
            "learned": sum(one.free for one in every if one.learned),
            "constants": count_constants(self.loaded.architecture),
        }

    @cached_property
    def verdict(self) -> Verdict | None:
        """What `glassformer prove` said of these very parameters; none where nothing is written down."""
        return find_stored_verdict(self.loaded, self.loaded.folder)

    def about(self) -> str:
        """One line: what the model does."""
        task = self.loaded.task
        if task.family == "addition":
            addition = self.loaded.addition
            size = f"{'any length' if self.is_any_length else f'{self.digits} digits'}{addition.name_base()}"
            return f"adds two numbers of {size}, writing their sum token by token"
        return f"made for the {task.family} {task.name}"


def format_export_header(subject: ExportSubject, kind: str, extra: str = "", call: str = "") -> str:
    """The docstring of an exported file; `call`: how one for any length is told n, the digits."""
    counts = subject.counts
    trainable = f"{counts['unique']} parameters, {counts['learned']} of them trainable"
    paragraphs = [
        f"{trainable}, and {counts['constants']} constants in its formulas, as `glassformer count` says "
        f"them. Parameters are in {subject.precision}; SHA-256 of architecture and parameters: "
        f"{subject.sha256}",
        describe_exported_verdict(subject.verdict, subject.loaded.task, subject.said in ZOO),
        *([_describe_lengths(subject, call)] if subject.is_any_length else []),
        f"Axes are `dim pos batch` inside the pass. {_describe_positions(subject)}, "
        f"tokens 0 to {subject.loaded.architecture.vocab - 1}. {extra}".strip(),
        f"Written by: glassformer export {subject.said} --to {kind}",
    ]
    body = "\n\n".join(
        textwrap.fill(clean_docstring_text(one), LINE, break_on_hyphens=False) for one in paragraphs
    )
    return f'"""{clean_docstring_text(f"{subject.loaded.name}: {subject.about()}.")}\n\n{body}\n"""'


def _describe_positions(subject: ExportSubject) -> str:
    """How many tokens the pass takes."""
    return "Any number of positions" if subject.is_any_length else f"At most {subject.positions} positions"


def _describe_lengths(subject: ExportSubject, call: str) -> str:
    """That numbers may have any length, how they are read, and how the file is called."""
    return (
        "This file works at every length: two numbers x and y of n digits each, units first, are read as "
        "`0 x 0 0 y 0 0`, and the n + 1 digits of their sum are written after that. "
        + call.format(digits=subject.digits)
    )


def clean_docstring_text(text: str) -> str:
    """A text as it may stand in one of Python, whatever a file is called or says."""
    return "".join(letter if letter.isprintable() and letter not in '"\\' else "_" for letter in text)
