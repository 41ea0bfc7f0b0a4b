"""The named configurations of questions: `glassformer run max_of`, `run modular`, `run modular-11`.

What was tried for each, and how many seeds succeed, is in docs/questions.md.
"""

from glassformer.models.architecture import Architecture, FixedEntry, Layer
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.head import ParabolicHead
from glassformer.models.position import NoPosition
from glassformer.models.projection import IdentityProjection, PatternProjection
from glassformer.models.token import QuadraticTable
from glassformer.runs.config import Run
from glassformer.tasks import make_task
from glassformer.training.settings import TrainSettings

_NUMBER = (1, 2)  # the dimension of the stream that holds a number
_NOWHERE = PatternProjection(entries=("0 0",))  # no query and no key: every position gets the same attention


def make_modular_adder() -> Architecture:
    """Six parameters: attention adds the two numbers, two hinges take the modulus off, a parabola reads."""
    attention = Attention(
        head_size=1,
        value_size=1,
        q=_NOWHERE,
        k=_NOWHERE,
        v=IdentityProjection(reads=_NUMBER),
        out=PatternProjection(writes=_NUMBER, entries=("-gain",)),
    )
    feedforward = FeedForward(
        hidden=2,
        up=PatternProjection(reads=_NUMBER, entries=("1", "1"), bias=True),
        down=PatternProjection(writes=_NUMBER, entries=("-rise rise",)),
    )
    return Architecture(
        context=3,
        width=2,
        token=QuadraticTable(),
        position=NoPosition(),
        layers=(Layer(attention, feedforward),),
        head=ParabolicHead(reads=1),
        fixed=(FixedEntry("token.c0"), FixedEntry("token.c1"), FixedEntry("head.read", value=1.0)),
    )


QUESTIONS: dict[str, Run] = {
    run.name: run
    for run in (
        Run(
            "max_of",
            "The largest of four numbers from 0 to 63: one attention layer of width 32, no feed-forward "
            "layer, as in the literature on compact proofs.",
            make_task("max_of"),
            model=Architecture(context=4, width=32, layers=(Layer(Attention(head_size=32), None),)),
            train=TrainSettings(
                seeds=4, steps=10_000, batch=512, peak_rate=1e-3, held_out=16_384, evaluate_every=500
            ),
        ),
        Run(
            "modular",
            "Addition modulo 113: one layer of width 32, four heads, 128 hidden units, trained on all pairs.",
            make_task("modular"),
            model=Architecture(
                context=3,
                width=32,
                layers=(Layer(Attention(heads=4, head_size=8), FeedForward(hidden=128)),),
            ),
            train=TrainSettings(
                seeds=4, steps=10_000, batch=512, peak_rate=3e-3, held_out=16_384, evaluate_every=500
            ),
        ),
        Run(
            "modular-11",
            "Addition modulo 11 with six parameters: two ReLU units subtract the modulus.",
            make_task("modular", p=11),
            model=make_modular_adder(),
            train=TrainSettings(seeds=16, steps=5_000, batch=128, peak_rate=0.1, held_out=256),
        ),
    )
}
