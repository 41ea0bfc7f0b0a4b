"""What a task is to all that uses it: to train, measure, prove, draw, page, sweep and export.

Each task is one class behind this protocol. `family` says how its whole inputs are laid out, and the packages
to the right keep one module per family: another task of a family is one file, and touches none of them.

    rule        endless strings of an automaton; a model is asked after every context
    question    strings of one length, a prompt and its answer, also of an automaton
    addition    two numbers in columns, their sum written digit by digit

>>> from glassformer.tasks import make_task
>>> task = make_task("modular", p=5)
>>> task.family, task.tokens()
('question', ('0', '1', '2', '3', '4', '='))
>>> task.describe()
'The sum of two numbers modulo p: `100 20 =` gives 7 where p is 113.'
"""

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from jaxtyping import Int

from glassformer.core.errors import UserError, make_unknown_error, require_value
from glassformer.tasks.sequences import Sequences

if TYPE_CHECKING:
    from glassformer.tasks.sampler import Sampler

Family = Literal["rule", "question", "addition"]
_KINDS: dict[type, str] = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}


@dataclass(frozen=True)
class TaskWords:
    """How people speak of a task's models and inputs."""

    model: str  # a model of it: `rule model`, `adder`
    ability: str  # what such a model does, after its name: `follows a rule`, `adds`
    input: str  # one whole input: `context`, `pair`
    inputs: str  # after how many there are, in a verdict on all: `inputs`, `prompts`
    held_out: str  # the inputs that a seed is chosen by: `windows`, `sums`
    progress: str  # after a percentage, while training: `right`, `of sums right`
    error: str  # the share that is wrong: `rule error`, `sums that are wrong`
    demand: str  # before what must come: `the rule demands`
    counted: str = ""  # the inputs of which an exact share is known: `full contexts`; none: no share is
    fails: str = ""  # what such an input does where the model is wrong: `break the rule`


class Task(ABC):
    """Vocabulary, sampler, whole inputs, and words; a frozen dataclass whose fields are its settings."""

    name: ClassVar[str]
    family: ClassVar[Family]
    best_by: ClassVar[tuple[str, ...]]  # scores that the best seed is chosen by, the first that differs
    proves_seeds: ClassVar[bool]  # whether every seed of a population gets a verdict of its own
    has_one_answer: ClassVar[bool]  # whether a single token is right wherever the task has a say
    heft: ClassVar[int] = 1  # contexts that one whole input stands for, where some are drawn
    is_mined: ClassVar[bool] = False  # whether the prover can give hard examples to train on

    @property
    @abstractmethod
    def words(self) -> TaskWords:
        """How sentences name it; most tasks have them as an attribute of the class."""

    def write_problem(self, a: object, b: object) -> str:
        """Two numbers as they are asked, of a task that is asked two."""
        return f"{a} + {b}"

    @property
    def is_any_length(self) -> bool:
        """Whether numbers of every length are written the same way, not only those of the settings."""
        return False

    @abstractmethod
    def tokens(self) -> tuple[str, ...]:
        """The vocabulary as text: token id -> label."""

    def describe(self) -> str:
        """The task in its own words: the first line of its docstring, where it has one."""
        words = (type(self).__doc__ or "").strip().split("\n")[0]
        return "" if words.startswith(f"{type(self).__name__}(") else words

    @property
    def is_data(self) -> bool:
        """Whether a file can carry the task as it is, by its name and settings."""
        return is_built_in(self.name)

    @abstractmethod
    def sampler(self, data: Sequences, context: int) -> "Sampler":
        """Where training data come from, on whatever device there is; this loads JAX."""

    @abstractmethod
    def require_fit(self, context: int, data: Sequences) -> None:
        """One sentence where a model with this context cannot read the task's inputs."""

    @abstractmethod
    def positions(self, context: int) -> int:
        """The positions that a pass over one whole input has, for a model with this context."""

    @abstractmethod
    def count_inputs(self, context: int) -> int:
        """How many whole inputs a model with this context can be asked: a verdict is on all of them."""

    @abstractmethod
    def name_inputs(self, count: str, context: int) -> str:
        """So many inputs, with what they are: `72 contexts of 1 to 2 tokens`."""

    @abstractmethod
    def random_inputs(self, size: int, count: int) -> tuple[Int[np.ndarray, "pos batch"], int]:
        """The same inputs every time, and how many of the last positions are outputs."""

    def example_inputs(self, size: int, count: int) -> Int[np.ndarray, "pos batch"]:
        """Inputs that two implementations of a model are compared on, the same every time."""
        return self.random_inputs(size, count)[0]

    def held_out(self, count: int) -> int:
        """How many inputs a seed is judged by, where so many are asked for."""
        return count

    def usual_settings(self) -> dict[str, Any]:
        """Settings of a run, as a tree, that the task asks for and that are not the usual ones."""
        return {}


TASKS: dict[str, type[Task]] = {}

AnyTask = TypeVar("AnyTask", bound=type[Task])


def register(task: AnyTask) -> AnyTask:
    """Class decorator: make the task known by its name."""
    name = getattr(task, "name", None)
    require_value(isinstance(name, str) and name != "", f"the name of {task.__name__}", "a text", name)
    if name in TASKS:
        raise UserError(f"there is a task called '{name}' already; give {task.__name__} another name")
    TASKS[task.name] = task
    return task


def make_task(name: str, **settings: object) -> Any:
    """The named task with these settings; the others keep their defaults."""
    if name not in TASKS:
        raise make_unknown_error("task", name, TASKS)
    known = [field.name for field in fields(TASKS[name])]  # type: ignore[arg-type]  # tasks are dataclasses
    for setting in settings:
        if setting not in known:
            raise make_unknown_error(f"setting of {name}", setting, known)
    return TASKS[name](**settings)


def is_built_in(name: str) -> bool:
    return name in TASKS and TASKS[name].__module__.startswith("glassformer.")


def require_field_kinds(task: Any) -> None:
    """Each field must be of its default's kind (an integer also serves as a number)."""
    for field in fields(task):
        kind, got = type(field.default), getattr(task, field.name)
        if field.default is MISSING or kind not in _KINDS:
            continue
        accepted = (int, float) if kind is float else (kind,)
        fits = isinstance(got, accepted) and (kind is bool) == isinstance(got, bool)
        require_value(fits, field.name, _KINDS[kind], got)
