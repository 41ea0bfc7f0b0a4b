"""A run's whole configuration: one tree of frozen dataclasses for names, TOML files and the command line."""

from dataclasses import dataclass, field, replace
from typing import Literal

from glassformer.errors import require, require_within
from glassformer.model.architecture import Architecture
from glassformer.model.forward import parameters
from glassformer.tasks import Sequences, Task
from glassformer.tasks.rules_operator import PlusLastEven
from glassformer.train.settings import Train


@dataclass(frozen=True)
class Measure:
    """How much is measured at the end, on fresh draws that neither training nor selection has used."""

    positions: int = 100_000  # constrained positions of the argmax accuracy, at least; of an adder, sums
    generated: int = 2_000  # sequences that the model writes itself, at temperature 1

    def __post_init__(self) -> None:
        require_within(self, positions=(1, 10**9), generated=(1, 10**8))


@dataclass(frozen=True)
class Prove:
    """The proof at the end."""

    seconds: float = 20.0  # for the kept model
    seeds: int = 64  # of the other seeds that miss nothing, how many are proved as well; rules: none

    def __post_init__(self) -> None:
        require(self.seconds > 0, "seconds", "above 0", self.seconds)
        require_within(self, seeds=(0, 2**31))


@dataclass(frozen=True)
class Draw:
    """The figures and the page at the end."""

    figures: str = "all"  # all, none, or their numbers parted by commas: 05,13,F1
    theme: Literal["light", "dark", "print"] = "light"
    format: str = "png"  # or several, parted by commas: png,svg,pdf
    page: bool = True  # page.html, for any browser


@dataclass(frozen=True)
class Run:
    """Task, data, model, training, measurement, proof, figures and page."""

    name: str = "run"  # also the folder's name under runs/
    about: str = ""  # what is special about it, and why
    task: Task = field(default_factory=PlusLastEven)
    data: Sequences = field(default_factory=Sequences)
    model: Architecture = field(default_factory=Architecture)
    train: Train = field(default_factory=Train)
    measure: Measure = field(default_factory=Measure)
    prove: Prove = field(default_factory=Prove)
    draw: Draw = field(default_factory=Draw)

    def __post_init__(self) -> None:
        plain = bool(self.name) and all(letter.isalnum() or letter in "-_." for letter in self.name)
        require(plain and self.name[0].isalnum(), "name", "letters, digits, '-', '_' and '.'", self.name)
        require(
            self.model.vocab in (0, self.vocab),
            "model.vocab",
            f"{self.vocab}, as the task has",
            self.model.vocab,
        )
        parameters(
            self.architecture
        )  # parts that do not fit together say so here, before anything is written
        self.task.require_fit(self.model.context, self.data)

    @property
    def vocab(self) -> int:
        return len(self.task.tokens())

    @property
    def architecture(self) -> Architecture:
        """The model with the task's vocabulary filled in."""
        return replace(self.model, vocab=self.vocab)
