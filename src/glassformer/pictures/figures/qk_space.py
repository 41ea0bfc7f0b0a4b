"""Q/K space: all queries and keys of a head in one plane, where a score is a product of two points.

The farther a key lies along a query, the higher its score; a longer query tells keys apart more sharply.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, pick_token_colour
from glassformer.core.words import format_decimals, format_percent
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import make_sheet, measure_foot_height, write_foot
from glassformer.pictures.parts.labels import Taken
from glassformer.pictures.parts.marks import draw_zero_lines, show_plane
from glassformer.pictures.parts.queries_keys_values import (
    HeadSide,
    choose_round_step,
    describe_side_planes,
    draw_named_cloud,
    format_head_title,
    make_head_side,
    make_marker_entry,
    measure_kept_share,
)
from glassformer.pictures.picture import Data

_MOST_ROWS = 40  # tokens that have a name beside their row
_MARKERS = {"q": "o", "k": "D"}
_ROW = 0.3  # cm: a token in the panel of the main direction
_UNLIKE = 4.0  # sides that differ more in length are drawn to scales of their own


def compute(subject: Subject) -> Data:
    subject.need_heads(2)
    heads = range(subject.heads)
    factors = [_compute_scale_factor(subject, head) for head in heads]
    planes = [subject.qk_plane(head) for head in heads]
    queries = [make_head_side("q", subject.queries(h) / factors[h], planes[h]) for h in heads]
    keys = [make_head_side("k", subject.keys(h) * factors[h], planes[h]) for h in heads]
    both = [{"q": q, "k": k} for q, k in zip(queries, keys, strict=True)]
    mains = [_find_main_direction(q, k) for q, k in zip(queries, keys, strict=True)]
    notes = [_describe_scale_factor(h, subject.heads, factors[h]) for h in heads if factors[h] != 1]
    return {
        "tokens": subject.tokens,
        "last": subject.places[-1],
        "scale": subject.attention.score_scale,
        "planes": planes,
        "queries": [q.points for q in queries],
        "keys": [k.points for k in keys],
        "along_queries": [q.vectors @ main[0] for q, main in zip(queries, mains, strict=True)],  # tok pos
        "along_keys": [k.vectors @ main[0] for k, main in zip(keys, mains, strict=True)],
        "kept": [measure_kept_share(subject, head, planes[head].directions) for head in heads],
        "kept_along": [measure_kept_share(subject, head, mains[head]) for head in heads],
        "ends": [
            _find_score_ends(subject, head) for head in heads
        ],  # tok 2: lowest and highest at the last position
        "note": "; ".join(filter(None, [describe_side_planes(subject, both, kinds="qk"), *notes])),
    }


def _compute_scale_factor(subject: Subject, head: int) -> float:
    """What queries are divided by and keys multiplied with, where one side would hide in the other."""
    q, k = (np.linalg.norm(part(head), axis=-1).max() for part in (subject.queries, subject.keys))
    ratio = max(float(q), 1e-9) / max(float(k), 1e-9)
    return 1.0 if 1 / _UNLIKE < ratio < _UNLIKE else choose_round_step(ratio**0.5, 1)


def _describe_scale_factor(head: int, heads: int, factor: float) -> str:
    longer, shorter = ("queries", "keys") if factor > 1 else ("keys", "queries")
    times = f"{max(factor, 1 / factor):g} times"
    text = f"{longer} are drawn {times} smaller and {shorter} {times} larger, so that both are seen"
    return format_head_title(head, heads, f"{text}; products stay")


def _find_main_direction(queries: HeadSide, keys: HeadSide) -> Float[np.ndarray, "1 dim"]:
    """The direction that holds most of the square sum of both, with its largest entry positive."""
    both = np.concatenate([queries.vectors, keys.vectors]).reshape(-1, queries.vectors.shape[-1])
    first = np.linalg.svd(both, full_matrices=False)[2][:1]
    return np.asarray(first * np.sign(first[0, np.abs(first[0]).argmax()]))


def _find_score_ends(subject: Subject, head: int) -> Float[np.ndarray, "tok 2"]:
    """The lowest and the highest score of each token's query at the last position, over every key."""
    scores = subject.scores(head)[:, -1].reshape(len(subject.tokens), -1)
    return np.stack([scores.min(1), scores.max(1)], 1)


def draw(data: Data, theme: Theme) -> Figure:
    heads, note = len(data["planes"]), measure_foot_height(data["note"])
    size, rows = (9.6 if heads == 1 else 16.4 / heads - 1.1), max(_ROW * len(data["tokens"]), 3.0)
    block = size + 1.75 + (0.0 if heads == 1 else rows + 1.6)
    paper = make_sheet(theme, block + note, title(data))
    for head in range(heads):
        left = 0.9 + head * 16.4 / heads
        _draw_queries_keys(paper.axes(left, 0.85, size, size), data, head, theme)
        below = (left, size + 2.6, size, rows) if heads > 1 else (left + size + 0.9, 0.85, 4.9, size)
        _draw_main_direction(paper.axes(*below), data, head, theme)
    write_foot(paper, data["note"])
    return paper.figure


def title(data: Data) -> str:
    """How much of the scores one direction explains."""
    kept = " and ".join(format_percent(share, 0) for share in data["kept_along"])
    heads = " (head by head)" if len(data["kept_along"]) > 1 else ""
    return (
        f"Every query and every key in one plane: a score is {data['scale']:.3g} q · k, and one direction "
        f"explains {kept}{heads} of the variance of the scores"
    )


def _draw_main_direction(axes: Axes, data: Data, head: int, theme: Theme) -> None:
    """Both sides along their main direction, one row per token: products of numbers on a line."""
    axes.axvline(0, color=theme.faint, linewidth=0.6, zorder=0)
    for row, token in enumerate(data["tokens"]):
        colour = pick_token_colour(token)
        for kind, shift in (("queries", -0.17), ("keys", 0.17)):
            along = data[f"along_{kind}"][head][row]
            sizes = np.r_[16.0, np.full(len(along) - 1, 7.0)]
            level = np.full(len(along), row + shift)
            axes.plot(along, level, color=colour, linewidth=0.5, alpha=0.55, zorder=2)
            axes.scatter(along, level, s=sizes, color=colour, marker=_MARKERS[kind[0]], linewidths=0.3,
                         edgecolors=theme.paper, zorder=3)  # fmt: skip
    axes.set_ylim(len(data["tokens"]) - 0.4, -0.6)
    axes.margins(x=0.06)
    step = -(-len(data["tokens"]) // _MOST_ROWS)
    axes.set_yticks(range(0, len(data["tokens"]), step), data["tokens"][::step])
    axes.set_xlabel("along the main direction of q and k")
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"token by token: {format_percent(data['kept_along'][head], 0)} of it")


def _describe_sharpest_query(data: Data, head: int) -> str:
    """Which query has the widest range of scores, and which the narrowest."""
    ends = data["ends"][head]
    order = np.argsort(np.ptp(ends, axis=1))
    most, least = (
        f"{data['tokens'][i]} (scores from {_format_score_span(ends[i])})" for i in (order[-1], order[0])
    )
    return f"At {data['last']} the query of {most} separates keys most, that of {least} least"


def _format_score_span(ends: Float[np.ndarray, "2"]) -> str:
    return " to ".join(format_decimals(float(end), 1) for end in ends)


def _draw_queries_keys(axes: Axes, data: Data, head: int, theme: Theme) -> None:
    """One head: queries as dots, keys as diamonds, each token named twice."""
    plane, queries, keys = data["planes"][head], data["queries"][head], data["keys"][head]
    show_plane(axes, plane, plane.limits(queries, keys, np.zeros((1, 2)), room=0.1))
    draw_zero_lines(axes, theme)
    many = len(data["planes"]) > 1
    name = f"products as drawn: {format_percent(data['kept'][head], 0)} of the variance"
    axes.set_title(format_head_title(head, len(data["planes"]), name), pad=16)
    taken: Taken = []
    size = 6.0 if many else 10.0
    draw_named_cloud(axes, queries, data["tokens"], theme, _MARKERS["q"], size, "q ", taken, keys)
    draw_named_cloud(axes, keys, data["tokens"], theme, _MARKERS["k"], size, "k ", taken, queries)
    keys_of_legend = [
        make_marker_entry(_MARKERS["q"], "queries", theme),
        make_marker_entry(_MARKERS["k"], "keys", theme),
    ]
    axes.legend(handles=keys_of_legend, loc="lower left", bbox_to_anchor=(-0.01, 0.99), ncol=2,
                borderpad=0.1, handletextpad=0.2, columnspacing=1.2)  # fmt: skip


def caption(data: Data) -> str:
    kept, along = (" and ".join(map(format_percent, data[name])) for name in ("kept", "kept_along"))
    heads = len(data["kept"])
    order = ", head by head" if heads > 1 else ""
    sharpest = " ".join(
        format_head_title(head, heads, f"{_describe_sharpest_query(data, head)}.") for head in range(heads)
    )
    return (
        "Queries (dots) and keys (diamonds) of every token at every position, in one plane per head, not "
        "centred. A line joins the positions of a token; the large marker is p0. A score is "
        f"{data['scale']:.3g} times the product of a query and a key. Products in the drawn plane explain "
        f"{kept} of the variance of the scores (R squared), those along the main direction alone {along}"
        f"{order}, over all pairs whose key is not later than the query. {sharpest} {data['note']}"
    )
