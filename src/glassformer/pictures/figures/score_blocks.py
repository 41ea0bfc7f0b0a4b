"""Score blocks: every query against every key, token by token, and inside each block position by position.

Row (4, p3) and column (6, p1) hold the score of query 4 at p3 with key 6 at p1; later keys are blank.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.core.words import format_percent
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame, make_sheet
from glassformer.pictures.parts.matrices import draw_heatmap, draw_scale_bar
from glassformer.pictures.parts.queries_keys_values import (
    compute_r_squared,
    format_head_title,
    make_seen_mask,
)
from glassformer.pictures.picture import Data

_LARGEST, _PAGE_HEIGHT = 10.2, 20.0  # cm: the side of the whole matrix; what a sheet may take


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    masked = [_mask_later_scores(subject, head) for head in range(subject.heads)]
    return {
        "tokens": subject.tokens,
        "places": subject.places,
        "scores": masked,  # tok pos tok pos, nan where the key is later
        "by_token": [np.nanmean(scores, (1, 3)) for scores in masked],  # tok tok
        "by_place": [_compute_position_means(scores) for scores in masked],  # pos pos
        "token_share": [
            _measure_explained_share(scores, np.nanmean(scores, (1, 3), keepdims=True)) for scores in masked
        ],
        "place_share": [
            _measure_explained_share(scores, _compute_position_means(scores)[None, :, None])
            for scores in masked
        ],
    }


def _mask_later_scores(subject: Subject, head: int) -> Float[np.ndarray, "tok pos tok pos"]:
    seen = make_seen_mask(subject.context)[None, :, None]
    return np.where(seen, np.asarray(subject.scores(head), np.float64), np.nan)


def _compute_position_means(scores: Float[np.ndarray, "tok pos tok pos"]) -> Float[np.ndarray, "pos pos"]:
    """Over the tokens of both sides; later positions, where all are blank, stay blank."""
    return np.asarray(scores.mean((0, 2)))


def _measure_explained_share(
    scores: Float[np.ndarray, "tok pos tok pos"], means: Float[np.ndarray, "_ _ _ _"]
) -> float:
    """Share of the variance of the scores that some means account for."""
    seen = np.isfinite(scores)
    return compute_r_squared(scores[seen], np.broadcast_to(means, scores.shape)[seen])


def draw(data: Data, theme: Theme) -> Figure:
    heads = len(data["scores"])
    size = min(_LARGEST, _PAGE_HEIGHT / heads - 1.35)
    block = size + 1.35
    paper = make_sheet(theme, heads * block - 0.3, title(data))
    for head in range(heads):
        _draw_head_scores(paper.part(0, head * block, paper.width, block), data, head, size)
    return paper.figure


def title(data: Data) -> str:
    """What decides a score: which two tokens meet, or where they stand."""
    token, place = (
        " and ".join(format_percent(share, 0) for share in data[f"{kind}_share"])
        for kind in ("token", "place")
    )
    count = sum(int(np.isfinite(scores).sum()) for scores in data["scores"])
    heads = " (head by head)" if len(data["scores"]) > 1 else ""
    return (
        f"All {count:,} scores: the pair of tokens explains {token} of the variance, "
        f"the pair of positions {place}{heads}"
    )


def _draw_head_scores(part: Frame, data: Data, head: int, size: float) -> None:
    """The whole matrix, and its means by token and by position on the same scale."""
    tokens, places, theme = data["tokens"], data["places"], part.theme
    largest = float(np.nanmax(np.abs(data["scores"][head])))
    _draw_score_blocks(part.axes(0.75, 1.0, size, size), data, head, largest, theme)
    left = 0.75 + size + 1.9
    wide, high = part.width - left - 0.05, (size - 1.25) / 2
    means = (("mean by token", data["by_token"], tokens), ("mean by position", data["by_place"], places))
    for row, (name, values, names) in enumerate(means):
        axes = part.axes(left, 1.0 + row * (high + 1.25), wide, high)
        image = draw_heatmap(axes, values[head], theme, names, names, largest=largest)
        axes.set_title(name, pad=14)
    draw_scale_bar(part.axes(0.75 + size + 0.2, 1.0, 0.16, size), image, theme)


def _draw_score_blocks(axes: Axes, data: Data, head: int, largest: float, theme: Theme) -> None:
    """Queries downwards, keys across: one block per pair of tokens, one cell per pair of positions."""
    tokens, context = data["tokens"], len(data["places"])
    count = len(tokens) * context
    draw_heatmap(axes, data["scores"][head].reshape(count, count), theme, largest=largest, numbers=False)
    middles = np.arange(len(tokens)) * context + (context - 1) / 2
    axes.set_xticks(middles, tokens)
    axes.set_yticks(middles, tokens)
    borders = np.arange(1, len(tokens)) * context - 0.5
    axes.hlines(borders, -0.5, count - 0.5, color=theme.faint, linewidth=0.5)
    axes.vlines(borders, -0.5, count - 0.5, color=theme.faint, linewidth=0.5)
    text = f"queries down, keys across; in a block {data['places'][0]} to {data['places'][-1]}"
    axes.set_title(format_head_title(head, len(data["scores"]), text), pad=14)


def caption(data: Data) -> str:
    return (
        "The score of every query (rows) for every key (columns), scale included: blocks are tokens, cells "
        "inside a block are positions, both in order. Pairs whose key is later than the query are blank and "
        "count in no mean. Right: the means over positions for each pair of tokens, and over tokens for each "
        "pair of positions, on the same scale. The shares are R squared of these means over all unmasked "
        "pairs. A constant added to a row does not change attention, because softmax depends on differences."
    )
