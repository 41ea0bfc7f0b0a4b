"""Run folders that a stranger sent: one or two files damaged, then any verb that opens a run."""

import hashlib
import json
import os
import tomllib
from pathlib import Path
from random import Random
from typing import Any

from fuzz.kinds import metadata, safetensors
from fuzz.kinds.kind import Kind
from fuzz.kinds.runs import NEEDS, configuration_trees, run_files, shorten_counts
from fuzz.kinds.warming import warm_verbs
from fuzz.mutate.bytes import mutate_bytes
from fuzz.mutate.text import write_json, write_toml
from fuzz.mutate.tree import mutate_tree
from fuzz.mutate.values import draw_text
from fuzz.place import Place

Files = dict[str, bytes]
RULE = "from pathlib import Path\nPath({marker!r}).touch()\n"
# Every verb that opens a run, cheap ones often; {} is the run's name.
VERBS = (
    *(
        ("list runs --json", 12),
        ("list models --json", 2),
        ("add {} 3 4 --json", 8),
        ("add {} 99 1 --json", 2),
    ),
    *(("prove {} --time 0.05 --json", 6), ("prove {} --time 0.05 --real --json", 1)),
    *(("prove {} --time 0.05 --population --json", 1), ("check runs/{}/certificate.json --json", 6)),
    *(
        ("test {} --positions 20 --json", 1),
        ("test {} --pairs 5 --hard 1 --json", 1),
        ("export {} --to python --out x.py --json", 4),
    ),
    *(
        ("draw {} --only P1 --json", 1),
        ("draw {} --only 02 --step 100 --json", 1),
        ("page runs --time 0.05 --no-open --json", 1),
    ),
    *(
        ("page {} --time 0.05 --no-open --json", 2),
        ("spectra {} --format none --workers 1 --json", 2),
        ("count {} --json", 1),
    ),
    *(
        ("train runs/{}/run.toml --out runs/{} --quiet --json", 2),
        ("video {} --which none --quiet --json", 2),
    ),
    *(("train {} --resume --quiet --json", 2), ("sweep runs/{}/run.toml --plan --quiet --json", 1)),
)
OFTEN = ("run.toml", "run.toml", "params.safetensors", "params.safetensors", "result.json")
STRANGE = ("symlink", "loop", "outside", "zero", "fifo", "folder", "missing", "empty", "other")


def prepare(folder: Path) -> dict[str, Files]:
    shorten_counts()
    return run_files()


def attempt(random: Random, inputs: dict[str, Files], place: Place) -> int | None:
    """Damage a copy of a run, then open it."""
    from glassformer.cli.program import main

    name = random.choice(list(inputs))
    folder = place.folder / "runs" / name
    folder.mkdir(parents=True)
    files = {"certificate.json": inputs["adder"]["certificate.json"]} | inputs[name]
    for one in random.choices([*files, *OFTEN], k=random.choice((1, 1, 2))):
        files = files | {one: damaged(one, files[one], random)}
    if random.random() < 0.5:
        files = seal_run(files, random)
    for one, content in files.items():
        (folder / one).write_bytes(content)
    if random.random() < 0.15:
        replace_file(folder, random.choice(list(files)), random, place)
    if random.random() < 0.2:
        name_rule(folder, random, place)
    verbs, weights = zip(*VERBS, strict=True)
    words = random.choices(verbs, weights)[0].replace("{}", name).split()
    return main(words)


def seal_run(files: Files, random: Random) -> Files:
    """A result.json with the digests of all files as they are now, as a forger would write it."""
    try:
        result = json.loads(files["result.json"])
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        del digests["result.json"]
        if random.random() < 0.2:
            digests = mutate_tree(digests, random, ({"../../x": "0", "/dev/zero": "0", "": "", ".": ""},))
        return files | {"result.json": write_json(result | {"digests": digests})}
    except (ValueError, TypeError, RecursionError, KeyError):  # KeyError: there is no result any more
        return files


def damaged(name: str, content: bytes, random: Random) -> bytes:
    """A file by what it is, or as plain bytes; one that is damaged already as bytes too."""
    try:
        return mutate_bytes(content, random) if random.random() < 0.2 else damaged_tree(name, content, random)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return mutate_bytes(content, random)


def damaged_tree(name: str, content: bytes, random: Random) -> bytes:
    if name.endswith(".toml"):
        return write_toml(mutate_tree(tomllib.loads(content.decode()), random, configuration_trees()))
    if name.endswith(".json"):
        return write_json(mutate_tree(json.loads(content), random))
    if name.endswith(".csv"):
        return damaged_table(content, random)
    if random.random() < 0.6:
        return metadata.damaged(metadata.take_apart(content), random)
    return safetensors.damaged(content, random)


def damaged_table(content: bytes, random: Random) -> bytes:
    """A cell, a row or a column of a CSV file."""
    rows = [line.split(",") for line in content.decode().splitlines()]
    row, column = random.randrange(len(rows)), random.randrange(len(rows[0]))
    chosen = random.random()
    if chosen < 0.5:
        rows[row][column] = draw_text(random)
    elif chosen < 0.7:
        rows[row] = rows[row][:column]
    elif chosen < 0.9:
        rows = rows[:row] + rows[row:] * 2
    else:
        rows = [one[:column] + one[column + 1 :] for one in rows]
    return "\n".join(",".join(one) for one in rows).encode("utf-8", "surrogatepass")


def replace_file(folder: Path, name: str, random: Random, place: Place) -> None:
    """A link, a pipe, a device or a folder in place of a file."""
    path, what = folder / name, random.choice(STRANGE)
    if path.exists():
        path.unlink()
    targets: dict[str, Any] = {"symlink": "nowhere", "loop": name, "outside": __file__, "zero": "/dev/zero"}
    if what in targets:
        path.symlink_to(targets[what])
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what in ("empty", "other"):
        path.write_bytes(
            b"" if what == "empty" else (folder / "run.toml").read_bytes() if name != "run.toml" else b"\0"
        )


def name_rule(folder: Path, random: Random, place: Place) -> None:
    """A rule.py that leaves a mark, and a run.toml that names it."""
    (folder / "rule.py").write_text(RULE.format(marker=str(place.marker)))
    path = folder / "run.toml"
    if not path.is_file() or path.is_symlink():
        return
    where = random.choice(("rule.py", "./rule.py", str(folder / "rule.py"), "../" + folder.name + "/rule.py"))
    lines = [line for line in path.read_bytes().splitlines() if b"rule_file" not in line[:12]]
    path.write_bytes(b"\n".join([f'rule_file = "{where}"'.encode(), *lines]))


KIND = Kind(share=10, needs=NEEDS, prepare=prepare, attempt=attempt, warm=warm_verbs)
