"""Populations of trained adders at two digits, kept in a folder: models that are right, or nearly.

    python -m benchmarks.enumeration --train-only --trained trained --seeds 1024 --device gpu

The zoo ships trained weights for ten digits of base ten alone. Here each family is trained for two digits of
a base, with its recipe and fewer steps. Of microadder and glass every other seed starts from the shipped
weights, nudged, for few others learn. Of each population the seeds with the most sums right are kept, and of
those with all of them the ones with the widest margins: one file per family and base.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from glassformer.core.atomic import make_folder, read_arrays, write_arrays
from glassformer.models.architecture import Architecture, Layer
from glassformer.models.position import SpiralPosition
from glassformer.models.relations import RopeRelation
from glassformer.models.token import ArcTable
from glassformer.runs.adders import ADDERS
from glassformer.runs.load import load_model
from glassformer.tasks import Addition
from glassformer.training.settings import TrainSettings
from glassformer.zoo import ZOO

TRAINED = {"microadder": "microadder-57", "glass": "glass-29", "mirror": "glass-9", "rope": "rope-62"}
DIGITS, ZOO_DIGITS, ZOO_BASE = 2, 10, 10
STARTED = ("microadder", "glass")  # families of which every other seed starts from the shipped weights
NOISE = 0.1  # between these seeds, a share of each parameter
EMPTY = 2.0  # the turn after those of the columns
HEAVY_EMPTY = (
    1.85  # nearer, since there is one zero and not two: here the shipped weights are right as they are
)
KEPT = 16  # seeds of a population at the most
BATCH, HELD_OUT = 64, 4096  # sums
WARM_UP, EVALUATIONS = 0.05, 4  # share of the steps; stretches, after each of which seeds are scored
ONE_DIGIT, CARRIES, NO_CARRIES = 0.1, 0.3, 0.8  # shares of the steps: the curriculum, as for ten digits


@dataclass(frozen=True)
class TrainedSeeds:
    """What is left of a population."""

    architecture: Architecture
    task: Addition
    params: dict[str, np.ndarray]  # one row per kept seed, the best first
    right: np.ndarray  # of each, the share of held-out sums
    tried: int  # seeds that were trained

    def __len__(self) -> int:
        return len(self.right)

    def pick(self, row: int) -> dict[str, np.ndarray]:
        return {name: part[row] for name, part in self.params.items()}


def load_population(folder: Path, family: str, base: int) -> TrainedSeeds:
    """What `train_population` kept."""
    architecture, task = make_two_digit_adder(family, base)
    arrays, about = read_arrays(locate_population(folder, family, base))
    params = {name: part for name, part in arrays.items() if name != "right"}
    return TrainedSeeds(architecture, task, params, arrays["right"], about["tried"])


def locate_population(folder: Path, family: str, base: int) -> Path:
    return folder / f"{family}-{base}.safetensors"


def train_population(folder: Path, family: str, base: int, seeds: int, steps: int, device: str) -> None:
    """Train seeds 0, 1, ... of a family for two digits of a base; keep the best in a file of the folder."""
    from glassformer.tasks.sampler import SumSampler
    from glassformer.training.population import Population

    architecture, task = make_two_digit_adder(family, base)
    train = make_recipe(family, seeds, steps, device)
    source = SumSampler(plan_curriculum(task, steps))
    population = Population(architecture, source, train, np.arange(seeds))
    state = population.start()
    state = state._replace(vectors=start_vectors(np.array(state.vectors), family, base))
    for first, count in train.chunks():
        stretch = population.advance(state, first, count)
        state = stretch.state
    stretch = population.polished(state, rank_seeds(stretch.scores)[:KEPT])
    make_folder(folder)
    order, right = rank_seeds(stretch.scores)[:KEPT], np.asarray(stretch.scores.whole_accuracy)
    params = population.flat.unpack(np.asarray(stretch.state.vectors)[order])
    write_arrays(
        locate_population(folder, family, base),
        {name: np.asarray(part) for name, part in params.items()} | {"right": right[order]},
        {"tried": seeds, "steps": steps},
    )


def start_vectors(drawn: np.ndarray, family: str, base: int) -> np.ndarray:
    """Every other seed as it was drawn, the others from the shipped weights for ten digits, nudged."""
    if family not in STARTED:
        return drawn
    from glassformer.training.flat import make_flat_layout

    known = dict(load_model(TRAINED[family]).params)
    known["token.stride"] = known["token.stride"] * stretch_arc(base)
    vector = make_flat_layout(make_two_digit_adder(family, base)[0]).pack(known)
    nudges = np.random.default_rng(0).normal(size=drawn.shape)
    nudged = (vector * (1 + NOISE * nudges)).astype(drawn.dtype)
    return np.where(np.arange(len(drawn))[:, None] % 2 == 1, nudged, drawn)


def rank_seeds(scores: object) -> np.ndarray:
    """Seeds by the share of sums that are right, then by their smallest margin; the best first."""
    right, margin = (
        np.nan_to_num(np.asarray(getattr(scores, name)), nan=-np.inf)
        for name in ("whole_accuracy", "smallest_margin")
    )
    return np.lexsort((-margin, -right))


def make_recipe(family: str, seeds: int, steps: int, device: str) -> TrainSettings:
    """The family's own recipe at ten digits, in fewer steps."""
    return replace(
        ADDERS[TRAINED[family]].train,
        seeds=seeds,
        first_seed=0,
        steps=steps,
        evaluate_every=-(-steps // EVALUATIONS),
        warm_up=int(WARM_UP * steps),
        batch=BATCH,
        held_out=HELD_OUT,
        polish_steps=150,
        polish_seeds=KEPT,
        polish_batch=HELD_OUT,
        device=device,
    )


def plan_curriculum(task: Addition, steps: int) -> Addition:
    """One digit first, carries until late."""
    return replace(
        task,
        digit_stages=((int(ONE_DIGIT * steps), 1),),
        carry_until=int(CARRIES * steps),
        carry_gone=int(NO_CARRIES * steps),
    )


def make_two_digit_adder(family: str, base: int) -> tuple[Architecture, Addition]:
    """The family's architecture for two digits of a base."""
    entry = ZOO[TRAINED[family]]
    task, shape = replace(entry.task, digits=DIGITS, base=base), entry.architecture
    spare = shape.context - (entry.task.written().length - 1)  # MicroAdder has a position that nothing reads
    shape = replace(shape, vocab=len(task.tokens()), context=task.written().length - 1 + spare)
    if isinstance(shape.token, ArcTable):
        shape = replace(shape, token=replace(shape.token, stride=shape.token.stride * stretch_arc(base)))
    if isinstance(shape.position, SpiralPosition):
        shape = replace(shape, position=shorten_spiral(shape.position, family))
    return replace(shape, layers=tuple(route_layer(layer) for layer in shape.layers)), task


def stretch_arc(base: int) -> float:
    """By how much digits lie further apart: the highest of a base is where 9 is."""
    return (ZOO_BASE - 1) / (base - 1)


def shorten_spiral(position: SpiralPosition, family: str) -> SpiralPosition:
    """The turns of two columns, and a third for the mark between the numbers: a column of zeros."""
    slots, size = position.slots, ZOO_DIGITS
    columns, equals, rest = slots[:DIGITS], slots[2 * size + 1], slots[3 * size + 2 :]
    if family not in STARTED:  # a circle of three, on which `=` stands with the other mark
        return replace(position, period=DIGITS + 1.0, slots=(*columns, EMPTY, *columns, EMPTY, *columns))
    return replace(position, slots=(*columns, HEAVY_EMPTY, *columns, equals, *columns, *rest))


def route_layer(layer: Layer) -> Layer:
    """Rotary frequencies at which both digits of a column are the same turn away from their sum."""
    attention = layer.attention
    if attention is None or not isinstance(attention.relation, RopeRelation):
        return layer
    full_turn = 2 * math.pi / (DIGITS + 2)  # a number and two marks lie between the two digits
    relation = replace(attention.relation, frequencies=(full_turn, full_turn / 2))
    return replace(layer, attention=replace(attention, relation=relation))
