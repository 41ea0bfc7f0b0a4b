"""The trained adders as named configurations: the zoo says what each one is, this file how it is trained.

`glassformer run glass-39 --seeds 64` trains 64 seeds of 39 numbers for 60,000 steps of 256 sums.
"""

from dataclasses import replace

from glassformer.runs.config import Run
from glassformer.train.settings import Train
from glassformer.zoo import ZOO, glass, microadder, rope
from glassformer.zoo.entry import Entry

# MicroAdder's published recipe, and a polish: L-BFGS on one batch mends the last wrong cells that Adam leaves
# and widens the margins. 16,384 held-out sums tell seeds apart that miss one in ten thousand.
MICROADDER = Train(
    seeds=64,
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
ROPE = replace(MICROADDER, batch=128, peak_rate=0.01, final_rate=0.02)
AMPLIFIED = replace(ROPE, grokfast_decay=0.98, grokfast_gain=2.0)


def trained(entry: Entry, train: Train) -> Run:
    return Run(name=entry.id, about=entry.about, task=entry.task, model=entry.architecture, train=train)


RECIPES: dict[str, Train] = {
    **{entry.id: MICROADDER for entry in (*microadder.ENTRIES, *glass.ENTRIES)},
    **{entry.id: ROPE for entry in rope.ENTRIES},
    **dict.fromkeys(("rope-44", "rope-41", "rope-36"), AMPLIFIED),
}
ADDERS: dict[str, Run] = {name: trained(ZOO[name], train) for name, train in RECIPES.items()}
