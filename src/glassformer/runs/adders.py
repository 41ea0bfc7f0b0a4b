"""The trained adders as named configurations: the zoo says what each one is, this file how it is trained.

`glassformer run glass-39` trains eight seeds of 39 parameters for 60,000 steps of 256 sums, and polishes
them.
"""

import re
from dataclasses import replace

from glassformer.runs.config import Run
from glassformer.training.settings import TrainSettings
from glassformer.zoo import ZOO, any_length, glass, microadder, mirror, pure, rope
from glassformer.zoo.entry import ZooEntry

# MicroAdder's published recipe, and a polish: L-BFGS on one batch mends the last wrong cells that Adam leaves
# and widens the margins. 16,384 held-out sums tell seeds apart that miss one in ten thousand.
_MICROADDER = TrainSettings(
    seeds=8,
    steps=60_000,
    batch=256,
    evaluate_every=2_000,
    held_out=16_384,
    peak_rate=0.02,
    warm_up=1_000,
    final_rate=0.1,
    weight_decay=0.01,
    polish_steps=150,
)
# With 29 parameters and fewer no seed is right before the polish; after a long one most of the better ones
# are.
_SMALL = replace(_MICROADDER, polish_steps=1_000)
# On the circle of eleven, and with columns counted, a third of the steps, and of the curriculum, is enough.
_QUICK = replace(_MICROADDER, steps=20_000)
# With an arc of radius 1 no parameter scales the logits: the loss does.
_SHARP = replace(_QUICK, logit_factor=300.0)
# Weight decay keeps the arc and the last gain of the RoPE family small, and its sums vague.
_ROPE = replace(_MICROADDER, batch=128, peak_rate=0.01, final_rate=0.02, weight_decay=0.0)
_AMPLIFIED = replace(_ROPE, grokfast_decay=0.98, grokfast_gain=2.0)

_RECIPES: dict[str, TrainSettings] = {
    **{entry.id: _MICROADDER for entry in (*microadder.ENTRIES, *glass.ENTRIES, *mirror.ENTRIES)},
    **dict.fromkeys(("glass-29", "glass-23", "glass-16"), _SMALL),
    **dict.fromkeys(("glass-10", "glass-9", "glass-8"), _QUICK),
    **{entry.id: _QUICK for entry in (*any_length.ENTRIES, *pure.ENTRIES)},
    **dict.fromkeys(("pure-5", "double-5", "binary-5"), _SHARP),
    **{entry.id: _ROPE for entry in rope.ENTRIES},
    **dict.fromkeys(("rope-44", "rope-41", "rope-36"), _AMPLIFIED),
}

# Few seeds learn addition. A thousand and more were tried on a GPU (docs/adders.md), and the eight that
# `glassformer run` trains begin where some do. For the odds take all: `--seed 0 --seeds 1024`.
_FIRST_SEEDS = {
    "microadder-57": 488,
    "microadder-62": 0,
    "microadder-67": 513,
    "microadder-74": 471,
    "glass-54": 488,
    "glass-47": 490,
    "glass-39": 780,
    "glass-29": 220,
    "glass-23": 752,
    "glass-16": 30,
    "glass-10": 845,
    "glass-8": 5,
    "any-8": 164,
    "any-7": 19,
    "any-6": 507,
    "pure-6": 52,
    "pure-5": 17,
    "minus-6": 52,
}


def begins_where_some_succeed(run: Run) -> bool:
    """Were this run's seeds chosen after a search, so that its share of successes is no rate?"""
    return run.train.first_seed > 0 and run.train.first_seed == _FIRST_SEEDS.get(run.name)


def _make_adder_run(entry: ZooEntry, train: TrainSettings) -> Run:
    train = replace(train, first_seed=_FIRST_SEEDS.get(entry.id, 0))
    task = entry.task
    if _RECIPES[entry.id].steps == _QUICK.steps:
        task = replace(task, carry_until=5_000, carry_gone=15_000)
    about = _describe_recipe(entry.about)
    return Run(name=entry.id, about=about, task=task, model=entry.architecture, train=train)


def _describe_recipe(about: str) -> str:
    """What every run may say of itself: how the zoo's weights were trained, and what is proved, is theirs.

    >>> _describe_recipe("8 learned parameters, trained on ten digits; proved right for every length")
    '8 learned parameters'
    """
    return re.sub(r"[,;] [^,;]*\b(proved|trained on)\b[^,;]*", "", about)


ADDERS: dict[str, Run] = {name: _make_adder_run(ZOO[name], train) for name, train in _RECIPES.items()}
