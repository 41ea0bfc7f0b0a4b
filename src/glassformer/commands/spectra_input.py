"""What the words of `glassformer spectra` mean: a checkpoint, its layers, and settings that are checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from glassformer.errors import UserError, require, unknown
from glassformer.runs.atomic import refuse_links
from glassformer.spectra.layout import Layout
from glassformer.spectra.plan import Pairs, Wanted
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.treatments import Treatment

if TYPE_CHECKING:
    from glassformer.spectra.work import Elsewhere

NO_FIGURES = "none"
DEVICES = ("cpu", "gpu")


@dataclass(frozen=True)
class Manner:
    """How it is done and shown; nothing here changes a number."""

    singular_values: bool = False  # all of them, as a table
    formats: Sequence[str] = ("png",)  # of the figures; none: no figures
    theme: str = "light"
    workers: int | None = None  # units at a time; none: one a core
    engine: str = "here"  # or processes, or ray: a layer at a time for each worker
    address: str | None = None  # of a Ray cluster
    overwrite: bool = False  # replace what the folder holds
    show: bool = False  # a bar on standard error

    @property
    def pictures(self) -> tuple[str, ...]:
        """The formats, empty where no figures are wanted."""
        return () if tuple(self.formats) == (NO_FIGURES,) else tuple(self.formats)

    def elsewhere(self, targets: tuple[str, ...], device: str) -> "Elsewhere | None":
        """Where the work is done if not by threads of this process."""
        from glassformer.scale.choose import make_engine
        from glassformer.spectra.work import Elsewhere

        gpus = 1 if device == "gpu" else 0
        engine = make_engine(self.engine, self.workers or 0, self.address, gpus)
        return None if self.engine == "here" else Elsewhere(engine, targets)


@dataclass(frozen=True)
class Asked:
    """What an analysis is to contain, for any model."""

    layers: str | None  # none: all, and what belongs to no layer
    heads_only: bool
    treatments: tuple[Treatment, ...]
    relations: Pairs
    top: int
    device: str
    is_here: bool = True  # the work is done by this process, which needs the device then

    def of(self, layout: Layout) -> Wanted:
        """The same for one model; a sentence where it has nothing of the kind."""
        wanted = Wanted(
            layers=chosen_layers(layout, self.layers),
            treatments=self.treatments,
            has_matrices=not self.heads_only,
            has_rest=self.layers is None,
            relations=self.relations,
            top=self.top,
            device=self.device,
        )
        check_wanted(wanted, layout, self.is_here)
        return wanted


def check_manner(how: Manner) -> None:
    from glassformer.draw.save import check_formats
    from glassformer.draw.theme import theme_named

    check_formats(how.pictures or ("png",))
    theme_named(how.theme)
    require(how.workers is None or how.workers >= 1, "--workers", "at least 1", how.workers)
    how.elsewhere((), "cpu")  # an engine that does not exist is told before anything is opened


def check_wanted(wanted: Wanted, layout: Layout, is_here: bool) -> None:
    if wanted.relations not in get_args(Pairs):
        raise unknown("choice of --relations", wanted.relations, get_args(Pairs))
    if wanted.device not in DEVICES:
        raise unknown("choice of --device", wanted.device, DEVICES)
    if wanted.device == "gpu" and is_here:
        from glassformer.spectra.compute.gpu import gpu

        gpu()  # one sentence where there is none, before a folder is made
    require(wanted.top >= 1, "--top", "at least 1", wanted.top)
    if not wanted.has_matrices and not layout.attention:
        raise UserError(f"no heads of {layout.architecture} were read, so --heads has nothing to show")


def chosen_layers(layout: Layout, text: str | None) -> tuple[int, ...]:
    """The layers that `0-5,8` names; all where nothing is said."""
    layers = {weight.layer for weight in layout.weights} | {head.layer for head in layout.attention}
    there = sorted(layer for layer in layers if layer is not None)
    if text is None:
        return tuple(there)
    asked = parse_layers(text)
    if strange := sorted(asked - set(there)):
        raise UserError(f"--layers asks for layer {strange[0]}, but the model has {extent(there)}")
    return tuple(sorted(asked))


def extent(layers: Sequence[int]) -> str:
    """
    >>> extent([]), extent([0]), extent([0, 1, 2])
    ('no layers', 'only layer 0', 'layers 0 to 2')
    """
    if len(layers) < 2:
        return f"only layer {layers[0]}" if layers else "no layers"
    return f"layers {layers[0]} to {layers[-1]}"


def parse_layers(text: str) -> set[int]:
    """Numbers and ranges, both ends included.

    >>> sorted(parse_layers("0-2,8"))
    [0, 1, 2, 8]
    """
    layers: set[int] = set()
    for word in text.split(","):
        ends = [end.strip() for end in word.split("-")]
        is_right = len(ends) <= 2 and all(end.isascii() and end.isdigit() and len(end) < 6 for end in ends)
        if not is_right or int(ends[0]) > int(ends[-1]):
            raise UserError(f"--layers must be numbers and ranges, as 0-5,8, but it is '{text}'")
        layers |= set(range(int(ends[0]), int(ends[-1]) + 1))
    return layers


def chosen_folder(out: str | Path | None, checkpoint: Checkpoint) -> Path:
    folder = Path(out) if out is not None else place(checkpoint)
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, not a folder; --out chooses another place")
    return folder


def place(checkpoint: Checkpoint) -> Path:
    """spectra/ in a run folder, NAME.spectra/ beside the user otherwise."""
    run = Path(checkpoint.source).parent
    if checkpoint.kind == "glassformer" and (run / "run.toml").exists():
        refuse_links(run / "spectra")
        return run / "spectra"
    return Path(f"{Path(checkpoint.name).name}.spectra")
