"""What is known of all pairs: the verdict, the margins that it rests on, and the worst pair worked out."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.core.theme import Theme, pick_text_colour
from glassformer.core.words import (
    format_percent,
    format_power,
    format_scientific,
    format_significant,
    format_trimmed,
    lower_digits,
)
from glassformer.models.adding import write_sum
from glassformer.pictures.parts.frame import Frame, measure_text_width
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.sample import compute_signed_margins
from glassformer.pictures.poster.style import (
    SIZE,
    add_canvas,
    draw_round_box,
    draw_token_cell,
    format_cell_token,
    format_fitting_number,
    open_axes,
    set_few_ticks,
    write_centred_text,
    write_paragraph,
)
from glassformer.pictures.poster.sums import TRIED, Sums
from glassformer.pictures.poster.verdict_facts import describe_longer_sums, list_verdict_facts
from glassformer.proofs.verdict import ALL_INPUTS
from glassformer.proofs.verdict_words import describe_undecided
from glassformer.proofs.window import find_window

_FAR = 1e3  # times the median: margins so far from the others need a scale of powers
_STAMP = {"proved": "PROVED", "refuted": "REFUTED", "undecided": "UNDECIDED", "not_applicable": "NOT PROVED"}
_ROWS = {"carry": 0.65, "a": 1.15, "+ b": 1.7, "right": 2.35, "the model writes": 2.95, "margin": 3.6}  # cm


def compute(sums: Sums) -> Data:
    pair = _choose_worst_pair(sums)
    shown_subject = sums if pair == sums.pair else sums.with_pair(pair)
    return _collect_findings(sums) | _measure_random_pairs(sums) | _work_out_pair(shown_subject)


def _collect_findings(sums: Sums) -> Data:
    """What the findings say of all pairs."""
    findings = sums.findings
    worst = np.full(sums.steps, np.nan)
    for one in findings.steps:
        worst[sums.columns[one.step]] = one.margin
    return {
        "verdict": findings.verdict,
        "pairs": format_power(2 * sums.task.digits, sums.task.base),
        "is_every_length": sums.findings.inputs == ALL_INPUTS,
        "window": _find_proved_window(sums),
        "digits": sums.task.digits,
        "arithmetic": findings.arithmetic,
        "smallest": findings.smallest_margin,
        "rounding": findings.rounding_bound,
        "classes": dict(findings.classes),
        "source": findings.source,
        "reason": describe_undecided(findings),
        "worst": worst,
        "is_hardest": findings.hardest_step is not None,
        "tried": TRIED,
    }


def _find_proved_window(sums: Sums) -> tuple[int, int, int] | None:
    """Of a proof for every length: columns down, columns up, and the longest numbers that were decided."""
    if sums.findings.inputs != ALL_INPUTS or sums.findings.verdict != "proved":
        return None
    window = find_window(sums.model)
    return window.below, window.above, max(window.longest, sums.trained_digits)


def _measure_random_pairs(sums: Sums) -> Data:
    """What random pairs say."""
    sample = sums.sample
    random = np.zeros((sums.steps, 4))
    random[list(sums.columns)] = np.percentile(sample.margins, [0, 5, 50, 95], axis=0).T
    return {
        "random": random,  # column: smallest, 5%, median, 95%
        "wrong": int((~sample.is_right).sum()),
        "sums": len(sample.z),
    }


def _work_out_pair(sums: Sums) -> Data:
    """The adder's own pair, column by column, units first."""
    x, y, z = sums.digits
    columns = list(sums.columns)
    written, margins = np.zeros(len(z), np.int64), np.zeros(len(z))
    written[columns] = [digit.token for digit in sums.sum.digits]
    margins[columns] = compute_signed_margins(sums.logits, z[columns])
    return {
        "pair": sums.pair,
        "expected": sums.sum.expected,
        "got": str(sums.sum.got),
        "x": x, "y": y, "z": z, "carry": sums.carry,
        "written": written,
        "names": tuple(sums.token_name(token) for token in range(sums.architecture.vocab)),
        "margins": margins,
    }  # fmt: skip


def _choose_worst_pair(sums: Sums) -> tuple[int, int]:
    """The counterexample or the hardest pair; the adder's own where none is known here."""
    if sums.findings.wrong_pair:
        return sums.findings.wrong_pair if _fails_here(sums) else sums.pair
    hardest = sums.findings.hardest_step
    return (hardest.a, hardest.b) if hardest else sums.tried or sums.pair


def _fails_here(sums: Sums) -> bool:
    """Whether the counterexample comes out wrong at the length that is drawn."""
    digits = (sums.findings.counterexample or {}).get("digits", sums.task.digits)
    longest = max(sums.findings.wrong_pair or (0,))
    is_other = digits != sums.task.digits
    return not is_other or (
        longest < sums.task.base**sums.task.digits
        and not write_sum(sums.model, sums.task, *(sums.findings.wrong_pair or (0, 0))).right
    )


def _name_proved(data: Data) -> str:
    return "Right at every length" if data["is_every_length"] else f"Right on all {data['pairs']} pairs"


def title(data: Data) -> str:
    a, b = data["pair"]
    if data["verdict"] == "proved":
        worst = int(np.argmin(data["margins"]))
        known = (
            "even in the hardest" if data["is_hardest"] else f"even in the worst of {data['tried']:,} tried"
        )
        return (
            f"{_name_proved(data)}: {known}, {a} + {b}, digit "
            f"{lower_digits(f'z{worst}')} has a margin of {format_significant(float(data['margins'][worst]))}"
        )
    if data["verdict"] == "refuted" and data["got"] == str(data["expected"]):
        return f"Refuted by numbers of another length; {a} + {b}, drawn here, is right"
    if data["verdict"] == "refuted":
        return f"Wrong: {a} + {b} is {data['expected']}, and the model writes {data['got']}"
    said = f"right on {a} + {b}" if data["got"] == str(data["expected"]) else f"wrong on {a} + {b}"
    return f"Neither proved nor refuted; {said}, the worst of {data['tried']:,} hard pairs tried"


def draw(frame: Frame, data: Data) -> None:
    _draw_stamp(add_canvas(frame, 0, 0.15, 5.2, 1.6), data, frame)
    write_paragraph(frame, 0, 1.85, 5.2, list_verdict_facts(data))
    _draw_margins(frame.axes(6.6, 0.55, 9.6, 3.35), data, frame)
    _draw_worst_pair(add_canvas(frame, 0, 4.9, frame.width, 4.4), data, frame)


def _draw_stamp(axes: Axes, data: Data, frame: Frame) -> None:
    theme = frame.theme
    colour = {"proved": theme.good, "refuted": theme.bad}.get(data["verdict"], theme.muted)
    text = _STAMP[data["verdict"]]
    draw_round_box(axes, 0.03, 0.05, 5.0, 1.45, colour, radius=0.2)
    size = 22.0
    while measure_text_width(text, size, "bold") > 4.5:
        size -= 1
    write_centred_text(axes, 2.53, 0.62, text, size, weight="bold", color=pick_text_colour(colour))
    about = format_stamp(data)
    write_centred_text(axes, 2.53, 1.17, about, 8, color=pick_text_colour(colour))


def format_stamp(data: Data) -> str:
    if data["verdict"] == "proved":
        return (
            "for numbers of every length"
            if data["is_every_length"]
            else f"on all {data['pairs']} pairs of numbers"
        )
    if data["verdict"] == "refuted" and data["wrong"]:
        return f"wrong on {format_percent(data['wrong'] / data['sums'], 0)} of random pairs"
    return "by the pair below" if data["verdict"] == "refuted" else f"on {data['pairs']} pairs of numbers"


def _draw_margins(axes: Axes, data: Data, frame: Frame) -> None:
    """Margins of every answer digit: random pairs as whiskers, the worst of all as a dot."""
    theme, columns = frame.theme, np.arange(len(data["z"]))
    smallest, low, middle, high = data["random"].T
    axes.vlines(columns, smallest, high, color=theme.faint, linewidth=2)
    axes.vlines(columns, low, high, color=theme.muted, linewidth=5, alpha=0.55)
    axes.plot(columns, middle, linestyle="none", marker="_", markersize=8, color=theme.ink)
    worst = data["worst"] if np.isfinite(data["worst"]).any() else data["margins"]
    colours = [theme.good if value > 0 else theme.bad for value in worst]
    axes.scatter(columns, worst, s=26, c=colours, zorder=4, edgecolors=theme.paper, linewidths=0.6)
    values = np.concatenate([data["random"].ravel(), worst[np.isfinite(worst)]])
    _scale_margins(axes, values, theme)
    axes.set_xticks(columns, [lower_digits(f"z{column}") for column in columns])
    axes.set_xlim(-0.6, len(columns) - 0.4)
    has_worst = np.isfinite(data["worst"]).any()
    which = "the worst of all pairs" if has_worst else "the pair below"
    words = f"random pairs (bar: 5% to 95%), and {which} (dot)"
    if data["is_every_length"]:
        which = "the worst of all" if has_worst else "that below"
        words = f"pairs of {data['digits']} digits, random (bar: 5% to 95%), {which} (dot)"
    axes.set_title(f"margins: {words}")
    open_axes(axes)


def _scale_margins(axes: Axes, values: np.ndarray, theme: Theme) -> None:
    """A line at 0; where all margins are above it and far apart, powers of ten instead."""
    least, most = float(values.min()), float(values.max())
    if least > 0 and most > 30 * least:
        axes.set_yscale("log")
        low, high = least / 2, most * 2
        powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        inside = [value for value in 10.0**powers if low <= value <= high]
        inside = inside[:: -(-len(inside) // 6)]
        axes.set_yticks(inside, [format_trimmed(value) for value in inside])
        axes.minorticks_off()
        axes.set_ylim(low, high)
        return
    axes.axhline(0, color=theme.bad, linewidth=0.8)
    if np.abs(values).max() > _FAR * np.median(np.abs(values)):
        _scale_signed_margins(axes, values)
        return
    room = 0.08 * (max(most, 0) - min(least, 0)) or 1.0
    axes.set_ylim(min(least, 0) - room, max(most, 0) + room)
    set_few_ticks(axes.yaxis)


def _scale_signed_margins(axes: Axes, values: np.ndarray) -> None:
    """Powers of ten above 0 and below it, with a straight part between the smallest of them."""
    sizes = np.abs(values[values != 0])
    low, high = np.floor(np.log10(sizes.min())), np.ceil(np.log10(sizes.max()))
    axes.set_yscale("symlog", linthresh=10.0**low, linscale=0.5)
    apart = -(-int(high - low + 1) // 3)
    powers = 10.0 ** np.arange(low + apart, high + 1, apart)  # the smallest would lie on 0
    ends = 10 * min(values.min(), 0.0), 10 * max(values.max(), 0.0)
    ticks = [tick for tick in (*-powers[::-1], 0.0, *powers) if ends[0] <= tick <= ends[1]]
    axes.set_yticks(
        ticks, [format_trimmed(tick) if abs(tick) < _FAR else format_scientific(tick) for tick in ticks]
    )
    axes.minorticks_off()
    axes.set_ylim(ends[0] or -(10.0**low), ends[1] or 10.0**low)


def _draw_worst_pair(axes: Axes, data: Data, frame: Frame) -> None:
    """The pair as on paper, highest digit left, with the carry above and the margin below."""
    theme, count = frame.theme, len(data["z"])
    left, step = 3.0, (frame.width - 3.2) / count
    write_centred_text(
        axes, 0, 0.2, _describe_worst_pair(data), 8.5, ha="left", weight="bold", color=theme.ink
    )
    longer, room = describe_longer_sums(data), measure_text_width(_describe_worst_pair(data), 8.5, "bold")
    if measure_text_width(longer, SIZE) + room + 0.5 < frame.width:
        write_centred_text(axes, frame.width, 0.2, longer, ha="right", color=theme.muted)
    for name, y in _ROWS.items():
        write_centred_text(axes, left - 0.25, y, name, ha="right", color=theme.muted)
    axes.plot([left - 0.1, frame.width], [2.03] * 2, color=theme.ink, linewidth=0.8)
    for column in range(count):
        _draw_pair_column(axes, data, column, left + (count - column - 0.5) * step, step, theme)


def _describe_worst_pair(data: Data) -> str:
    """Which pair it is, and why this one."""
    a, b = data["pair"]
    known = "the hardest pair" if data["is_hardest"] else f"the worst of {data['tried']:,} hard pairs"
    if data["verdict"] == "refuted":
        known = "right" if data["got"] == str(data["expected"]) else "the counterexample"
    return f"{known}: {a} + {b}"


def _draw_pair_column(axes: Axes, data: Data, column: int, x: float, step: float, theme: Theme) -> None:
    """What is added, what is right and what is written; a mark below the smallest margin."""
    z, written = data["z"][column], data["written"][column]
    if carry := data["carry"][column]:
        write_centred_text(axes, x, _ROWS["carry"], str(carry), 8.5, color=theme.accent, weight="bold")
    if column < len(data["z"]) - 1:
        write_centred_text(axes, x, _ROWS["a"], data["names"][data["x"][column]], 11)
        write_centred_text(axes, x, _ROWS["+ b"], data["names"][data["y"][column]], 11)
    write_centred_text(axes, x, _ROWS["right"], data["names"][z], 11, color=theme.muted)
    edge = "none" if written == z else theme.bad
    draw_token_cell(
        axes,
        x,
        _ROWS["the model writes"],
        0.62,
        0.55,
        format_cell_token(data["names"][written]),
        theme,
        edge,
        11,
        0.7,
    )
    margin, is_worst = float(data["margins"][column]), column == int(np.argmin(data["margins"]))
    style = {"color": theme.good if margin > 0 else theme.bad, "weight": "bold" if is_worst else "normal"}
    write_centred_text(axes, x, _ROWS["margin"], format_fitting_number(margin, step, SIZE), SIZE, **style)
    if is_worst:
        write_centred_text(axes, x, 4.05, "▲", 8, color=theme.ink)


def caption(data: Data) -> str:
    a, b = data["pair"]
    facts = " ".join(filter(None, [*list_verdict_facts(data)[:-1], describe_longer_sums(data)]))
    return (
        f"Verdict: {data['verdict'].replace('_', ' ')} ({data['source']}). "
        f"{facts} Worked out: {a} + {b} = {data['expected']}; the model writes {data['got']}. "
        "A margin is the right digit's logit minus the best other one's."
    )
