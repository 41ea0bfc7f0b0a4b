"""The published numbers about Qwen2.5-3B beside ours, from the same table of effective ranks.

    python benchmarks/published.py FOLDER

FOLDER holds effective_ranks.csv (36 layers, seven weight types) and qk_effective_rank_36x16.txt (a line a
layer: its number, then 16 heads). Published trends are those of the means of the thirds; what our test makes
of them stands in the last column. Exit status 1 where a number differs.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from glassformer.errors import UserError
from glassformer.spectra.published import read_table
from glassformer.spectra.results import Depth

COURSES = {"W_O": "U-shape", "W_Q": "falling", "W_K": "falling", "W_V": "falling"}
COURSES |= {"W_gate": "rising", "W_down": "rising"}

Line = tuple[str, str, str, str]  # what, published, ours, remark


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        courses = read_table(folder / "effective_ranks.csv")
        heads = np.loadtxt(folder / "qk_effective_rank_36x16.txt", ndmin=2)[:, 1:]  # layer head
    except (UserError, OSError, ValueError) as error:
        parser.error(str(error))
    lines = head_lines(heads) + weight_lines(courses) + trend_lines(courses)
    print(f"{'':<26}{'published':>16}{'ours':>16}  {'':<9}remark")
    for what, published, ours, remark in lines:
        verdict = "agrees" if published == ours else "differs"
        print(f"{what:<26}{published:>16}{ours:>16}  {verdict:<9}{remark}")
    sys.exit(any(published != ours for _, published, ours, _ in lines))


def head_lines(heads: np.ndarray) -> list[Line]:
    """The QK effective ranks of all heads."""
    low, high = (np.unravel_index(index, heads.shape) for index in (heads.argmin(), heads.argmax()))
    return [
        ("QK smallest", "57.6 L20 h7", f"{heads.min():.1f} L{low[0]} h{low[1]}", ""),
        ("QK largest", "121.1 L34 h8", f"{heads.max():.1f} L{high[0]} h{high[1]}", ""),
        ("QK mean", "103.6", f"{heads.mean():.1f}", ""),
        ("QK standard deviation", "12.0", f"{heads.std():.1f}", ""),
    ]


def weight_lines(courses: dict[str, Depth]) -> list[Line]:
    jump = courses["W_Q"].jump
    assert jump is not None
    step = f"{jump.layer - 1} to {jump.layer} {jump.by:+.1f}"
    return [
        ("W_Q mean", "1376.42", f"{courses['W_Q'].mean:.2f}", ""),
        ("W_Q largest jump", "33 to 34 +331.9", step, ""),
    ]


def trend_lines(courses: dict[str, Depth]) -> list[Line]:
    lines = []
    for kind, published in COURSES.items():
        trend = courses[kind].trend
        remark = f"test: {trend.tested}, p = {trend.p_value:.2g}"
        lines.append((f"{kind} over depth", published, trend.label, remark))
    return lines


if __name__ == "__main__":
    main()
