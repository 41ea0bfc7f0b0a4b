"""What is exported: a model's steps and numbers, and what is known of it, as the head of a file says it."""

import textwrap
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glassformer.check.claims import model_hash
from glassformer.export.fixed import Fixed, fixed_arrays
from glassformer.export.literals import LINE
from glassformer.export.simplify import Steps, simplify
from glassformer.model.count import constants
from glassformer.model.forward import parameters
from glassformer.model.program import trace_whole
from glassformer.proof.stored import find_stored
from glassformer.proof.verdict import Verdict
from glassformer.proof.verdict_words import export_sentence
from glassformer.runs.load import Loaded
from glassformer.zoo import ZOO


@dataclass(frozen=True)
class Subject:
    """A model to be written down; `said` is the target as the user gave it."""

    loaded: Loaded
    said: str

    @property
    def precision(self) -> str:
        return self.loaded.architecture.precision

    @property
    def places(self) -> int:
        return self.loaded.architecture.context

    @cached_property
    def steps(self) -> Steps:
        return simplify(trace_whole(self.loaded.architecture, self.places))

    @cached_property
    def fixed(self) -> dict[int, Fixed]:
        return fixed_arrays(self.steps, self.precision)

    @property
    def learned(self) -> dict[str, np.ndarray]:
        """Every array that training may move; what is tied is stored once, under the name of its source."""
        return self.stored(is_learned=True)

    def stored(self, is_learned: bool) -> dict[str, np.ndarray]:
        """Where entries are fixed the free ones alone, in a row."""
        every, params = parameters(self.loaded.architecture).items(), self.loaded.params
        return {
            name: np.ravel(params[name])[one.free_places] if one.fixed else params[name]
            for name, one in every
            if one.learned == is_learned and one.free
        }

    @cached_property
    def sha256(self) -> str:
        return model_hash(self.loaded.architecture, self.loaded.params)

    @cached_property
    def counts(self) -> dict[str, int]:
        """As `glassformer count` has them."""
        every = parameters(self.loaded.architecture).values()
        return {
            "unique": sum(one.free for one in every),
            "learned": sum(one.free for one in every if one.learned),
            "constants": constants(self.loaded.architecture),
        }

    @cached_property
    def verdict(self) -> Verdict | None:
        """What `glassformer prove` said of these very numbers; none where nothing is written down."""
        return find_stored(self.loaded, self.loaded.folder)

    def about(self) -> str:
        """One line: what the model does."""
        task = self.loaded.task
        if task.family == "addition":
            digits = self.loaded.addition.digits
            return f"adds two numbers of {digits} digits, writing its sum token by token"
        return f"made for the {task.family} {task.name}"


def header(subject: Subject, kind: str, extra: str = "") -> str:
    """The docstring of an exported file."""
    counts, architecture = subject.counts, subject.loaded.architecture
    learned = f"{counts['unique']} stored numbers, {counts['learned']} of them learned"
    paragraphs = [
        f"{learned}, and {counts['constants']} constants in its formulas, as `glassformer count` says them. "
        f"Parameters are in {subject.precision}; SHA-256 of architecture and numbers: {subject.sha256}",
        export_sentence(subject.verdict, subject.loaded.task, subject.said in ZOO),
        f"Axes are `dim pos batch` inside the pass. At most {architecture.context} places, "
        f"tokens 0 to {architecture.vocab - 1}. {extra}".strip(),
        f"Written by: glassformer export {subject.said} --to {kind}",
    ]
    body = "\n\n".join(textwrap.fill(plain(one), LINE, break_on_hyphens=False) for one in paragraphs)
    return f'"""{plain(f"{subject.loaded.name}: {subject.about()}.")}\n\n{body}\n"""'


def plain(text: str) -> str:
    """A text as it may stand in one of Python, whatever a file is called or says."""
    return "".join(letter if letter.isprintable() and letter not in '"\\' else "_" for letter in text)
