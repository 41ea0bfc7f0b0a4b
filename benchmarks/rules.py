"""Every named configuration, trained from scratch by the command that a user types: a table in Markdown.

    python benchmarks/rules.py runs/all > table.md

Runs that the folder already holds are not trained again; their result is read.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from glassformer.runs.configurations import RULE_CONFIGURATIONS

HEAD = "| configuration | parameters | argmax accuracy, source in the window | at least | sampled error | "
HEAD += "loss / floor (nats) | seeds at 99.9% | seconds |"


def row(name: str, folder: Path) -> str:
    """Run one configuration and put its measures into a line."""
    command = [sys.executable, "-m", "glassformer", "run", name, "--out", str(folder), "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    accuracy = result["argmax_accuracy"]
    cells = [
        f"`{name}`",
        f"{result['parameters']:,}",
        f"{accuracy['value']:.3%} of {accuracy['positions']:,}",
        f"{accuracy['low']:.3%}",
        f"{result['sampled_error']:.2%}",
        f"{result['loss']:.4f} / {result['entropy_floor']:.4f}",
        f"{result['measures']['seeds_at_999']} of {result['seeds']}",
        f"{result['seconds']:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/all")
    print(HEAD)
    print("|" + "---|" * HEAD.count(" | ") + "---|")
    for name in RULE_CONFIGURATIONS:
        print(row(name, root / name), flush=True)
