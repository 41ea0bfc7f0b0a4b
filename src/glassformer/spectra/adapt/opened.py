"""A model by the words of a user, wherever it is from: one of ours, or any checkpoint."""

from pathlib import Path

from glassformer.spectra.adapt.own import RUNS, is_file, is_own, own_checkpoint
from glassformer.spectra.layout import Layout
from glassformer.spectra.read.checkpoint import Checkpoint


def opened(target: str) -> tuple[Checkpoint, Layout]:
    if is_own(target):
        return own_checkpoint(target)
    from glassformer.spectra.adapt.find import find_layout
    from glassformer.spectra.read.open import open_checkpoint

    checkpoint = open_checkpoint(target)
    return checkpoint, find_layout(checkpoint)


def from_anywhere(target: str) -> str:
    """The words that open the same in another working folder: paths are made absolute.

    >>> from_anywhere("nanogpt-58"), from_anywhere("org/name")
    ('nanogpt-58', 'org/name')
    """
    path = Path(target).expanduser()
    for run in (path, RUNS / path):
        if is_file(run / "run.toml"):
            return str(run.absolute())
    is_zoo_id = not path.suffix and is_own(target)
    return str(path.absolute()) if path.exists() and not is_zoo_id else target
