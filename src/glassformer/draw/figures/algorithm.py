"""The algorithm: the rule as five steps read off the geometry, each with what was measured of it.

Encode the tokens, detect that something is asked for, retrieve where it stands, carry it over, decide.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from glassformer.draw.measure.landscape import slice_through
from glassformer.draw.measure.rule_steps import carry, decide, detect, encode, retrieve
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import BODY, FOOT, SMALL, Frame, sheet, text_height
from glassformer.draw.parts.step_pictures import draw_entropies, draw_profile, draw_states, draw_table
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent, span_text
from glassformer.draw.theme import Theme, mixed
from glassformer.verify.share import Share

CARD, BETWEEN = 3.45, 0.3  # cm: the height of a card, and what parts two
PICTURE, WORDS = 5.2, 6.3  # cm: the widths of the picture and of the sentences
SHOWN = 500  # contexts whose states are drawn; all are measured


@dataclass(frozen=True, eq=False)
class Card:
    """One step: its name, what was measured, the number, and what the picture needs."""

    name: str
    sentence: str
    share: Share
    is_whole: bool  # all cases were counted: there is no interval
    picture: Data


def compute(subject: Subject) -> Data:
    steps: tuple[Callable[[Subject], Card], ...] = (encode_card,)
    if len(subject.trials):
        steps = (encode_card, detect_card, retrieve_card, carry_card, decide_card)
    return {
        "tokens": subject.tokens,
        "cards": [step(subject) for step in steps],
        "trials": len(subject.trials),
        "name": subject.name,
    }


def encode_card(subject: Subject) -> Card:
    found = encode(subject)
    plane = slice_through(found.apart, "e", "all e", subject.dims)
    points = plane(found.apart, np.arange(subject.context, dtype=float))
    return Card(
        "encode",
        "Which token is it, read off its vector e alone, whatever its place? The share of all "
        "token-position pairs that lie nearest to their own token's mean. Of places it is "
        f"{percent(found.place.value)}.",
        found.token,
        True,
        {
            "points": points.reshape(-1, 2),
            "kind": np.repeat(np.arange(len(points)), subject.context),
            "plane": plane,
        },
    )


def detect_card(subject: Subject) -> Card:
    found = detect(subject)
    said = (
        "Is something asked for? The share of contexts, half of them free, that the entropy of the "
        f"answer tells: below {found.threshold:.2g} nats something is, a threshold fitted on one half and "
        "measured on the other."
    )
    if not found.share.positions:
        said = "In the sequences drawn, every full window asks for something: there is nothing to detect."
    return Card(
        "detect", said, found.share, False, {"asked": found.asked, "free": found.free, "at": found.threshold}
    )


def retrieve_card(subject: Subject) -> Card:
    found = retrieve(subject)
    head = f"head {found.head} of {subject.heads}, the best one" if subject.heads > 1 else "the head"
    holds = f"; the place with the largest weight holds the token that is asked for in {percent(found.holds)}"
    is_one = bool((subject.trials.allowed.sum(1) == 1).all())
    return Card(
        "retrieve",
        "Where does it stand? The share of trials in which the source, the earliest token that is "
        f"needed, gets the largest weight of {head}. Its mean weight is {percent(found.weight)}"
        f"{holds if is_one else ''}.",
        found.share,
        False,
        {"profile": found.profile},
    )


def carry_card(subject: Subject) -> Card:
    found = carry(subject)
    plane = slice_through(found.states, "z", "all z", subject.dims)
    rows = np.linspace(0, len(found.states) - 1, min(SHOWN, len(found.states))).astype(int)
    others = " (or that nothing is)" if found.has_free else ""
    said = (
        f"What is asked for{others}, read off z, the state after attention? The share that lies nearest "
        f"to the mean of its own one of {len(found.classes)} demands: means of one half, share of the "
        f"other. The commonest demand has {percent(found.most_common)}."
    )
    if not found.share.positions:
        said = "All trials of this rule ask for the same: there is nothing to tell apart in z."
    return Card(
        "carry",
        said,
        found.share,
        False,
        {
            "points": plane(found.states[rows], np.arange(len(rows), dtype=float)),
            "kind": found.classes.argmax(1)[found.demand[rows]],
            "names": kind_names(subject.tokens, found.classes),
            "group": found.demand[rows],
            "plane": plane,
        },
    )


def decide_card(subject: Subject) -> Card:
    found = decide(subject)
    classes = np.unique(subject.trials.allowed, axis=0)
    order = np.argsort(classes.argmax(1), kind="stable")
    return Card(
        "decide",
        "What comes out of the feed-forward layer and the head? The share of answers that the rule "
        f"allows; the allowed tokens get {percent(found.probability)} of the probability on average.",
        found.share,
        False,
        {"table": found.table[order], "rows": [kind_names(subject.tokens, classes)[row] for row in order]},
    )


def kind_names(tokens: tuple[str, ...], classes: np.ndarray) -> list[str]:
    """`6`, `0 2 ...`, `any`: what each demand allows, in few letters."""
    found = []
    for allowed in classes:
        names = [tokens[token] for token in np.flatnonzero(allowed)]
        short = " ".join(names) if len(names) < 3 else f"{names[0]} {names[1]} ..."
        found.append("any" if len(names) == len(tokens) else short)
    return found


def draw(data: Data, theme: Theme) -> Figure:
    text = foot(data)
    below = text_height(text, SMALL, FOOT)
    paper = sheet(theme, len(data["cards"]) * (CARD + BETWEEN) + below, title(data))
    for index, card in enumerate(data["cards"]):
        frame = paper.part(0, index * (CARD + BETWEEN), paper.width, CARD)
        draw_card(frame, card, index + 1)
        drawers = {"encode": draw_states, "carry": draw_states, "detect": draw_entropies}
        drawer = (drawers | {"retrieve": draw_profile, "decide": draw_table})[card.name]
        drawer(
            frame.part(frame.width - PICTURE - 0.25, 0.2, PICTURE, CARD - 0.4), card.picture, data["tokens"]
        )
    paper.write(0, paper.height - below, text, SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    if not data["trials"]:
        return "The rule as steps: it has no trials, so that only the encoding can be measured"
    measured = [card for card in data["cards"] if card.share.positions]
    weakest = min(measured, key=lambda card: float(card.share.value))
    good = [card.name for card in measured if card.share.value >= 0.99]
    names = ", ".join(good) if good else "none"
    return (
        f"The rule as steps. At least 99% faithful: {names}; the weakest is {weakest.name} with "
        f"{percent(weakest.share.value)}"
    )


def foot(data: Data) -> str:
    return (
        f"Shares are of {data['trials']:,} trials, contexts of the rule's own sequences whose next token "
        "is constrained and told by the window, or of the half that nothing was fitted on, with exact 95% "
        "intervals, as if trials were independent (a sequence gives several). Colours are tokens' colours."
    )


def draw_card(frame: Frame, card: Card, number: int) -> None:
    """The card, its number, name, sentence and share."""
    theme = frame.theme
    axes = frame.axes(0, 0, frame.width, frame.height, zorder=-2)
    axes.set(xlim=(0, frame.width), ylim=(frame.height, 0))
    axes.axis("off")
    axes.add_patch(
        FancyBboxPatch(
            (0.06, 0.06), frame.width - 0.12, frame.height - 0.12, boxstyle="round,pad=0,rounding_size=0.18",
            facecolor=mixed(theme.zero, theme.paper, 0.6), edgecolor=theme.faint, linewidth=0.7,
        )
    )  # fmt: skip
    frame.write(0.4, 0.3, f"{number}  {card.name}", BODY + 2.5, weight="bold", color=theme.accent)
    frame.write(0.4, 0.95, card.sentence, BODY, width=WORDS)
    draw_share(frame.part(0.4 + WORDS + 0.4, 0.3, 3.2, CARD), card)


def draw_share(frame: Frame, card: Card) -> None:
    """The number, large, with its interval, or how many cases there are."""
    share, theme = card.share, frame.theme
    if not share.positions:
        frame.write(0, 0.6, "not measured", BODY, color=theme.muted)
        return
    used = frame.write(0, 0.5, percent(share.value), 17, weight="bold")
    size = f"all {share.positions:,} pairs" if card.is_whole else f"of {share.positions:,}"
    span = "" if card.is_whole else f"{span_text(share)}\n"
    frame.write(0, 0.55 + used, span + size, SMALL + 0.5, color=theme.muted)


def caption(data: Data) -> str:
    steps = " ".join(f"{card.name.capitalize()}: {card.sentence}" for card in data["cards"])
    return f"The rule as steps, measured on {data['name']}. {steps} {foot(data)}"
