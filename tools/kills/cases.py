"""One case: a command is killed one to four times, each time it is run again, at last to its end.

After a kill every file must be whole; at the end all files must be those of a command that nobody killed.
"""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tools.kills.kinds import BARE, KINDS, Kind
from tools.kills.look import Files, find_broken, find_changes, name_state, read_files
from tools.kills.process import Ended, Moment, run_command

MOST_KILLS = 4  # of a case
WAYS = ("clock", "steps")


class Reference(NamedTuple):
    """What a command makes when nobody kills it, and what it takes."""

    kind: Kind
    before: Path  # the folder that it begins from
    files_before: Files
    files: Files
    seconds: float
    steps: int


@dataclass
class Case:
    """What was seen of one case."""

    verb: str
    number: int
    words: str
    moments: list[str] = field(default_factory=list)
    hits: int = 0  # kills of a command that was running
    late: int = 0  # that would have come after its end
    states: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def make_references(verb: str, place: Path) -> list[Reference]:
    """For every kind of command of a verb; the first is what all must give."""
    kinds = [kind for kind in KINDS if kind.verb == verb]
    return [_make_reference(kind, place, f"{verb}-{number}") for number, kind in enumerate(kinds)]


def _make_reference(kind: Kind, place: Path, name: str) -> Reference:
    """Run twice, since the first one compiles; both must give the same already."""
    before = place / f"{name}-before"
    before.mkdir()
    for run in kind.runs:
        shutil.copytree(_find_run(place), before / run)
    (_, first), (ended, second) = (_run_whole(kind, before, place / f"{name}-{turn}") for turn in (1, 2))
    if changes := find_changes(first, second):
        raise SystemExit(f"{kind.words}: differs without a kill: {'; '.join(changes)}")
    return Reference(kind, before, read_files(before, kind.verb), first, ended.seconds, ended.steps)


def _run_whole(kind: Kind, before: Path, folder: Path) -> tuple[Ended, Files]:
    shutil.copytree(before, folder)
    ended = _require_end(run_command(kind.words, folder, folder.parent))
    return ended, read_files(folder, kind.verb)


def _find_run(place: Path) -> Path:
    """A finished run, made once."""
    folder = place / "trained"
    if not folder.exists():
        folder.mkdir()
        _require_end(run_command(BARE, folder, place))
    return folder / "run"


def _require_end(ended: Ended) -> Ended:
    if ended.status:
        raise SystemExit(f"a command that nobody killed ended with {ended.status}: {ended.said}")
    return ended


def try_case(references: list[Reference], seed: int, number: int, way: str, place: Path) -> Case:
    """All that happens depends on the seed, the number of the case and the machine's speed."""
    reference = references[number % len(references)]
    verb, words = reference.kind.verb, reference.kind.words
    draws = random.Random(f"{seed} {verb} {number} {way}")
    case, folder = Case(verb, number, words), place / f"{verb}-case"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(reference.before, folder)
    for moment in _draw_moments(draws, way, reference):
        ended = run_command(words, folder, place, moment)
        _note_end(case, ended, moment, reference, folder)
        if not ended.is_killed:
            break
    else:
        _note_end(case, run_command(words, folder, place), None, reference, folder)
    case.differences += find_changes(
        references[0].files if verb == "sweep" else reference.files, read_files(folder, verb)
    )
    return case


def _draw_moments(draws: random.Random, way: str, reference: Reference) -> Iterator[Moment]:
    """One to four, uniform over the time or the steps of a command that nobody kills."""
    for _ in range(draws.randint(1, MOST_KILLS)):
        if way == "clock":
            yield Moment(seconds=draws.uniform(0, reference.seconds))
        else:
            yield Moment(step=draws.randint(1, reference.steps))


def _note_end(case: Case, ended: Ended, moment: Moment | None, reference: Reference, folder: Path) -> None:
    """Count a kill and look at what it left, or count a command that was faster."""
    if moment is not None:
        case.moments.append(str(moment))
        case.hits += ended.is_killed
        case.late += not ended.is_killed
    if ended.is_killed:
        case.states[name_state(reference.files_before, reference.files, folder)] += 1
    elif ended.status:
        case.differences.append(f"the command ended with {ended.status}: {ended.said}")
    case.differences += find_broken(folder)
    case.differences += [f"process {process} was left" for process in ended.left]
