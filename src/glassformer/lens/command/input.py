"""What the words of `glassformer spectra` mean: a checkpoint, its layers, and settings that are checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from glassformer.core.atomic import refuse_links
from glassformer.core.errors import UserError, make_unknown_error, require_value
from glassformer.core.folder import refuse_file
from glassformer.lens.layout import ModelLayout
from glassformer.lens.plan import AnalysisRequest, Pairs
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.treatments import Treatment

if TYPE_CHECKING:
    from glassformer.lens.work import RemoteWork

_NO_FIGURES = "none"
_DEVICES = ("cpu", "gpu")


@dataclass(frozen=True)
class AnalysisStyle:
    """How it is done and shown; nothing here changes a number."""

    singular_values: bool = False  # all of them, as a table
    formats: Sequence[str] = ("png",)  # of the figures; none: no figures
    theme: str = "light"
    workers: int | None = None  # units at a time; none: one per core
    engine: str = "here"  # or processes, or ray: a layer at a time for each worker
    address: str | None = None  # of a Ray cluster
    overwrite: bool = False  # replace what the folder holds
    show: bool = False  # a bar on standard error

    @property
    def pictures(self) -> tuple[str, ...]:
        """The formats, empty where no figures are wanted."""
        return () if tuple(self.formats) == (_NO_FIGURES,) else tuple(self.formats)

    def elsewhere(self, targets: tuple[str, ...], device: str) -> "RemoteWork | None":
        """Where the work is done if not by threads of this process."""
        from glassformer.lens.work import RemoteWork
        from glassformer.scale.choose import make_engine

        gpus = 1 if device == "gpu" else 0
        engine = make_engine(self.engine, self.workers or 0, self.address, gpus)
        return None if self.engine == "here" else RemoteWork(engine, targets)


@dataclass(frozen=True)
class AnalysisWish:
    """What an analysis is to contain, for any model."""

    layers: str | None  # none: all, and what belongs to no layer
    heads_only: bool
    treatments: tuple[Treatment, ...]
    relations: Pairs
    top: int
    device: str
    is_here: bool = True  # the work is done by this process, which needs the device then

    def of(self, layout: ModelLayout) -> AnalysisRequest:
        """The same for one model; a sentence where it has nothing of the kind."""
        wanted = AnalysisRequest(
            layers=choose_layers(layout, self.layers),
            treatments=self.treatments,
            has_matrices=not self.heads_only,
            has_rest=self.layers is None,
            relations=self.relations,
            top=self.top,
            device=self.device,
        )
        _require_choices(wanted, layout, self.is_here)
        return wanted


def require_style_choices(how: AnalysisStyle) -> None:
    from glassformer.core.theme import find_theme
    from glassformer.pictures.save import require_formats

    require_formats(how.pictures or ("png",))
    find_theme(how.theme)
    require_value(how.workers is None or how.workers >= 1, "--workers", "at least 1", how.workers)
    how.elsewhere((), "cpu")  # an engine that does not exist is told before anything is opened


def _require_choices(wanted: AnalysisRequest, layout: ModelLayout, is_here: bool) -> None:
    if wanted.relations not in get_args(Pairs):
        raise make_unknown_error("choice of --relations", wanted.relations, get_args(Pairs))
    if wanted.device not in _DEVICES:
        raise make_unknown_error("choice of --device", wanted.device, _DEVICES)
    if wanted.device == "gpu" and is_here:
        from glassformer.lens.compute.gpu import find_gpu

        find_gpu()  # one sentence where there is none, before a folder is made
    require_value(wanted.top >= 1, "--top", "at least 1", wanted.top)
    if not wanted.has_matrices and not layout.attention:
        raise UserError(f"no heads of {layout.architecture} were read, so --heads has nothing to show")


def choose_layers(layout: ModelLayout, text: str | None) -> tuple[int, ...]:
    """The layers that `0-5,8` names; all where nothing is said."""
    layers = {weight.layer for weight in layout.weights} | {head.layer for head in layout.attention}
    there = sorted(layer for layer in layers if layer is not None)
    if text is None:
        return tuple(there)
    asked = parse_layers(text)
    if strange := sorted(asked - set(there)):
        raise UserError(
            f"--layers asks for layer {strange[0]}, but the model has {_format_layer_range(there)}"
        )
    return tuple(sorted(asked))


def _format_layer_range(layers: Sequence[int]) -> str:
    """
    >>> _format_layer_range([]), _format_layer_range([0]), _format_layer_range([0, 1, 2])
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
            raise UserError(f"--layers must be numbers and ranges, such as 0-5,8, but it is '{text}'")
        layers |= set(range(int(ends[0]), int(ends[-1]) + 1))
    return layers


def choose_analysis_folder(out: str | Path | None, checkpoint: Checkpoint) -> Path:
    folder = Path(out) if out is not None else _choose_default_folder(checkpoint)
    refuse_file(folder)
    return folder


def _choose_default_folder(checkpoint: Checkpoint) -> Path:
    """spectra/ in a run folder, NAME.spectra/ beside the user otherwise."""
    run = Path(checkpoint.source).parent
    if checkpoint.kind == "glassformer" and (run / "run.toml").exists():
        refuse_links(run / "spectra")
        return run / "spectra"
    return Path(f"{Path(checkpoint.name).name}.spectra")
