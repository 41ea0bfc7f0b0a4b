"""What a kind of input is to the fuzzer."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from fuzz.kinds.warming import warm_nothing
from fuzz.place import Place


@dataclass(frozen=True)
class Kind:
    """Valid inputs, and what is done with a damaged one."""

    share: int  # of a thousand cases of the usual mix: dear ones get few
    needs: tuple[str, ...]  # packages that are not the standard library's
    prepare: Callable[[Path], Any]  # valid inputs, made once in a folder
    attempt: Callable[[Random, Any, Place], int | None]  # one case; gives an exit status where there is one
    warm: Callable[[Place], None] = warm_nothing  # what is slow the first time, before anything is measured

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that are not installed here."""
        return tuple(name for name in self.needs if find_spec(name) is None)
