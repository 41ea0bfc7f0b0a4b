"""The strip at the foot of a video: held-out loss and rule error over all steps, with a cursor."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from glassformer.core.words import format_percent
from glassformer.pictures.parts.frame import BODY, Frame
from glassformer.pictures.video.checkpoints import VideoScores

if TYPE_CHECKING:
    from glassformer.pictures.video.stage import Mover

_Score = Literal["loss", "error"]

STRIP = 2.15  # cm, from under the panels to the foot of the page
_TOP, _HIGH, _LEFT, _GAP, _RIGHT = 0.5, 1.15, 1.0, 1.35, 0.35  # cm


def make_score_strip(foot: Frame, scores: VideoScores) -> "Mover":
    """Both curves side by side; the part that has gone by is drawn strong."""
    wide = (foot.width - _LEFT - _GAP - _RIGHT) / 2
    loss = _make_score_curve(foot, _LEFT, wide, scores, "loss", "held-out loss (nats)", "{:.3f}".format)
    error = _make_score_curve(
        foot, _LEFT + wide + _GAP, wide, scores, "error", f"held-out {scores.error_name}", format_percent
    )

    def move(index: int) -> None:
        loss(index)
        error(index)

    return move


def _make_score_curve(
    foot: Frame,
    x: float,
    wide: float,
    found: VideoScores,
    key: _Score,
    title: str,
    words: Callable[[float], str],
) -> "Mover":
    """One score of the chosen seed, with its number where the step was evaluated."""
    theme = foot.theme
    axes = foot.axes(x, _TOP, wide, _HIGH)
    every = found.loss if key == "loss" else found.error
    steps, scores = _drop_nonfinite_scores(found.score_steps, every)
    _frame_curve(axes, found.steps, scores, key)
    axes.set_title(title if len(steps) else f"{title}: no evaluations were kept", fontsize=BODY)
    axes.plot(steps, scores, color=theme.faint, linewidth=1.2)
    (past,) = axes.plot([], [], color=theme.accent, linewidth=1.2, animated=True)
    cursor = axes.axvline(0, color=theme.accent, linewidth=0.8, animated=True)
    (now,) = axes.plot([], [], "o", color=theme.accent, markersize=3.2, animated=True, clip_on=False)
    number = axes.text(
        1, 1 + 4 / (_HIGH * 72 / 2.54), "", transform=axes.transAxes, ha="right", va="baseline",
        fontsize=BODY, weight="bold", color=theme.accent, animated=True,
    )  # fmt: skip

    def move(index: int) -> None:
        step = found.steps[index]
        here = np.flatnonzero(steps == step)
        past.set_data(steps[steps <= step], scores[steps <= step])
        cursor.set_xdata([step, step])
        now.set_data(steps[here], scores[here])
        number.set_text(words(float(scores[here[0]])) if len(here) else "")
        for artist in (past, cursor, now, number):
            axes.draw_artist(artist)

    return move


def _drop_nonfinite_scores(
    steps: Float[np.ndarray, " step"], scores: Float[np.ndarray, " step"]
) -> tuple[np.ndarray, np.ndarray]:
    """A seed that diverged has scores that are no numbers; they are left out."""
    known = np.isfinite(scores)
    return steps[known], scores[known]


def _frame_curve(axes: Axes, steps: np.ndarray, scores: np.ndarray, key: _Score) -> None:
    """Limits over all steps and scores, with room for the dot."""
    first, last = float(steps[0]), float(steps[-1])
    room = 0.008 * max(last - first, 1.0)
    axes.set_xlim(first - room, last + room)
    low, high = (scores.min(), scores.max()) if len(scores) else (0.0, 1.0)
    if key == "error":
        low = 0.0
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    spare = 0.09 * max(high - low, 1e-6)
    axes.set_ylim(low - spare, high + spare)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
    axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
