"""Causal tests: what happens to the answers when one thing inside the model is changed.

Each row changes thousands of trials in one way; the bar is the share of answers that do what is counted.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from glassformer.core.theme import Theme, name_colour
from glassformer.core.words import format_interval, format_percent
from glassformer.pictures.measure.changes import ALIKE, list_patches
from glassformer.pictures.measure.interventions import PatchOutcome, compute_patched_logits, run_patch
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import BODY, FOOT, SMALL, Frame, make_sheet, measure_text_height
from glassformer.pictures.parts.marks import draw_data_arrow, draw_token_row
from glassformer.pictures.picture import Data

_ROW = 1.78  # cm: the height of a test
_TEXT, _EXAMPLE, _BARS = 4.7, 5.9, 3.3  # cm: widths of the columns
_SHOWN = 10  # the last positions of an example; longer contexts do not fit


def compute(subject: Subject) -> Data:
    patches = list_patches(subject) if len(subject.trials) else []
    done = [run_patch(subject, patch) for patch in patches if len(patch.which)]
    return {
        "tokens": subject.tokens,
        "tests": [_collect_test_data(subject, found) for found in done],
        "missing": [patch.name for patch in patches if not len(patch.which)],
        "trials": len(subject.trials),
        "heads": subject.heads,
        "context": subject.context,
    }


def _collect_test_data(subject: Subject, found: PatchOutcome) -> Data:
    patch = found.patch
    return {
        "name": patch.name,
        "done": patch.done,
        "counted": patch.counted,
        "before": found.before,
        "after": found.after,
        "chance": found.chance,
        "example": _choose_example_trial(subject, found),
    }


def _choose_example_trial(subject: Subject, found: PatchOutcome) -> Data:
    """A trial that ends as most of them do, the position in question among those shown."""
    patch, rows = found.patch, np.arange(len(found.answers))
    follows = patch.target[rows, found.answers]
    marked = patch.marked if patch.marked is not None else np.full(len(rows), subject.context - 1)
    is_seen = marked >= subject.context - _SHOWN
    sorted_tokens = np.sort(patch.contexts[:, -_SHOWN:], axis=1)
    different = (np.diff(sorted_tokens, axis=1) > 0).sum(1)
    index = int(np.lexsort((different, is_seen, follows == (found.after.value >= 0.5)))[-1])
    one = slice(index, index + 1)
    used: dict[str, Any] = {}
    weights = None if patch.weights is None else patch.weights[:, one].repeat(2, 1)
    embedded = None if patch.embedded is None else patch.embedded[one].repeat(2, 0)
    compute_patched_logits(
        subject.model, patch.contexts[one].repeat(2, 0), weights, embedded, used.__setitem__
    )
    return {
        "tokens": [subject.tokens[token] for token in patch.contexts[index][-_SHOWN:]],
        "weights": np.mean([weight[0, -_SHOWN:, 0] for weight in used.values()], 0),
        "marked": int(marked[index]) - subject.context + min(_SHOWN, subject.context),
        "changed": bool((patch.contexts[index] != subject.trials.contexts[patch.which[index]]).any()),
        "answers": [subject.tokens[int(said[index])] for said in (found.old_answers, found.answers)],
    }


def draw(data: Data, theme: Theme) -> Figure:
    text = _foot(data)
    below = measure_text_height(text, SMALL, FOOT)
    paper = make_sheet(theme, 0.55 + _ROW * len(data["tests"]) + below + 0.2, title(data))
    if data["tests"]:
        _draw_column_headings(paper, data)
    for index, test in enumerate(data["tests"]):
        _draw_test_row(paper.part(0, 0.55 + index * _ROW, paper.width, _ROW), test, is_first=index == 0)
    paper.write(0, paper.height - below, text, SMALL, width=FOOT, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    by_name = {test["name"]: test["after"].value for test in data["tests"]}
    if not by_name:
        return "The rule has no trials: there is no answer that a change inside the model could change"
    hidden = (
        f"hide it from attention and {format_percent(by_name['hide the source'])} of the answers are right"
    )
    if "swap the source" in by_name:
        return (
            f"Swap the source and {format_percent(by_name['swap the source'])} of "
            f"the answers follow; {hidden}"
        )
    alike = f"; {format_percent(by_name[ALIKE])} with {ALIKE}" if ALIKE in by_name else ""
    return f"No swap of the source is known to change what the rule demands; {hidden}{alike}"


def _foot(data: Data) -> str:
    missing = f" Not possible here: {', '.join(data['missing'])}." if data["missing"] else ""
    heads = (
        " All heads are changed in the same way; the weights shown are their mean."
        if data["heads"] > 1
        else ""
    )
    return (
        "The source is the earliest token that the answer depends on (triangle: the position that is "
        "changed). Bars under the tokens: attention of the last position. "
        f"{name_colour('muted').capitalize()}: before the change; {name_colour('accent')}: "
        "after it, with the exact 95% interval (as if trials were independent); dotted: chance. "
        f"Examples end as most trials do.{heads}{missing}"
    )


def _draw_column_headings(paper: Frame, data: Data) -> None:
    places = min(_SHOWN, data["context"])
    which = f"example: the last {places} positions" if data["context"] > _SHOWN else "example"
    unit = _EXAMPLE / (_SHOWN + 4.2)
    muted: dict[str, Any] = {"color": paper.theme.muted}
    paper.write(_TEXT + unit * (_SHOWN - places + 0.25), 0, which, SMALL + 0.5, **muted)
    paper.write(_TEXT + unit * (_SHOWN + 2.45), 0, "before, after", SMALL + 0.5, ha="center", **muted)
    paper.write(_TEXT + _EXAMPLE + 0.6, 0, "share of answers that are ...", SMALL + 0.5, **muted)


def _draw_test_row(frame: Frame, test: Data, is_first: bool) -> None:
    """One row: words, an example, bars."""
    theme = frame.theme
    used = frame.write(0, 0.1, test["name"], BODY, weight="bold")
    frame.write(0, 0.14 + used, test["done"], SMALL, width=_TEXT - 0.35, color=theme.muted)
    _draw_example_trial(frame.axes(_TEXT, 0.05, _EXAMPLE, _ROW - 0.1), test["example"], theme)
    bars = frame.part(_TEXT + _EXAMPLE + 0.6, 0.1, _BARS, _ROW - 0.2)
    used = bars.write(0, 0, f"... {test['counted']}", SMALL, width=frame.width - _TEXT - _EXAMPLE - 0.9)
    _draw_test_bars(bars.axes(0, used + 0.1, _BARS, 0.62), test, theme)
    after = test["after"]
    frame.write(
        _TEXT + _EXAMPLE + _BARS + 0.75,
        used + 0.17,
        f"{format_percent(after.value)}",
        BODY + 1.5,
        weight="bold",
    )
    span = f"{format_interval(after)}\nof {after.positions:,}"
    frame.write(_TEXT + _EXAMPLE + _BARS + 0.75, used + 0.56, span, SMALL, color=theme.muted)
    if not is_first:
        line = frame.axes(0, 0, frame.width, 0.01)
        line.axis("off")
        line.axhline(0, color=theme.faint, linewidth=0.6)


def _draw_example_trial(axes: Axes, shown: Data, theme: Theme) -> None:
    """Tokens, the attention on each, and the answer before and after."""
    count = len(shown["tokens"])
    left = float(_SHOWN - count)  # short contexts end where long ones do
    unit = _EXAMPLE / (_SHOWN + 4.2)
    axes.set(xlim=(-0.7, _SHOWN + 3.5), ylim=(-2.2, (_ROW - 0.1) / unit - 2.2))
    axes.axis("off")
    edges = [theme.paper] * count
    if shown["changed"] and shown["marked"] >= 0:
        edges[shown["marked"]] = theme.bad
    draw_token_row(axes, shown["tokens"], theme, edges=edges, left=left)
    for place, weight in enumerate(shown["weights"], _SHOWN - count):
        axes.add_patch(
            Rectangle((place - 0.4, -0.6 - 1.3 * weight), 0.8, 1.3 * weight, color=theme.high, linewidth=0)
        )
        axes.plot([place - 0.4, place + 0.4], [-0.6, -0.6], color=theme.faint, linewidth=0.6)
    if shown["marked"] >= 0:
        axes.plot(left + shown["marked"], 0.85, marker="v", markersize=3.2, color=theme.ink, linewidth=0)
    draw_token_row(axes, shown["answers"][:1], theme, left=_SHOWN + 0.9)
    draw_token_row(axes, shown["answers"][1:], theme, left=_SHOWN + 2.6)
    draw_data_arrow(axes, np.array([_SHOWN + 1.45, 0.0]), np.array([_SHOWN + 2.05, 0.0]), theme.muted)


def _draw_test_bars(axes: Axes, test: Data, theme: Theme) -> None:
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
        f"{test['name'].capitalize()}: {format_percent(test['after'].value)} of {test['after'].positions:,} "
        f"({test['counted']}; before, {format_percent(test['before'].value)})."
        for test in data["tests"]
    )
    return (
        f"Interventions on {data['trials']:,} trials, run through the model's own layers with one thing "
        f"changed; a test leaves out the trials that it cannot be done to. {said} {_foot(data)}"
    )
