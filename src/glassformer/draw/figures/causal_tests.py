"""Causal tests: what happens to the answers when one thing inside the model is changed.

Each row changes thousands of trials in one way; the bar is the share of answers that do what is counted.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.draw.measure.changes import ALIKE, all_patches
from glassformer.draw.measure.interventions import Outcome, forward_with, outcome
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import BODY, FOOT, SMALL, Frame, sheet, text_height
from glassformer.draw.parts.marks import arrow, token_row
from glassformer.draw.picture import Data
from glassformer.draw.shares import percent, span_text
from glassformer.draw.theme import Theme

ROW = 1.78  # cm: the height of a test
TEXT, EXAMPLE, BARS = 4.7, 5.9, 3.3  # cm: widths of the columns
SHOWN = 10  # the last places of an example; longer contexts do not fit


def compute(subject: Subject) -> Data:
    patches = all_patches(subject) if len(subject.trials) else []
    done = [outcome(subject, patch) for patch in patches if len(patch.which)]
    return {
        "tokens": subject.tokens,
        "tests": [test_data(subject, found) for found in done],
        "missing": [patch.name for patch in patches if not len(patch.which)],
        "trials": len(subject.trials),
        "heads": subject.heads,
        "context": subject.context,
    }


def test_data(subject: Subject, found: Outcome) -> Data:
    patch = found.patch
    return {
        "name": patch.name,
        "done": patch.done,
        "counted": patch.counted,
        "before": found.before,
        "after": found.after,
        "chance": found.chance,
        "example": example(subject, found),
    }


def example(subject: Subject, found: Outcome) -> Data:
    """A trial that ends as most of them do, the place in question among those shown."""
    patch, rows = found.patch, np.arange(len(found.answers))
    follows = patch.target[rows, found.answers]
    marked = patch.marked if patch.marked is not None else np.full(len(rows), subject.context - 1)
    is_seen = marked >= subject.context - SHOWN
    sorted_tokens = np.sort(patch.contexts[:, -SHOWN:], axis=1)
    different = (np.diff(sorted_tokens, axis=1) > 0).sum(1)
    index = int(np.lexsort((different, is_seen, follows == (found.after.value >= 0.5)))[-1])
    one = slice(index, index + 1)
    used: dict[str, Any] = {}
    weights = None if patch.weights is None else patch.weights[:, one].repeat(2, 1)
    embedded = None if patch.embedded is None else patch.embedded[one].repeat(2, 0)
    forward_with(subject.model, patch.contexts[one].repeat(2, 0), weights, embedded, used.__setitem__)
    return {
        "tokens": [subject.tokens[token] for token in patch.contexts[index][-SHOWN:]],
        "weights": np.mean([weight[0, -SHOWN:, 0] for weight in used.values()], 0),
        "marked": int(marked[index]) - subject.context + min(SHOWN, subject.context),
        "changed": bool((patch.contexts[index] != subject.trials.contexts[patch.which[index]]).any()),
        "answers": [subject.tokens[int(said[index])] for said in (found.old_answers, found.answers)],
    }


def draw(data: Data, theme: Theme) -> Figure:
    text = foot(data)
    below = text_height(text, SMALL, FOOT)
    paper = sheet(theme, 0.55 + ROW * len(data["tests"]) + below + 0.2, title(data))
    if data["tests"]:
        draw_heads(paper, data)
    for index, test in enumerate(data["tests"]):
        draw_test(paper.part(0, 0.55 + index * ROW, paper.width, ROW), test, is_first=index == 0)
    paper.write(0, paper.height - below, text, SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    by_name = {test["name"]: test["after"].value for test in data["tests"]}
    if not by_name:
        return "The rule has no trials: there is no answer that a change inside the model could turn"
    hidden = f"hide it from attention and {percent(by_name['hide the source'])} of the answers are right"
    if "swap the source" in by_name:
        return f"Swap the source and {percent(by_name['swap the source'])} of the answers follow; {hidden}"
    alike = f"; {percent(by_name[ALIKE])} with {ALIKE}" if ALIKE in by_name else ""
    return f"No swap of the source is known to make the rule ask for something else; {hidden}{alike}"


def foot(data: Data) -> str:
    missing = f" Not possible here: {', '.join(data['missing'])}." if data["missing"] else ""
    heads = " In all heads alike; the weights shown are the heads' mean." if data["heads"] > 1 else ""
    return (
        "The source is the earliest token that the answer hangs on (triangle: the place that a test is "
        "about). Small bars under the tokens: attention of the last place. Grey: before the change, blue: "
        "after it, with the exact 95% interval (as if trials were independent); dotted: any token by chance. "
        f"Examples end as most trials do.{heads}{missing}"
    )


def draw_heads(paper: Frame, data: Data) -> None:
    places = min(SHOWN, data["context"])
    which = f"example: the last {places} places" if data["context"] > SHOWN else "example"
    unit = EXAMPLE / (SHOWN + 4.2)
    muted: dict[str, Any] = {"color": paper.theme.muted}
    paper.write(TEXT + unit * (SHOWN - places + 0.25), 0, which, SMALL + 0.5, **muted)
    paper.write(TEXT + unit * (SHOWN + 2.45), 0, "before, after", SMALL + 0.5, ha="center", **muted)
    paper.write(TEXT + EXAMPLE + 0.6, 0, "share of answers that are ...", SMALL + 0.5, **muted)


def draw_test(frame: Frame, test: Data, is_first: bool) -> None:
    """One row: words, an example, bars."""
    theme = frame.theme
    used = frame.write(0, 0.1, test["name"], BODY, weight="bold")
    frame.write(0, 0.14 + used, test["done"], SMALL, width=TEXT - 0.35, color=theme.muted)
    draw_example(frame.axes(TEXT, 0.05, EXAMPLE, ROW - 0.1), test["example"], theme)
    bars = frame.part(TEXT + EXAMPLE + 0.6, 0.1, BARS, ROW - 0.2)
    used = bars.write(0, 0, f"... {test['counted']}", SMALL, width=frame.width - TEXT - EXAMPLE - 0.9)
    draw_shares(bars.axes(0, used + 0.1, BARS, 0.62), test, theme)
    after = test["after"]
    frame.write(
        TEXT + EXAMPLE + BARS + 0.75, used + 0.17, f"{percent(after.value)}", BODY + 1.5, weight="bold"
    )
    span = f"{span_text(after)}\nof {after.positions:,}"
    frame.write(TEXT + EXAMPLE + BARS + 0.75, used + 0.56, span, SMALL, color=theme.muted)
    if not is_first:
        line = frame.axes(0, 0, frame.width, 0.01)
        line.axis("off")
        line.axhline(0, color=theme.faint, linewidth=0.6)


def draw_example(axes: Axes, shown: Data, theme: Theme) -> None:
    """Tokens, the attention on each, and the answer before and after."""
    count = len(shown["tokens"])
    left = float(SHOWN - count)  # short contexts end where long ones do
    unit = EXAMPLE / (SHOWN + 4.2)
    axes.set(xlim=(-0.7, SHOWN + 3.5), ylim=(-2.2, (ROW - 0.1) / unit - 2.2))
    axes.axis("off")
    edges = [theme.paper] * count
    if shown["changed"] and shown["marked"] >= 0:
        edges[shown["marked"]] = theme.bad
    token_row(axes, shown["tokens"], theme, edges=edges, left=left)
    for place, weight in enumerate(shown["weights"], SHOWN - count):
        axes.add_patch(
            Rectangle((place - 0.4, -0.6 - 1.3 * weight), 0.8, 1.3 * weight, color=theme.high, linewidth=0)
        )
        axes.plot([place - 0.4, place + 0.4], [-0.6, -0.6], color=theme.faint, linewidth=0.6)
    if shown["marked"] >= 0:
        axes.plot(left + shown["marked"], 0.85, marker="v", markersize=3.2, color=theme.ink, linewidth=0)
    token_row(axes, shown["answers"][:1], theme, left=SHOWN + 0.9)
    token_row(axes, shown["answers"][1:], theme, left=SHOWN + 2.6)
    arrow(axes, np.array([SHOWN + 1.45, 0.0]), np.array([SHOWN + 2.05, 0.0]), theme.muted)


def draw_shares(axes: Axes, test: Data, theme: Theme) -> None:
    """Before and after as bars with their intervals."""
    axes.set(xlim=(0, 1), ylim=(0, 1))
    for (low, high), share, colour in (
        ((0.72, 0.98), test["before"], theme.muted),
        ((0.06, 0.62), test["after"], theme.accent),
    ):
        axes.add_patch(Rectangle((0, low), share.value, high - low, color=colour, alpha=0.85, linewidth=0))
        axes.plot([share.low, share.high], [(low + high) / 2] * 2, color=theme.ink, linewidth=1.0, zorder=3)
    axes.axvline(test["chance"], color=theme.ink, linewidth=0.8, linestyle=":", zorder=4)
    axes.set_xticks([0, 0.5, 1], [])
    axes.set_yticks([])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def caption(data: Data) -> str:
    said = " ".join(
        f"{test['name'].capitalize()}: {percent(test['after'].value)} of {test['after'].positions:,} "
        f"({test['counted']}; before, {percent(test['before'].value)})."
        for test in data["tests"]
    )
    return (
        f"Interventions on {data['trials']:,} trials, run through the model's own layers with one thing "
        f"changed; a test leaves out the trials that it cannot be done to. {said} {foot(data)}"
    )
