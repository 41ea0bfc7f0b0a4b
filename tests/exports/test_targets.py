"""The kinds of exported file: the command offers all of them, and each can be imported by its name."""

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from glassformer.commands import export
from glassformer.exports.targets import TARGETS


def test_the_command_offers_every_kind():
    hints = {"ExportResult": object}
    assert get_args(get_type_hints(export.export, localns=hints)["to"]) == tuple(TARGETS)


@pytest.mark.parametrize("kind", TARGETS)
def test_a_files_name_is_one_that_python_can_import(kind):
    path = Path(TARGETS[kind].name_file("glass-8.5"))
    assert path.stem.isidentifier()
    assert path.suffix == TARGETS[kind].suffix
