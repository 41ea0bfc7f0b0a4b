"""A run's whole configuration: one tree of frozen dataclasses for names, TOML files and the command line."""

from dataclasses import dataclass, field, replace
from typing import Literal

from glassformer.core.errors import require_bounds, require_value
from glassformer.models.architecture import Architecture
from glassformer.models.forward import list_parameters
from glassformer.models.lengths import is_any_length, lengthen_architecture
from glassformer.tasks import Sequences, Task
from glassformer.tasks.addition import require_addition
from glassformer.tasks.rules_operator import PlusLastEven
from glassformer.training.settings import TrainSettings


@dataclass(frozen=True)
class _MeasureSettings:
    """How much is measured at the end, on fresh draws that neither training nor selection has used."""

    positions: int = 100_000  # constrained positions of the argmax accuracy, at least; of an adder, sums
    generated: int = 2_000  # sequences that the model writes itself, at temperature 1

    def __post_init__(self) -> None:
        require_bounds(self, positions=(1, 10**9), generated=(1, 10**8))


@dataclass(frozen=True)
class ProveSettings:
    """The proof at the end."""

    seconds: float = 20.0  # for the kept model
    seeds: int = 64  # of the other seeds that miss nothing, how many are proved as well; rules: none

    def __post_init__(self) -> None:
        require_value(self.seconds > 0, "seconds", "above 0", self.seconds)
        require_bounds(self, seeds=(0, 2**31))


@dataclass(frozen=True)
class DrawSettings:
    """The figures and the page at the end."""

    figures: str = "all"  # all, none, or their ids, separated by commas: 05,13,F1
    theme: Literal["light", "dark", "print"] = "light"
    format: str = "png"  # or several, separated by commas: png,svg,pdf
    page: bool = True  # page.html, for any browser


@dataclass(frozen=True)
class Run:
    """Task, data, model, training, measurement, proof, figures and page."""

    name: str = "run"  # also the folder's name under runs/
    about: str = ""  # what is special about it, and why
    task: Task = field(default_factory=PlusLastEven)
    data: Sequences = field(default_factory=Sequences)
    model: Architecture = field(default_factory=Architecture)
    train: TrainSettings = field(default_factory=TrainSettings)
    measure: _MeasureSettings = field(default_factory=_MeasureSettings)
    prove: ProveSettings = field(default_factory=ProveSettings)
    draw: DrawSettings = field(default_factory=DrawSettings)

    def __post_init__(self) -> None:
        plain = bool(self.name) and all(letter.isalnum() or letter in "-_." for letter in self.name)
        require_value(
            plain and self.name[0].isalnum(), "name", "letters, digits, '-', '_' and '.'", self.name
        )
        require_value(
            self.model.vocab in (0, self.vocab),
            "model.vocab",
            f"{self.vocab}, as the task has",
            self.model.vocab,
        )
        list_parameters(
            self.architecture
        )  # parts that do not fit together say so here, before anything is written
        self.task.require_fit(self.architecture.context, self.data)

    @property
    def vocab(self) -> int:
        return len(self.task.tokens())

    @property
    def architecture(self) -> Architecture:
        """The model with the task's vocabulary filled in; for numbers of every length, its columns too."""
        filled = replace(self.model, vocab=self.vocab)
        if not is_any_length(filled, self.task):
            return filled
        return lengthen_architecture(filled, require_addition(self.task, self.name))
