"""One head: eigenvalues in the complex plane, magnitudes beside a random head's, energy.

The head is the one whose QK kernel has the lowest, the median or the highest effective rank of all heads.
"""

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from glassformer.core.errors import UserError
from glassformer.core.theme import Theme
from glassformer.core.words import format_percent
from glassformer.lens.figures.groups import compute_cumulative_energy, require_read_heads, select_kernels
from glassformer.lens.figures.lines import DASHED
from glassformer.lens.figures.random_spectra import average_random_heads
from glassformer.lens.kernels import REAL, ZERO
from glassformer.lens.results import SHARES, Analysis, KernelResult
from glassformer.lens.words import format_head_location, format_rank, format_ratio, format_sized_number
from glassformer.pictures.parts.frame import BODY, SMALL, make_sheet, measure_foot_height, write_foot
from glassformer.pictures.picture import Data

_Which = Literal["lowest", "median", "highest"]
_NEEDED = {"lowest": 1, "median": 3, "highest": 2}  # heads for this one to be another than those before
_SIDE, _LEFT, _ABOVE, _BELOW = 4.25, 1.05, 1.0, 0.95  # cm of a panel and around it
_SPREAD = 8.0  # largest over median magnitude from which on the plane's radius is on a square-root scale
FEW = 8  # components up to which lines have dots: a single one would not be seen
_LEAST = 1e-7  # of the largest magnitude: smaller ones are rounding
_FOOT = (
    "Dashed and dotted: mean of eight heads with random weights of these shapes, scaled to the "
    "same Frobenius norm. Energy: sum of squared singular values; the list counts the components "
    "that hold each share of it."
)


def compute(analysis: Analysis, which: _Which) -> Data:
    require_read_heads(analysis)
    ranked = sorted(select_kernels(analysis, "QK"), key=lambda one: one.eff_rank)
    is_same = ranked[0].eff_rank == ranked[-1].eff_rank
    if len(ranked) < _NEEDED[which] or (is_same and which != "lowest"):
        raise UserError(f"there are too few heads for one of {which} rank beside the others")
    chosen = ranked[{"lowest": 0, "median": (len(ranked) - 1) // 2, "highest": -1}[which]].head
    kernels = {
        kernel: _make_kernel_data(one, analysis.layout.width)
        for kernel in ("QK", "OV")
        for one in select_kernels(analysis, kernel)
        if one.head.layer == chosen.layer and one.head.index == chosen.index
    }
    place = f"_L{chosen.layer}_h{chosen.index}"
    return {
        "name": analysis.name, "which": which, "layer": chosen.layer, "head": chosen.index, "place": place,
        "of": len(ranked), "kernels": kernels,
    }  # fmt: skip


def _make_kernel_data(one: KernelResult, width: int) -> Data:
    """What is drawn and said of a kernel."""
    norm = one.statistics.frobenius
    values, magnitudes = average_random_heads(one.size, max(width, 1))
    return {
        "size": one.size,
        "values": one.values,
        "eigenvalues": np.stack([one.eigenvalues.real, one.eigenvalues.imag], 1),  # component, re and im
        "random_values": values * norm,
        "random_magnitudes": magnitudes * norm,
        "eff_rank": one.eff_rank,
        "random_rank": one.random.eff_rank,
        "components": one.statistics.components,
        "condition": one.statistics.condition,
        "asymmetry": one.asymmetry,
        "complex_share": one.complex_share,
        "copying": one.copying,
    }


def draw(data: Data, theme: Theme) -> Figure:
    block = _ABOVE + _SIDE + _BELOW
    paper = make_sheet(theme, block * len(data["kernels"]) + measure_foot_height(_FOOT), title(data))
    for row, (kernel, one) in enumerate(data["kernels"].items()):
        part = paper.part(0, row * block, paper.width, block)
        part.write(0, 0.05, f"{kernel}: {_describe_kernel_numbers(kernel, one)}", BODY)
        _draw_eigenvalue_plane(part.axes(_LEFT, _ABOVE, _SIDE, _SIDE), one, theme)
        _draw_magnitudes(part.axes(_LEFT + 5.55, _ABOVE, _SIDE, _SIDE), one, theme)
        _draw_energy(part.axes(_LEFT + 11.05, _ABOVE, _SIDE, _SIDE), one, theme)
    write_foot(paper, _FOOT)
    return paper.figure


def _draw_eigenvalue_plane(axes: Axes, one: dict[str, Any], theme: Theme) -> None:
    """Eigenvalues with circles of equal magnitude; a square-root radius where a few are far out."""
    points = one["eigenvalues"]
    size = np.hypot(*points.T)
    largest = float(size.max()) or 1.0
    is_rooted = largest > _SPREAD * float(np.median(size)) > 0

    def drawn(radius: Any) -> Any:
        return np.sqrt(radius * largest) if is_rooted else radius

    shown = points * (drawn(size) / np.maximum(size, 1e-300))[:, None]
    for radius in _choose_circle_radii(largest, is_rooted):
        axes.add_patch(
            Circle((0, 0), drawn(radius), fill=False, edgecolor=theme.faint, linewidth=0.6, zorder=0)
        )
        axes.text(
            0, -drawn(radius), format_sized_number(radius), fontsize=SMALL, color=theme.muted, ha="center",
            va="center", path_effects=[withStroke(linewidth=2, foreground=theme.paper)], zorder=5,
        )  # fmt: skip
    for mark in (axes.axhline, axes.axvline):
        mark(0, color=theme.faint, linewidth=0.6, zorder=0)
    is_zero = size <= ZERO * largest
    is_complex = ~is_zero & (np.abs(points[:, 1]) > REAL * size)
    is_real = ~is_zero & ~is_complex
    axes.scatter(*shown[is_complex].T, s=7, color=theme.accent, linewidths=0, zorder=3)
    axes.scatter(*shown[is_real].T, s=13, marker="D", color=theme.negative, linewidths=0, zorder=3)
    axes.set_xlim(-1.13 * largest, 1.13 * largest)
    axes.set_ylim(-1.13 * largest, 1.13 * largest)
    axes.set_xticks([])
    axes.set_yticks([])
    rooted = " (radius: root scale)" if is_rooted else ""
    axes.set_title(f"eigenvalues{rooted}")
    counts = f"\u25c6 {int(is_real.sum())} real   \u25cf {int(is_complex.sum())} complex"
    zeros = f"   {int(is_zero.sum())} zero" if is_zero.any() else ""
    axes.set_xlabel(f"{counts}{zeros}   (real part across)")
    axes.set_ylabel("imaginary part")


def _choose_circle_radii(largest: float, is_rooted: bool) -> list[float]:
    """Magnitudes for two circles: round numbers."""
    step = 10.0 ** np.floor(np.log10(largest))
    round_one = float(max(part * step for part in (1, 2, 5) if part * step <= largest))
    return [round_one, round_one / (10 if is_rooted else 2)]


def _draw_magnitudes(axes: Axes, one: dict[str, Any], theme: Theme) -> None:
    """Singular values and eigenvalues by falling size, on a logarithmic scale."""
    magnitudes = np.sort(np.hypot(*one["eigenvalues"].T))[::-1]
    lines = (
        (one["values"], theme.ink, "-", "singular values"),
        (magnitudes, theme.accent, "-", "|eigenvalues|"),
        (one["random_values"], theme.muted, DASHED, None),
        (one["random_magnitudes"], theme.accent, (0, (1, 1.3)), None),
    )
    top = max(float(values.max()) for values, *_ in lines) or 1.0
    floor = min(float(values[values > _LEAST * top].min(initial=top)) for values, *_ in lines)
    for values, colour, style, name in lines:
        seen = values[values > _LEAST * top]  # values fall, so that these are the first
        dots = {"marker": "o", "markersize": 2.5} if len(values) <= FEW and style == "-" else {}
        axes.plot(np.arange(1, len(seen) + 1), seen, color=colour, linestyle=style, label=name, **dots)
    axes.set_yscale("log")
    axes.set_ylim(floor / 1.6, top * 1.5)
    _set_component_axis(axes, one["size"], 1)
    limit_log_ticks(axes)
    axes.set_title("magnitudes")
    if not one["values"].any():
        axes.set_yticks([])
        axes.text(0.5, 0.5, "all values are 0", transform=axes.transAxes, ha="center", fontsize=SMALL)
        return
    axes.legend(loc="best", handlelength=1.8, labelspacing=0.25, borderpad=0.1)


def _draw_energy(axes: Axes, one: dict[str, Any], theme: Theme) -> None:
    """Cumulative energy, with the counts to the usual shares."""
    energy, random = compute_cumulative_energy(one["values"]), compute_cumulative_energy(one["random_values"])
    for curve, colour, style in ((random, theme.muted, DASHED), (energy, theme.ink, "-")):
        axes.plot(
            np.arange(len(curve) + 1), np.r_[0, curve] * 100, color=colour, linestyle=style, linewidth=1.0
        )
    _set_component_axis(axes, one["size"], 0)
    axes.set_ylim(0, 104)
    axes.set_yticks([0, 25, 50, 75, 100], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_title("cumulative energy")
    counts = np.array(one["components"])
    counts = counts[counts > 0]  # none where the kernel is 0
    axes.scatter(counts, 100 * energy[counts - 1], s=9, color=theme.bad, linewidths=0, zorder=4)
    texts = [f"{share}%: {count:,}" for share, count in zip(SHARES, one["components"], strict=True)]
    axes.text(
        0.97, 0.04, "\n".join(texts), transform=axes.transAxes, ha="right", va="bottom", fontsize=SMALL,
        linespacing=1.3, color=theme.ink,
    )  # fmt: skip


def _set_component_axis(axes: Axes, size: int, first: int) -> None:
    room = 0.03 * size + 0.2
    axes.set_xlim(first - room, size + room)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 4, 5, 8, 10]))
    axes.set_xlabel("component")


def limit_log_ticks(axes: Axes) -> None:
    """Few names at a logarithmic axis, at least two."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axes.get_ylim()
    subs = (1.0,) if np.log10(high / low) >= 2 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(10, subs=subs, numticks=6))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: format_sized_number(value)))


def _describe_kernel_numbers(kernel: str, one: dict[str, Any]) -> str:
    """A kernel's numbers in a line."""
    own = (
        f"asymmetry {format_ratio(one['asymmetry'])}"
        if kernel == "QK"
        else f"copying {format_ratio(one['copying'])}"
    )
    return (
        f"effective rank {format_rank(one['eff_rank'])} of {one['size']} (random head "
        f"{format_rank(one['random_rank'])}), {own}, {format_percent(one['complex_share'], 0)} complex, "
        f"condition {format_sized_number(one['condition'])}"
    )


def title(data: Data) -> str:
    rank = format_rank(data["kernels"]["QK"]["eff_rank"])
    is_nothing = not data["kernels"]["QK"]["values"].any()
    return (
        f"{data['name']}, {format_head_location(data['layer'], data['head'])}: the {data['which']} QK "
        f"effective rank of {data['of']:,} heads, {rank}"
        if data["of"] > 1 and not is_nothing
        else f"{data['name']}, {format_head_location(data['layer'], data['head'])}: QK effective rank {rank}"
    )


def caption(data: Data) -> str:
    said = " ".join(
        f"{kernel}: {_describe_kernel_numbers(kernel, one)}." for kernel, one in data["kernels"].items()
    )
    return (
        f"{format_head_location(data['layer'], data['head']).capitalize()}, of {data['which']} QK effective "
        f"rank. {said} Left: the eigenvalues of the kernel that need not be 0; those of a real matrix are "
        "real or come in pairs. Middle: singular values and magnitudes of eigenvalues by size; they agree "
        "for a normal matrix and fall apart for one whose directions in and out differ. Values below 1e-7 "
        "of the largest are left out there. Right: share of the sum of squared singular values in the first "
        "components. The random head has independent normal weights of the same shapes (mean of eight "
        "draws, fixed seed) and the same Frobenius norm. Kernels are raw: norm gains, biases and rotary "
        "positions are not applied."
    )
