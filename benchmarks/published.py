"""The published numbers about Qwen2.5-3B beside ours, from the same table of effective ranks.

    python benchmarks/published.py FOLDER
    python benchmarks/published.py          a made-up table of the same shape, whose answers are known

FOLDER holds effective_ranks.csv (36 layers, seven weight types) and qk_effective_rank_36x16.txt (a line a
layer: its number, then 16 heads). Published trends are those of the means of the thirds; what our test makes
of them stands in the last column. Exit status 1 where a number differs.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from glassformer.core.errors import UserError
from glassformer.lens.published import read_published_table
from glassformer.lens.results import DepthCourse

COURSES = {"W_O": "U-shape", "W_Q": "falling", "W_K": "falling", "W_V": "falling"}
COURSES |= {"W_gate": "rising", "W_down": "rising"}

LAYERS = range(36)

Line = tuple[str, str, str, str]  # what, published, ours, remark


class Told(NamedTuple):
    """What is said about a table."""

    heads: tuple[str, str, str, str]  # smallest and where, largest and where, mean, standard deviation
    mean: str  # of W_Q
    jump: str  # its largest


PUBLISHED = Told(("57.6 L20 h7", "121.1 L34 h8", "103.6", "12.0"), "1376.42", "33 to 34 +331.9")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    folder = parser.parse_args().folder
    try:
        with tempfile.TemporaryDirectory() as scratch:
            told = PUBLISHED if folder else make_up(Path(scratch))
            courses = read_published_table((folder or Path(scratch)) / "effective_ranks.csv")
            heads = np.loadtxt((folder or Path(scratch)) / "qk_effective_rank_36x16.txt", ndmin=2)[:, 1:]
    except (UserError, OSError, ValueError) as error:
        parser.error(str(error))
    lines = head_lines(heads, told) + weight_lines(courses, told) + trend_lines(courses)
    print(f"{'':<26}{'published' if folder else 'made so':>16}{'ours':>16}  {'':<9}remark")
    for what, published, ours, remark in lines:
        verdict = "agrees" if published == ours else "differs"
        print(f"{what:<26}{published:>16}{ours:>16}  {verdict:<9}{remark}")
    print(f"{sum(published == ours for _, published, ours, _ in lines)} of {len(lines)} agree")
    sys.exit(any(published != ours for _, published, ours, _ in lines))


def make_up(folder: Path) -> Told:
    """Tables in which each course has its published shape: lines, a parabola, and one jump in W_Q."""
    curves: dict[str, Callable[[int], float]] = {
        "falling": lambda layer: 1400 - 4.0 * layer + (150.0 if layer == 34 else 0.0),
        "rising": lambda layer: 1400 + 2.0 * layer,
        "U-shape": lambda layer: 1300 + (layer - 17.5) ** 2,
    }
    rows = [
        f"{layer},{kind},2048x2048,{curves[curve](layer)}"
        for layer in LAYERS
        for kind, curve in COURSES.items()
    ]
    (folder / "effective_ranks.csv").write_text(
        "\n".join(["layer_idx,weight_type,shape,eff_rank", *rows]), encoding="utf-8"
    )
    ranks = [[100.0 + (layer + head) % 3 for head in range(16)] for layer in LAYERS]
    ranks[20][7], ranks[34][8] = 57.6, 121.1
    lines = [" ".join(map(str, (layer, *ranks[layer]))) for layer in LAYERS]
    (folder / "qk_effective_rank_36x16.txt").write_text("\n".join(lines), encoding="utf-8")
    every = [rank for layer in ranks for rank in layer]
    spread = f"{statistics.fmean(every):.1f}", f"{statistics.pstdev(every):.1f}"
    mean = f"{statistics.fmean(map(curves['falling'], LAYERS)):.2f}"
    return Told(("57.6 L20 h7", "121.1 L34 h8", *spread), mean, "33 to 34 +146.0")


def head_lines(heads: np.ndarray, told: Told) -> list[Line]:
    """The QK effective ranks of all heads."""
    low, high = (np.unravel_index(index, heads.shape) for index in (heads.argmin(), heads.argmax()))
    return [
        ("QK smallest", told.heads[0], f"{heads.min():.1f} L{low[0]} h{low[1]}", ""),
        ("QK largest", told.heads[1], f"{heads.max():.1f} L{high[0]} h{high[1]}", ""),
        ("QK mean", told.heads[2], f"{heads.mean():.1f}", ""),
        ("QK standard deviation", told.heads[3], f"{heads.std():.1f}", ""),
    ]


def weight_lines(courses: dict[str, DepthCourse], told: Told) -> list[Line]:
    jump = courses["W_Q"].jump
    assert jump is not None
    step = f"{jump.layer - 1} to {jump.layer} {jump.by:+.1f}"
    return [
        ("W_Q mean", told.mean, f"{courses['W_Q'].mean:.2f}", ""),
        ("W_Q largest jump", told.jump, step, ""),
    ]


def trend_lines(courses: dict[str, DepthCourse]) -> list[Line]:
    lines = []
    for kind, published in COURSES.items():
        trend = courses[kind].trend
        remark = f"test: {trend.tested}, p = {trend.p_value:.2g}"
        lines.append((f"{kind} over depth", published, trend.label, remark))
    return lines


if __name__ == "__main__":
    main()
