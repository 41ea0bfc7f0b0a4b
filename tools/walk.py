"""Which files of glassformer a command walks through: what a reader must open to follow it.

    python -m tools.walk prove glass-29           its files, in the order in which they are first entered
    python -m tools.walk --markdown               a table of four commands (about a minute)
    python -m tools.walk --root ../before/src --json run plus_last_even

Each command runs once, in a process and a temporary folder of its own; `run` trains 2 seeds for 20 steps,
then proves, draws and writes the page. Two words stand for files that the tool makes first:

    RUN           the folder of a short run of plus_last_even, whose model follows a rule
    CHECKPOINT    a folder with random weights in the layout of GPT-2

Files executed are those of which any function or the body of any class ran, also by an import. Files walked,
functions and depth count what ran outside of imports; depth is the most functions of glassformer on the stack
at once.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from glassformer.core.errors import UserError

HOOK = Path(__file__).with_name("walk_hook.py")
SOURCE = Path(__file__).parents[1] / "src"
COMMANDS = ("run plus_last_even", "prove glass-29", "prove RUN", "spectra CHECKPOINT")
SMALL = ("--steps", "20", "--seeds", "2")  # for every training: seconds, not minutes
ANSWERS = (0, 1, 3)  # statuses of a command that came to its end: done, refuted, undecided
COLUMNS = ("command", "files imported", "files executed", "files walked", "functions", "depth")
LAYERS, HEADS, WIDTH, TOKENS, POSITIONS = 6, 4, 32, 50, 16  # of CHECKPOINT


@dataclass(frozen=True)
class Walk:
    """What one command ran."""

    command: str  # the words after `glassformer`
    imported: int  # files
    executed: int  # files of which more than the top level ran, by an import or not
    functions: int  # called outside of imports
    depth: int
    files: tuple[str, ...]  # of these functions, by first entry


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--root", type=Path, default=SOURCE, help="the folder that holds glassformer/")
    parser.add_argument("--markdown", action="store_true", help="a table")
    parser.add_argument("--json", action="store_true", help="one JSON object per command, in a list")
    asked, command = parser.parse_known_args(words)
    try:
        commands = [command] if command else [text.split() for text in COMMANDS]
        walks = [walk_command(one, asked.root) for one in commands]
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    if asked.json:
        print(json.dumps([asdict(walk) for walk in walks]))
    else:
        print(make_table(walks) if asked.markdown else "\n\n".join(map(describe_walk, walks)))
    return 0


def walk_command(command: Sequence[str], root: Path = SOURCE) -> Walk:
    """Run the command of the glassformer in `root` under the hook."""
    if not (root / "glassformer" / "__init__.py").exists():
        raise UserError(f"{root} holds no glassformer; --root is the src folder of a checkout")
    with tempfile.TemporaryDirectory(prefix="walk-") as name:
        folder = Path(name)
        words = [_make_word(word, folder, root) for word in command]
        if words[0] == "run":
            words[1:1] = SMALL  # first, so that what the command says counts
        _run_python([str(HOOK), "walk.json", *words], folder, root)
        found = json.loads((folder / "walk.json").read_text(encoding="utf-8"))
    return Walk(" ".join(command), **found | {"files": tuple(found["files"])})


def describe_walk(walk: Walk) -> str:
    """The numbers, then a line per package; packages and their files by first entry."""
    lines = [
        f"glassformer {walk.command}",
        f"  {walk.imported} files imported, {walk.executed} executed",
        f"  {len(walk.files)} walked: {walk.functions:,} functions, at most {walk.depth} deep",
    ]
    groups = group_files(walk.files)
    width = max(map(len, groups), default=0)
    return "\n".join([*lines, *(f"    {name:{width}}  {' '.join(stems)}" for name, stems in groups.items())])


def group_files(files: Sequence[str]) -> dict[str, list[str]]:
    """
    >>> group_files(["cli/program.py", "tasks/rule.py", "pictures/parts/arrow.py", "tasks/task.py"])
    {'cli': ['program'], 'tasks': ['rule', 'task'], 'pictures/parts': ['arrow']}
    """
    groups: dict[str, list[str]] = {}
    for file in files:
        path = Path(file)
        groups.setdefault(path.parent.as_posix(), []).append(path.stem)
    return groups


def make_table(walks: Sequence[Walk]) -> str:
    """As Markdown, a row per command."""
    rows = [
        (f"`{one.command}`", one.imported, one.executed, len(one.files), f"{one.functions:,}", one.depth)
        for one in walks
    ]
    lines = [f"| {' | '.join(map(str, row))} |" for row in (COLUMNS, *rows)]
    lines.insert(1, "|---" * len(COLUMNS) + "|")
    return "\n".join(lines)


def _make_word(word: str, folder: Path, root: Path) -> str:
    """The word for a command that runs in `folder`: what it stands for is made, and paths are whole."""
    if word == "RUN":
        _run_python(["-m", "glassformer", "train", "plus_last_even", *SMALL, "--out", word], folder, root)
    elif word == "CHECKPOINT":
        _write_checkpoint(folder / word)
    elif Path(word).exists():
        return str(Path(word).resolve())
    return word


def _run_python(words: Sequence[str], folder: Path, root: Path) -> None:
    variables = os.environ | {"PYTHONPATH": str(root.resolve()), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-P", *words], cwd=folder, env=variables, capture_output=True, encoding="utf-8"
    )
    if done.returncode not in ANSWERS:
        said = done.stderr.strip().splitlines() or ["no word"]
        raise UserError(f"the command ended with status {done.returncode}: {said[-1]}")


def _write_checkpoint(folder: Path) -> None:
    """A GPT-2 of random weights; matrices have inputs as rows."""
    shapes = {"wte.weight": (TOKENS, WIDTH), "wpe.weight": (POSITIONS, WIDTH), "ln_f.weight": (WIDTH,)}
    for layer in range(LAYERS):
        shapes |= {
            f"h.{layer}.ln_1.weight": (WIDTH,),
            f"h.{layer}.attn.c_attn.weight": (WIDTH, 3 * WIDTH),
            f"h.{layer}.attn.c_attn.bias": (3 * WIDTH,),
            f"h.{layer}.attn.c_proj.weight": (WIDTH, WIDTH),
            f"h.{layer}.ln_2.weight": (WIDTH,),
            f"h.{layer}.mlp.c_fc.weight": (WIDTH, 4 * WIDTH),
            f"h.{layer}.mlp.c_proj.weight": (4 * WIDTH, WIDTH),
        }
    draw = np.random.default_rng(0).standard_normal
    config = {"model_type": "gpt2", "n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(
        {name: draw(shape).astype(np.float32) for name, shape in shapes.items()}, folder / "model.safetensors"
    )


if __name__ == "__main__":
    sys.exit(main())
