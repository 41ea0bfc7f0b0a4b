"""The named configurations of questions: `glassformer run max_of`, `run modular`, `run modular-11`.

What was tried for each, and how many seeds succeed, is in docs/questions.md.
"""

from glassformer.model.architecture import Architecture, Fixed, Layer
from glassformer.model.attention import Attention
from glassformer.model.feedforward import FeedForward
from glassformer.model.head import ParabolicHead
from glassformer.model.position import NoPosition
from glassformer.model.projection import Identity, Pattern
from glassformer.model.token import Quadratic
from glassformer.runs.config import Run
from glassformer.tasks import make_task
from glassformer.train.settings import Train

NUMBER = (1, 2)  # the dimension of the stream that holds a number
NOWHERE = Pattern(entries=("0 0",))  # no query and no key: every position gets the same attention


def small_adder() -> Architecture:
    """Six parameters: attention adds the two numbers, two hinges take the modulus off, a parabola reads."""
    attention = Attention(
        head_size=1,
        value_size=1,
        q=NOWHERE,
        k=NOWHERE,
        v=Identity(reads=NUMBER),
        out=Pattern(writes=NUMBER, entries=("-gain",)),
    )
    feedforward = FeedForward(
        hidden=2,
        up=Pattern(reads=NUMBER, entries=("1", "1"), bias=True),
        down=Pattern(writes=NUMBER, entries=("-rise rise",)),
    )
    return Architecture(
        context=3,
        width=2,
        token=Quadratic(),
        position=NoPosition(),
        layers=(Layer(attention, feedforward),),
        head=ParabolicHead(reads=1),
        fixed=(Fixed("token.c0"), Fixed("token.c1"), Fixed("head.shift")),
    )


QUESTIONS: dict[str, Run] = {
    run.name: run
    for run in (
        Run(
            "max_of",
            "The largest of 4 of 64 numbers: one attention layer of width 32 and no feed-forward layer, as "
            "in the literature on compact proofs.",
            make_task("max_of"),
            model=Architecture(context=4, width=32, layers=(Layer(Attention(head_size=32), None),)),
            train=Train(
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
            train=Train(
                seeds=4, steps=10_000, batch=512, peak_rate=3e-3, held_out=16_384, evaluate_every=500
            ),
        ),
        Run(
            "modular-11",
            "Addition modulo 11 with six parameters.",
            make_task("modular", p=11),
            model=small_adder(),
            train=Train(seeds=16, steps=5_000, batch=128, peak_rate=0.1, held_out=256),
        ),
    )
}
