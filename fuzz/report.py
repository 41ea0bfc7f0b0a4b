"""The counts of every kind, as a table or as JSON, and every finding as a file."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fuzz.case import Outcome
from fuzz.signature import signature

FAULTS = ("foreign", "executed", "slow", "large")
HEADER = ("kind", "cases", "accepted", "refused", *FAULTS, "slowest", "largest", "CPU s")


@dataclass
class Tally:
    """What came of the cases of one kind."""

    cases: int = 0
    accepted: int = 0
    refused: int = 0
    foreign: int = 0
    executed: int = 0
    slow: int = 0
    large: int = 0
    seconds: float = 0.0  # CPU time of all
    slowest: float = 0.0
    slowest_case: int = -1
    largest: int = 0  # bytes
    largest_case: int = -1

    def add(self, outcome: Outcome) -> None:
        self.cases += 1
        self.seconds += outcome.seconds
        for name in {outcome.end, *outcome.faults}:
            setattr(self, name, getattr(self, name) + 1)
        if outcome.seconds > self.slowest:
            self.slowest, self.slowest_case = outcome.seconds, outcome.case.index
        if outcome.grown > self.largest:
            self.largest, self.largest_case = outcome.grown, outcome.case.index

    @property
    def findings(self) -> int:
        return self.foreign + self.executed + self.slow + self.large


@dataclass
class Report:
    """All kinds together."""

    seed: int
    skipped: dict[str, str]  # kind to why it did not run
    tallies: dict[str, Tally] = field(default_factory=dict)
    findings: int = 0
    faults: dict[str, list[str]] = field(default_factory=dict)  # one line for each fault, to its cases
    wall: float = 0.0

    def add(self, outcome: Outcome) -> None:
        self.tallies.setdefault(outcome.case.kind, Tally()).add(outcome)
        if outcome.faults:
            self.findings += 1
            line = f"{', '.join(outcome.faults)}: {signature(outcome.words)}"
            self.faults.setdefault(line, []).append(outcome.case.command)

    def content(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def words(self) -> str:
        """The table."""
        rows = [HEADER, *(row(kind, tally) for kind, tally in self.tallies.items())]
        if len(self.tallies) > 1:
            rows.append(total(list(self.tallies.values())))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(word.rjust(width) for word, width in zip(one, widths, strict=True)) for one in rows
        ]
        lines += [f"{kind} did not run: {why}" for kind, why in self.skipped.items()]
        for fault, commands in sorted(self.faults.items(), key=lambda pair: -len(pair[1])):
            lines.append(f"{len(commands):>6} x {fault}\n         {commands[0]}")
        return "\n".join([*lines, f"seed {self.seed}; {self.findings} findings; {self.wall:.0f} s"])


def row(kind: str, tally: Tally) -> tuple[str, ...]:
    counts = (
        tally.cases,
        tally.accepted,
        tally.refused,
        tally.foreign,
        tally.executed,
        tally.slow,
        tally.large,
    )
    slowest = f"{tally.slowest:.2f} s (case {tally.slowest_case})"
    largest = f"{tally.largest / 1e6:.0f} MB (case {tally.largest_case})"
    return (kind, *(f"{count:,}" for count in counts), slowest, largest, f"{tally.seconds:,.0f}")


def total(tallies: list[Tally]) -> tuple[str, ...]:
    names = ("cases", "accepted", "refused", *FAULTS)
    counts = tuple(f"{sum(getattr(tally, name) for tally in tallies):,}" for name in names)
    slowest, largest = max(tally.slowest for tally in tallies), max(tally.largest for tally in tallies)
    seconds = sum(tally.seconds for tally in tallies)
    return ("all", *counts, f"{slowest:.2f} s", f"{largest / 1e6:.0f} MB", f"{seconds:,.0f}")


def write_finding(folder: Path, outcome: Outcome) -> Path:
    """A file that says what happened and how to repeat it."""
    folder.mkdir(parents=True, exist_ok=True)
    case = outcome.case
    path = folder / f"{case.kind}-{case.seed}-{case.index}.txt"
    said = f"{', '.join(outcome.faults)}; {outcome.seconds:.2f} s, {outcome.grown / 1e6:.0f} MB"
    path.write_text(f"{case.command}\n{said}\n\n{outcome.words}\n")
    return path
