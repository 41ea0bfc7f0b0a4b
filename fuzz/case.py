"""A case, what came of it, and whether that is a finding."""

from dataclasses import dataclass
from random import Random

SECONDS = 2.0  # of CPU time that a case may take, children included
BYTES = 500_000_000  # that a case may need beyond what its worker had before it
WALL = 20.0  # seconds after which a case is killed

ACCEPTED, REFUSED, FOREIGN, EXECUTED = "accepted", "refused", "foreign", "executed"


@dataclass(frozen=True)
class Case:
    """Which case: the same three always give the same bytes."""

    kind: str
    seed: int
    index: int

    def random(self) -> Random:
        return Random(f"{self.kind} {self.seed} {self.index}")

    @property
    def command(self) -> str:
        """What repeats it alone."""
        return f"python -m fuzz --kinds {self.kind} --seed {self.seed} --case {self.index}"


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    case: Case
    end: str  # accepted, refused, foreign or executed
    seconds: float = 0.0  # CPU time
    grown: int = 0  # bytes of memory beyond those before it
    is_greedy: bool = False  # it asked for more memory than it may have, and was refused it
    is_killed: bool = False  # it had not ended after WALL seconds
    words: str = ""  # of a finding: the traceback, or what was printed

    @property
    def is_slow(self) -> bool:
        return self.is_killed or self.seconds > SECONDS

    @property
    def is_large(self) -> bool:
        return self.is_greedy or self.grown > BYTES

    @property
    def faults(self) -> tuple[str, ...]:
        """The columns of the table under which it is a finding.

        >>> Outcome(Case("toml", 0, 1), "refused", seconds=3.0).faults
        ('slow',)
        """
        named = {"foreign": self.end == FOREIGN, "executed": self.end == EXECUTED}
        named |= {"slow": self.is_slow, "large": self.is_large}
        return tuple(name for name, is_so in named.items() if is_so)
