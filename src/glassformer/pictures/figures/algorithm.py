"""The algorithm: the rule as five steps read off the geometry, each with what was measured of it.

Encode the tokens, detect that something is asked for, retrieve where it stands, carry it over, decide.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from glassformer.core.share import MeasuredShare
from glassformer.core.theme import Theme, mix_colours
from glassformer.core.words import format_interval, format_percent
from glassformer.pictures.measure.landscape import make_slice
from glassformer.pictures.measure.rule_steps import (
    measure_carrying,
    measure_decision,
    measure_detection,
    measure_encoding,
    measure_retrieval,
)
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import BODY, FOOT, SMALL, Frame, make_sheet, measure_text_height
from glassformer.pictures.parts.step_pictures import (
    DemandStates,
    DemandTable,
    DistanceProfile,
    StepEntropies,
    StepPicture,
    TokenStates,
    draw_step_picture,
)
from glassformer.pictures.picture import Data

_CARD, _BETWEEN = 3.45, 0.3  # cm: the height of a card, and what parts two
_PICTURE, _WORDS = 5.2, 6.3  # cm: the widths of the picture and of the sentences
_SHOWN = 500  # contexts whose states are drawn; all are measured


@dataclass(frozen=True, eq=False)
class _StepCard:
    """One step: its name, what was measured, the number, and what the picture needs."""

    name: str
    sentence: str
    share: MeasuredShare
    is_whole: bool  # all cases were counted: there is no interval
    picture: StepPicture


def compute(subject: Subject) -> Data:
    steps: tuple[Callable[[Subject], _StepCard], ...] = (_make_encode_card,)
    if len(subject.trials):
        steps = (
            _make_encode_card,
            _make_detect_card,
            _make_retrieve_card,
            _make_carry_card,
            _make_decide_card,
        )
    return {
        "tokens": subject.tokens,
        "cards": [step(subject) for step in steps],
        "trials": len(subject.trials),
        "name": subject.name,
    }


def _make_encode_card(subject: Subject) -> _StepCard:
    found = measure_encoding(subject)
    plane = make_slice(found.apart, "e", "all e", subject.dims)
    points = plane(found.apart, np.arange(subject.context, dtype=float))
    return _StepCard(
        "encode",
        "Which token is it, from its vector e alone, at any position? The share of all token-position "
        "pairs that are nearest to their own token's mean. For positions it is "
        f"{format_percent(found.place.value)}.",
        found.token,
        True,
        TokenStates(points.reshape(-1, 2), np.repeat(np.arange(len(points)), subject.context), plane),
    )


def _make_detect_card(subject: Subject) -> _StepCard:
    found = measure_detection(subject)
    said = (
        "Does the rule demand anything? The share of contexts, half of them free, that the entropy of the "
        f"answer classifies correctly: below {found.threshold:.2g} nats it does. The threshold is fitted on "
        "one half and measured on the other."
    )
    if not found.share.positions:
        said = "In the sampled sequences every full window has a demand: there is nothing to detect."
    entropies = StepEntropies(found.asked, found.free, found.threshold)
    return _StepCard("detect", said, found.share, False, entropies)


def _make_retrieve_card(subject: Subject) -> _StepCard:
    found = measure_retrieval(subject)
    head = f"head {found.head} of {subject.heads}, the best one" if subject.heads > 1 else "the head"
    holds = (
        f"; the position with the largest weight holds the demanded token in {format_percent(found.holds)}"
    )
    is_one = bool((subject.trials.allowed.sum(1) == 1).all())
    return _StepCard(
        "retrieve",
        "Where is the source? The share of trials in which the source, the earliest token that is "
        f"needed, gets the largest weight of {head}. Its mean weight is {format_percent(found.weight)}"
        f"{holds if is_one else ''}.",
        found.share,
        False,
        DistanceProfile(found.profile),
    )


def _make_carry_card(subject: Subject) -> _StepCard:
    found = measure_carrying(subject)
    plane = make_slice(found.states, "z", "all z", subject.dims)
    rows = np.linspace(0, len(found.states) - 1, min(_SHOWN, len(found.states))).astype(int)
    others = " (or nothing)" if found.has_free else ""
    said = (
        f"What does the rule demand{others}, from z, the state after attention? The share nearest to the "
        f"mean of their own demand ({len(found.classes)} demands): means from one half, share of the "
        f"other. The most common demand has {format_percent(found.most_common)}."
    )
    if not found.share.positions:
        said = "All trials of this rule demand the same: there is nothing to tell apart in z."
    return _StepCard(
        "carry",
        said,
        found.share,
        False,
        DemandStates(
            points=plane(found.states[rows], np.arange(len(rows), dtype=float)),
            kind=found.classes.argmax(1)[found.demand[rows]],
            names=_format_demand_kinds(subject.tokens, found.classes),
            group=found.demand[rows],
            plane=plane,
        ),
    )


def _make_decide_card(subject: Subject) -> _StepCard:
    found = measure_decision(subject)
    classes = np.unique(subject.trials.allowed, axis=0)
    order = np.argsort(classes.argmax(1), kind="stable")
    return _StepCard(
        "decide",
        "What comes out of the feed-forward layer and the head? The share of answers that the rule "
        f"allows; the allowed tokens get {format_percent(found.probability)} of the probability on average.",
        found.share,
        False,
        DemandTable(
            table=found.table[order],
            rows=[_format_demand_kinds(subject.tokens, classes)[row] for row in order],
        ),
    )


def _format_demand_kinds(tokens: tuple[str, ...], classes: np.ndarray) -> list[str]:
    """`6`, `0 2 ...`, `any`: what each demand allows, in few letters."""
    found = []
    for allowed in classes:
        names = [tokens[token] for token in np.flatnonzero(allowed)]
        short = " ".join(names) if len(names) < 3 else f"{names[0]} {names[1]} ..."
        found.append("any" if len(names) == len(tokens) else short)
    return found


def draw(data: Data, theme: Theme) -> Figure:
    text = _foot(data)
    below = measure_text_height(text, SMALL, FOOT)
    paper = make_sheet(theme, len(data["cards"]) * (_CARD + _BETWEEN) + below, title(data))
    for index, card in enumerate(data["cards"]):
        frame = paper.part(0, index * (_CARD + _BETWEEN), paper.width, _CARD)
        _draw_step_card(frame, card, index + 1)
        corner = frame.part(frame.width - _PICTURE - 0.25, 0.2, _PICTURE, _CARD - 0.4)
        draw_step_picture(corner, card.picture, data["tokens"])
    paper.write(0, paper.height - below, text, SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    if not data["trials"]:
        return "The rule as steps: it has no trials, so only the encoding can be measured"
    measured = [card for card in data["cards"] if card.share.positions]
    weakest = min(measured, key=lambda card: float(card.share.value))
    good = [card.name for card in measured if card.share.value >= 0.99]
    names = ", ".join(good) if good else "none"
    return (
        f"The rule as steps. At least 99% faithful: {names}; the weakest is {weakest.name} with "
        f"{format_percent(weakest.share.value)}"
    )


def _foot(data: Data) -> str:
    return (
        f"Shares are of {data['trials']:,} trials, contexts of the rule's own sequences whose next token "
        "is constrained and determined by the window, or of the half not used for fitting, with exact 95% "
        "intervals, as if trials were independent (a sequence gives several). Colours are those of tokens."
    )


def _draw_step_card(frame: Frame, card: _StepCard, number: int) -> None:
    """The card, its number, name, sentence and share."""
    theme = frame.theme
    axes = frame.axes(0, 0, frame.width, frame.height, zorder=-2)
    axes.set(xlim=(0, frame.width), ylim=(frame.height, 0))
    axes.axis("off")
    axes.add_patch(
        FancyBboxPatch(
            (0.06, 0.06), frame.width - 0.12, frame.height - 0.12, boxstyle="round,pad=0,rounding_size=0.18",
            facecolor=mix_colours(theme.zero, theme.paper, 0.6), edgecolor=theme.faint, linewidth=0.7,
        )
    )  # fmt: skip
    frame.write(0.4, 0.3, f"{number}  {card.name}", BODY + 2.5, weight="bold", color=theme.accent)
    frame.write(0.4, 0.95, card.sentence, BODY, width=_WORDS)
    _write_card_share(frame.part(0.4 + _WORDS + 0.4, 0.3, 3.2, _CARD), card)


def _write_card_share(frame: Frame, card: _StepCard) -> None:
    """The number, large, with its interval, or how many cases there are."""
    share, theme = card.share, frame.theme
    if not share.positions:
        frame.write(0, 0.6, "not measured", BODY, color=theme.muted)
        return
    used = frame.write(0, 0.5, format_percent(share.value), 17, weight="bold")
    size = f"all {share.positions:,} pairs" if card.is_whole else f"of {share.positions:,}"
    span = "" if card.is_whole else f"{format_interval(share)}\n"
    frame.write(0, 0.55 + used, span + size, SMALL + 0.5, color=theme.muted)


def caption(data: Data) -> str:
    steps = " ".join(f"{card.name.capitalize()}: {card.sentence}" for card in data["cards"])
    return f"The rule as steps, measured on {data['name']}. {steps} {_foot(data)}"
