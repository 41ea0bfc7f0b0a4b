"""Draw the README's picture from a run.

    python docs/population_picture.py runs/plus_last_even docs/population.svg

One line a seed: argmax rule accuracy on the held-out windows over the steps. The chosen seed is thick.
"""

import json
import sys
from pathlib import Path

from glassformer.runs.metrics import Row, read_metrics

WIDTH, HEIGHT = 820, 330
LEFT, RIGHT, TOP, BOTTOM = 64, 790, 44, 274
INK, FAINT, STRONG, PALE = "#24292f", "#d0d7de", "#0b62a8", "#7a8794"
FONT = "font-family='Helvetica, Arial, sans-serif'"


def picture(rows: list[Row], best: int) -> str:
    """The whole SVG."""
    last = max(row["step"] for row in rows)
    seeds = sorted({int(row["seed"]) for row in rows}, key=lambda seed: seed == best)
    reached = sum(row["argmax_accuracy"] >= 0.999 for row in rows if row["step"] == last)
    lines = [curve(rows, seed, last, seed == best) for seed in seeds]
    title = f"{reached} of {len(seeds)} seeds reach 99.9% argmax rule accuracy; a single seed is a gamble"
    return "\n".join([head(title), *grid(last), *lines, "</svg>", ""])


def head(title: str) -> str:
    size = f"viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}'"
    frame = f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>"
    words = f"<text x='{LEFT}' y='24' {FONT} font-size='16' font-weight='bold' fill='{INK}'>{title}</text>"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img'><title>{title}</title>{frame}{words}"


def grid(last: float) -> list[str]:
    marks = [
        f"<text x='{LEFT - 8}' y='{up(level) + 4:.1f}' {label('end')}>{level:.0%}</text>"
        for level in (0, 0.25, 0.5, 0.75, 1)
    ]
    rules = [
        f"<path d='M{LEFT} {up(level):.1f}H{RIGHT}' stroke='{FAINT}'/>" for level in (0, 0.25, 0.5, 0.75, 1)
    ]
    steps = [last * part / 4 for part in range(5)]
    ticks = [
        f"<text x='{along(step, last):.1f}' y='{BOTTOM + 20}' {label('middle')}>{step:,.0f}</text>"
        for step in steps
    ]
    axis = f"<text x='{(LEFT + RIGHT) / 2}' y='{BOTTOM + 42}' {label('middle')}>training steps</text>"
    return [*rules, *marks, *ticks, axis]


def curve(rows: list[Row], seed: int, last: float, chosen: bool) -> str:
    own = [row for row in rows if row["seed"] == seed]
    points = " ".join(f"{along(row['step'], last):.1f},{up(row['argmax_accuracy']):.1f}" for row in own)
    look = (
        f"stroke='{STRONG}' stroke-width='3.5'"
        if chosen
        else f"stroke='{PALE}' stroke-width='1.3' opacity='0.85'"
    )
    return f"<polyline points='{points}' fill='none' {look} stroke-linejoin='round'/>"


def along(step: float, last: float) -> float:
    return LEFT + (RIGHT - LEFT) * step / last


def up(level: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * level


def label(anchor: str) -> str:
    return f"{FONT} font-size='13' fill='{INK}' text-anchor='{anchor}'"


if __name__ == "__main__":
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    best_seed = json.loads((folder / "result.json").read_text())["best_seed"]
    target.write_text(picture(read_metrics(folder), best_seed))
