"""What a command answers: the object that `--json` prints, the words for people, and the exit status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """All that the command line needs of a result."""

    content: Mapping[str, Any]
    words: str
    status: int = 0


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line, and how long the answer took."""

    options: Mapping[str, Any]  # parameters of the command's function
    seconds: float

    @property
    def target(self) -> str:
        return str(self.options["target"])
