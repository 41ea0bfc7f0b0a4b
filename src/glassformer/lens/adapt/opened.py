"""A model by the words of a user, wherever it is from: one of ours, or any checkpoint."""

from pathlib import Path

from glassformer.lens.adapt.own import RUNS, is_existing_file, is_own_model, open_own_checkpoint
from glassformer.lens.layout import ModelLayout
from glassformer.lens.read.checkpoint import Checkpoint


def open_target(target: str) -> tuple[Checkpoint, ModelLayout]:
    if is_own_model(target):
        return open_own_checkpoint(target)
    from glassformer.lens.adapt.find import find_layout
    from glassformer.lens.read.open import open_checkpoint

    checkpoint = open_checkpoint(target)
    return checkpoint, find_layout(checkpoint)


def make_target_absolute(target: str) -> str:
    """The words that open the same in another working folder: paths are made absolute.

    >>> make_target_absolute("nanogpt-58"), make_target_absolute("org/name")
    ('nanogpt-58', 'org/name')
    """
    path = Path(target).expanduser()
    for run in (path, RUNS / path):
        if is_existing_file(run / "run.toml"):
            return str(run.absolute())
    is_zoo_id = not path.suffix and is_own_model(target)
    return str(path.absolute()) if path.exists() and not is_zoo_id else target
