"""`glassformer prune`: fewer learned numbers, the same function, proved again; and a run to go on with.

MicroAdder's 57 numbers have rank 46: three are dead, eight redundant. 46 are left, and it is proved.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tomli_w

from glassformer.model.architecture import Fixed
from glassformer.model.model import Model
from glassformer.proof.prove import prove_model
from glassformer.runs.atomic import write_arrays, write_text
from glassformer.runs.config import Run
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.folder import stored
from glassformer.runs.load import Loaded, load
from glassformer.runs.tree import to_tree
from glassformer.train.flat import flat_of
from glassformer.train.settings import Train
from glassformer.train.setup import set_up_jax

CONTEXTS = 12  # whose logits must stay: of an adder 110 each, many times the numbers of a small model
NOISE = 0.001  # between the seeds of the run that goes on from the reduced model, a share of each number


@dataclass(frozen=True)
class PruneResult:
    """What `glassformer prune --json` prints."""

    target: str
    learned_before: int
    learned: int  # as many as the rank
    dead: list[str]  # fixed, without any effect: name[i,j] = value
    redundant: list[str]  # fixed, made up for by the others
    constants: int  # of the fixed ones, those that are not 0
    change: float  # of the largest logit, before rounding
    verdict: str
    smallest_margin: float | None
    file: str
    run: str  # a TOML file that trains on from the reduced model
    seconds: float


def prune(
    target: str, out: str | None = None, model: str | None = None, seconds: float = 60.0
) -> PruneResult:
    """Reduce a model to its rank, write it, and prove it."""
    began = time.perf_counter()
    loaded = load(target, model)
    set_up_jax("cpu")
    from glassformer.train.reduce import reduce_model

    tokens, outputs = loaded.task.random_inputs(loaded.architecture.context, CONTEXTS)
    found = reduce_model(loaded.architecture, dict(loaded.params), tokens, outputs)
    reduced = Model(found.architecture, found.params)
    path = file_for(loaded, found.rank, out)
    write_reduced(loaded, reduced, path)
    proof = prove_model(reduced, loaded.task, loaded.data, str(path), False, seconds, None)
    fixed = (*found.dead, *found.redundant)
    return PruneResult(
        target=target,
        learned_before=flat_of(loaded.architecture).size,
        learned=found.rank,
        dead=[words_of(one) for one in found.dead],
        redundant=[words_of(one) for one in found.redundant],
        constants=sum(one.value != 0 for one in fixed),
        change=found.change,
        verdict=proof.verdict,
        smallest_margin=proof.smallest_margin,
        file=str(path),
        run=str(path.with_suffix(".toml")),
        seconds=round(time.perf_counter() - began, 3),
    )


def file_for(loaded: Loaded, learned: int, out: str | None) -> Path:
    path = Path(out) if out else Path(f"{loaded.name}-pruned-{learned}.safetensors")
    return path if path.suffix == ".safetensors" else path.with_name(f"{path.name}.safetensors")


def write_reduced(loaded: Loaded, reduced: Model, path: Path) -> None:
    """The weights with their architecture, and the run beside them."""
    about = {
        "format": 1,
        "task": to_tree(loaded.task),
        "data": to_tree(loaded.data),
        "model": to_tree(reduced.architecture),
    }
    write_arrays(path, {name: np.asarray(array) for name, array in reduced.params.items()}, about)
    train = replace(recipe_of(loaded), start_from=str(path), start_noise=NOISE)
    run = Run(
        name=path.stem.replace(" ", "-"),
        about=f"{loaded.name}, reduced to its rank",
        task=loaded.task,
        data=loaded.data,
        model=reduced.architecture,
        train=train,
    )
    write_text(path.with_suffix(".toml"), tomli_w.dumps(to_tree(run)))


def recipe_of(loaded: Loaded) -> Train:
    """How the model was trained, as far as that is known."""
    if loaded.folder:
        return stored(loaded.folder).train
    return CONFIGURATIONS[loaded.name].train if loaded.name in CONFIGURATIONS else Train()


def words_of(entry: Fixed) -> str:
    place = f"[{','.join(map(str, entry.place))}]" if entry.place else ""
    return f"{entry.name}{place} = {entry.value:g}"


def prune_words(result: PruneResult) -> str:
    margin = "" if result.smallest_margin is None else f", smallest margin {result.smallest_margin:.4g}"
    lines = [f"{result.target}: {result.learned_before} learned numbers, {result.learned} are enough"]
    lines += [f"dead: {one}" for one in result.dead]
    lines += [f"redundant: {one}" for one in result.redundant]
    lines += [f"fixed at another value than 0: {result.constants}, which count as constants"]
    lines += [f"logits changed by {result.change:.1e} of the largest", f"{result.verdict}{margin}"]
    lines += [f"{result.file}, with its architecture", f"next: glassformer run {result.run}"]
    return "\n".join(lines)
