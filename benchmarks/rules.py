"""Named configurations, trained from scratch by the command that a user types: a table in Markdown.

    python -m benchmarks.rules                           three small ones, about a minute, kept nowhere
    python -m benchmarks.rules runs/all > table.md       all, for hours; what is there is not trained again

The baseline is the entropy floor: the least loss that any model with this context can reach.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from glassformer.runs.configurations import RULE_CONFIGURATIONS

SMALL = ("even_to_odd_transition", "plus_last_even", "odd_even_index")
HEAD = "| configuration | parameters | argmax accuracy, source in the window | at least | sampled error | "
HEAD += "loss / floor (nats) | ratio | seeds at 99.9% | seconds |"
PLAIN = ("--draw.figures", "none", "--draw.page", "false")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="keeps the runs of all configurations")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="configurations")
    asked = parser.parse_args()
    print(HEAD)
    print("|" + "---|" * HEAD.count(" | ") + "---|")
    with tempfile.TemporaryDirectory() as scratch:
        for name in asked.only or (RULE_CONFIGURATIONS if asked.folder else SMALL):
            options = () if asked.folder else PLAIN
            print(row(name, (asked.folder or Path(scratch)) / name, options), flush=True)


def row(name: str, folder: Path, options: tuple[str, ...]) -> str:
    """Run one configuration and put its measures into a line."""
    command = [sys.executable, "-m", "glassformer", "run", name, "--out", str(folder), "--json", *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    result: dict[str, Any] = json.loads(done.stdout)
    accuracy = result["argmax_accuracy"]
    cells = [
        f"`{name}`",
        f"{result['parameters']:,}",
        f"{accuracy['value']:.3%} of {accuracy['positions']:,}",
        f"{accuracy['low']:.3%}",
        f"{result['sampled_error']:.2%}",
        f"{result['loss']:.4f} / {result['entropy_floor']:.4f}",
        f"{result['loss'] / result['entropy_floor']:.4f}",
        f"{result['measures']['seeds_at_999']} of {result['seeds']}",
        f"{result['seconds']:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
