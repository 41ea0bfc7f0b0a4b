"""A model reduced to its rank: fewer learned parameters, the same function, and a run that trains on from it.

MicroAdder's 57 parameters have rank 46: three are dead, eight redundant. 46 are left, and it is proved.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tomli_w

from glassformer.core.atomic import write_arrays, write_text
from glassformer.models.architecture import FixedEntry
from glassformer.models.constants import count_constants
from glassformer.models.model import Model
from glassformer.proofs.prove import prove_model
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import read_stored_run
from glassformer.runs.load import LoadedModel, make_file_metadata
from glassformer.runs.tree import to_tree
from glassformer.training.flat import make_flat_layout
from glassformer.training.settings import TrainSettings
from glassformer.training.setup import set_up_jax

_CONTEXTS = 12  # whose logits must stay: of an adder 110 each, many times the parameters of a small model
_NOISE = (
    0.001  # between the seeds of the run that trains on from the reduced model, a share of each parameter
)


@dataclass(frozen=True)
class PruneResult:
    """What `glassformer prune --json` prints."""

    target: str
    learned_before: int
    learned: int  # as many as the rank
    dead: list[str]  # fixed, without any effect: name[i,j] = value
    redundant: list[str]  # fixed, made up for by the others
    constants: int  # of the fixed ones, those that count (models/constants.py)
    change: float  # of the largest logit, before rounding
    verdict: str
    smallest_margin: float | None
    file: str
    run: str  # a TOML file that trains on from the reduced model
    seconds: float


def prune_model(loaded: LoadedModel, target: str, out: str | Path | None, seconds: float) -> PruneResult:
    """Reduce a model to its rank, write it, and prove it."""
    began = time.perf_counter()
    set_up_jax("cpu")
    from glassformer.training.reduce import reduce_model

    tokens, outputs = loaded.task.random_inputs(loaded.architecture.context, _CONTEXTS)
    found = reduce_model(loaded.architecture, dict(loaded.params), tokens, outputs)
    reduced = Model(found.architecture, found.params)
    path = _choose_pruned_file(loaded, found.rank, out)
    _write_reduced(loaded, reduced, path)
    proof = prove_model(reduced, loaded.task, loaded.data, str(path), False, seconds, None)
    return PruneResult(
        target=target,
        learned_before=make_flat_layout(loaded.architecture).size,
        learned=found.rank,
        dead=[_format_entry(one) for one in found.dead],
        redundant=[_format_entry(one) for one in found.redundant],
        constants=count_constants(found.architecture) - count_constants(loaded.architecture),
        change=found.change,
        verdict=proof.verdict,
        smallest_margin=proof.smallest_margin,
        file=str(path),
        run=str(path.with_suffix(".toml")),
        seconds=round(time.perf_counter() - began, 3),
    )


def _choose_pruned_file(loaded: LoadedModel, learned: int, out: str | Path | None) -> Path:
    path = Path(out) if out else Path(f"{loaded.name}-pruned-{learned}.safetensors")
    return path if path.suffix == ".safetensors" else path.with_name(f"{path.name}.safetensors")


def _write_reduced(loaded: LoadedModel, reduced: Model, path: Path) -> None:
    """The weights with their architecture, and the run beside them."""
    about = make_file_metadata(loaded.task, loaded.data, reduced.architecture)
    write_arrays(path, {name: np.asarray(array) for name, array in reduced.params.items()}, about)
    train = replace(_find_recipe(loaded), start_from=str(path), start_noise=_NOISE)
    run = Run(
        name=path.stem.replace(" ", "-"),
        about=f"{loaded.name}, reduced to its rank",
        task=loaded.task,
        data=loaded.data,
        model=reduced.architecture,
        train=train,
    )
    write_text(path.with_suffix(".toml"), tomli_w.dumps(to_tree(run)))


def _find_recipe(loaded: LoadedModel) -> TrainSettings:
    """How the model was trained, as far as that is known."""
    if loaded.folder:
        return read_stored_run(loaded.folder).train
    return CONFIGURATIONS[loaded.name].train if loaded.name in CONFIGURATIONS else TrainSettings()


def _format_entry(entry: FixedEntry) -> str:
    place = f"[{','.join(map(str, entry.place))}]" if entry.place else ""
    return f"{entry.name}{place} = {entry.value:g}"
