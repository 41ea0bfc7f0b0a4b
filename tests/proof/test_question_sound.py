"""Random models of many architectures: what is called proved is right on every prompt, however it is run.

The question is made for the model: its answers are what the model says, so that many classes are right and
margins come as close to 0 as chance has it; some answers are then made wrong.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from glassformer.model.architecture import Architecture, Layer, Tie
from glassformer.model.attention import Attention
from glassformer.model.feedforward import FeedForward
from glassformer.model.forward import parameters
from glassformer.model.head import LinearHead, LowestHead, ParabolicHead, TiedHead
from glassformer.model.model import Model
from glassformer.model.norm import NoNorm, RMSNorm
from glassformer.model.position import Alibi, Circle, Learned, NoPosition, NoRelation, Rope, Sinusoidal
from glassformer.model.projection import Full, RankOne
from glassformer.proof import question as proving
from glassformer.proof.enumeration import margins_of_answers
from glassformer.proof.question import prove_question
from glassformer.proof.question_bound import prove_classes, tabulate_prompts
from glassformer.proof.question_rounding import bound_margins
from glassformer.proof.tables import NotProvableError
from glassformer.tasks import Prompts, tabulate
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
        out=Full(),
        q=pick(Full(), RankOne()),
        relation=pick(NoRelation(), NoRelation(), Rope(), Alibi()),
        qk_norm=pick(NoNorm(), NoNorm(), RMSNorm()),
        softmax=pick("softmax", "softmax1"),
    )
    hidden = FeedForward(hidden=pick(3, 18), bend=pick("relu", "gelu", "silu"), gate=pick(None, Full()))
    norms = {"attention_norm": pick(NoNorm(), RMSNorm()), "feedforward_norm": pick(NoNorm(), RMSNorm())}
    layer = Layer(attention, pick(None, hidden), residual=bool(random.integers(4)), **norms)
    heads_of = [LinearHead(), TiedHead(), ParabolicHead()] + [LowestHead(tokens=NUMBERS)] * (width >= NUMBERS)
    return Architecture(
        vocab=NUMBERS,
        context=K,
        width=width,
        position=pick(NoPosition(), Learned(), Sinusoidal(), Circle()),
        layers=(layer,),
        final_norm=pick(NoNorm(), RMSNorm()),
        head=pick(*heads_of),
        ties=pick((), (Tie("attn.k.weight", "attn.q.weight"),)) if attention.q == Full() else (),
        precision=pick("float32", "float32", "float64"),
    )


def draw_case(seed: int) -> tuple[Model, Question]:
    """A model, and a question that it answers rightly but for some prompts of some models."""
    random = np.random.default_rng(seed)
    shape = draw_architecture(random)
    size = random.choice([0.3, 1.0, 2.0])
    params = {name: size * random.normal(size=one.shape) for name, one in parameters(shape).items()}
    model = Model(shape, {name: array.astype(shape.precision) for name, array in params.items()})
    answers = model.logits(EVERY, 1)[:, 0].argmax(0)
    changed = random.random(len(answers)) < random.choice([0.0, 0.0, 0.02])
    return model, question_of(np.where(changed, (answers + 1) % NUMBERS, answers))


@pytest.fixture
def bounding(monkeypatch):
    """Bounds are used even where all prompts could be run at once."""
    monkeypatch.setattr(proving, "FEW", 0)


def run_alone(model: Model, tokens: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Margins of prompts that come one by one, which round in another order."""
    one = [margins_of_answers(model, tokens[:, [at]], answers[[at]])[0] for at in range(len(answers))]
    return np.array(one)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_proved_is_right_on_every_prompt(bounding, seed):
    model, question = draw_case(seed)
    answers = Prompts(tabulate(question)).answers(EVERY)
    together, alone = margins_of_answers(model, EVERY, answers), run_alone(model, EVERY, answers)
    least = np.minimum(together, alone)
    proof = prove_question(model, question)
    low, high = proof.exact_error["count_low"], proof.exact_error["count_high"]
    assert low <= (alone <= 0).sum() <= high or low <= (together <= 0).sum() <= high
    if proof.verdict == "proved":
        assert (least > 0).all() and low == high == 0
        assert proof.margin_bound <= least.min() + 1e-4
        assert proof.smallest_margin == pytest.approx(least.min(), rel=1e-3, abs=1e-3)
    if proof.verdict == "refuted":
        assert (least <= 0).any() and proof.counterexample


@pytest.mark.parametrize("seed", range(60))
def test_a_class_is_proved_only_where_all_its_prompts_are_right(seed):
    model, question = draw_case(seed)
    prompts = Prompts(tabulate(question))
    answers = prompts.answers(EVERY)
    margin = np.minimum(margins_of_answers(model, EVERY, answers), run_alone(model, EVERY, answers))
    try:
        tables = tabulate_prompts(model, prompts)
    except NotProvableError:
        return
    for asked in (0.0, 0.1):
        proved = prove_classes(tables, prompts, asked)
        assert (margin[proved[EVERY[-1], answers]] > max(0.0, asked - 1e-3)).all()


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("apart", [False, True])
def test_no_run_has_a_smaller_margin_than_its_bound(seed, apart):
    model, question = draw_case(seed)
    few = EVERY[:, ::5]
    answers = Prompts(tabulate(question)).answers(few)
    bound = bound_margins(model, few, answers, apart)
    finer = Model(replace(model.architecture, precision="float64"), model.params)
    for found in (margins_of_answers(model, few, answers), run_alone(model, few, answers)):
        assert (bound <= found).all()
    assert (bound <= margins_of_answers(finer, few, answers)).all()


def test_random_models_have_proved_classes_and_close_margins():
    """Otherwise the tests above would say nothing."""
    verdicts = {prove_question(*draw_case(seed)).verdict for seed in range(60)}
    proved = 0
    for seed in range(20):
        model, question = draw_case(seed)
        try:
            tables = tabulate_prompts(model, Prompts(tabulate(question)))
        except NotProvableError:
            continue
        proved += int(prove_classes(tables, Prompts(tabulate(question))).sum())
    assert {"proved", "refuted"} <= verdicts
    assert proved > 20


@pytest.mark.parametrize("few", [0, 1 << 16])
def test_margins_that_rounding_may_undo_are_not_proved(monkeypatch, few):
    """Tokens 0 and 1 have nearly the same logits: right by less than 32 terms may be off in another order."""
    monkeypatch.setattr(proving, "FEW", few)
    layer = Layer(Attention(head_size=4, value_size=4, out=Full()), None)
    shape = Architecture(vocab=NUMBERS, context=K, width=32, layers=(layer,))
    random = np.random.default_rng(0)
    params = {name: random.normal(size=one.shape) for name, one in parameters(shape).items()}
    params["head.bias"] = np.array([100.0, 100.0, 0.0, 0.0, 0.0])
    params["head.weight"][1] = params["head.weight"][0] * (1 - 1e-7)
    model = Model(shape, {name: array.astype("float32") for name, array in params.items()})
    question = question_of(model.logits(EVERY, 1)[:, 0].argmax(0))
    proof = prove_question(model, question)
    assert proof.verdict != "proved"
    if proof.verdict == "undecided":
        assert "rounding may undo the margins of" in proof.reason and proof.classes["undecided"] > 0
