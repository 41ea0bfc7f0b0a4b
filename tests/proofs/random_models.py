"""Random models of many architectures, and questions that are made for them."""

from dataclasses import dataclass

import numpy as np

from glassformer.models.architecture import Architecture, Layer, Tie
from glassformer.models.attention import Attention
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.head import LinearHead, LowestHead, ParabolicHead, TiedHead
from glassformer.models.model import Model
from glassformer.models.norm import NoNorm, RMSNorm
from glassformer.models.position import CirclePosition, LearnedPosition, NoPosition, SinusoidalPosition
from glassformer.models.projection import FullProjection, RankOneProjection
from glassformer.models.relations import AlibiRelation, NoRelation, RopeRelation
from glassformer.proofs.enumeration import measure_answer_margins
from glassformer.tasks.question import Question

NUMBERS, K = 5, 3
EVERY = np.stack(np.unravel_index(np.arange(NUMBERS**K), (NUMBERS,) * K)).astype(np.int32)


def question_of(answers: np.ndarray) -> Question:
    """The answer to every prompt, written out."""

    @dataclass(frozen=True)
    class Written(Question):
        """Answers from a list."""

        name = "written"

        def slots(self):
            return (range(NUMBERS),) * K

        def begin(self):
            return ()

        def read(self, memory, token):
            return (*memory, token)

        def answer(self, memory):
            return int(answers[np.ravel_multi_index(memory, (NUMBERS,) * K)])

    return Written()


def draw_architecture(random: np.random.Generator) -> Architecture:
    """One layer that attends, with parts of every kind."""

    def pick(*kinds):
        return kinds[random.integers(len(kinds))]

    width = pick(2, 4, 6, 20)
    heads, value = pick((1, None), (1, 3), (1, 1), (2, 2))
    attention = Attention(
        heads=heads,
        head_size=pick(2, 4),
        value_size=value,
        out=FullProjection(),
        q=pick(FullProjection(), RankOneProjection()),
        relation=pick(NoRelation(), NoRelation(), RopeRelation(), AlibiRelation()),
        qk_norm=pick(NoNorm(), NoNorm(), RMSNorm()),
        softmax=pick("softmax", "softmax1"),
    )
    hidden = FeedForward(
        hidden=pick(3, 18), bend=pick("relu", "gelu", "silu"), gate=pick(None, FullProjection())
    )
    norms = {"attention_norm": pick(NoNorm(), RMSNorm()), "feedforward_norm": pick(NoNorm(), RMSNorm())}
    layer = Layer(attention, pick(None, hidden), residual=bool(random.integers(4)), **norms)
    heads_of = [LinearHead(), TiedHead(), ParabolicHead()] + [LowestHead(tokens=NUMBERS)] * (width >= NUMBERS)
    return Architecture(
        vocab=NUMBERS,
        context=K,
        width=width,
        position=pick(NoPosition(), LearnedPosition(), SinusoidalPosition(), CirclePosition()),
        layers=(layer,),
        final_norm=pick(NoNorm(), RMSNorm()),
        head=pick(*heads_of),
        ties=pick((), (Tie("attn.k.weight", "attn.q.weight"),)) if attention.q == FullProjection() else (),
        precision=pick("float32", "float32", "float64"),
    )


def draw_case(seed: int) -> tuple[Model, Question]:
    """A model, and a question that it answers rightly but for some prompts of some models."""
    random = np.random.default_rng(seed)
    shape = draw_architecture(random)
    size = random.choice([0.3, 1.0, 2.0])
    params = {name: size * random.normal(size=one.shape) for name, one in list_parameters(shape).items()}
    model = Model(shape, {name: array.astype(shape.precision) for name, array in params.items()})
    answers = model.logits(EVERY, 1)[:, 0].argmax(0)
    changed = random.random(len(answers)) < random.choice([0.0, 0.0, 0.02])
    return model, question_of(np.where(changed, (answers + 1) % NUMBERS, answers))


def run_alone(model: Model, tokens: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Margins of prompts that come one by one, which round in another order."""
    one = [measure_answer_margins(model, tokens[:, [at]], answers[[at]])[0] for at in range(len(answers))]
    return np.array(one)
