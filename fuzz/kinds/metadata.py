"""Weights with damaged metadata: one file that says task and architecture of its numbers itself."""

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.kinds.kind import Kind
from fuzz.kinds.runs import MODEL_NEEDS, metadata_trees, run_files, seal_rule, shorten_counts
from fuzz.kinds.safetensors import change_entry, join
from fuzz.kinds.warming import warm_models
from fuzz.mutate.bytes import mutate_bytes
from fuzz.mutate.text import write_json
from fuzz.mutate.tree import mutate_tree
from fuzz.place import Place

Parts = tuple[dict[str, Any], dict[str, Any], bytes]  # header, what it says about itself, numbers


def prepare(folder: Path) -> list[Parts]:
    """The weights of every run folder, taken apart."""
    shorten_counts()
    return [take_apart(files["params.safetensors"]) for files in run_files().values()]


def take_apart(content: bytes) -> Parts:
    stop = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:stop])
    return header, json.loads(header["__metadata__"]["glassformer"]), content[stop:]


def put_together(header: dict[str, Any], about: bytes, numbers: bytes) -> bytes:
    text = about.decode("utf-8", "replace")
    header = header | {"__metadata__": header.get("__metadata__", {}) | {"glassformer": text}}
    return join(json.dumps(header).encode(), numbers)


def damaged(parts: Parts, random: Random) -> bytes:
    """Mostly what it says about itself; now and then a tensor's entry or a byte too."""
    header, about, numbers = parts
    chosen = random.random()
    if random.random() < 0.1:
        about = about | {"task": random.choice(metadata_trees()[-2:])["task"]}
    changed = mutate_tree(about, random, metadata_trees())
    text = write_json(seal_rule(changed) if random.random() < 0.7 else changed)
    if chosen < 0.1:
        text = mutate_bytes(text, random)
    elif chosen < 0.2:
        header = change_entry(header, random)
    elif chosen < 0.25:
        return mutate_bytes(put_together(header, text, numbers), random)
    return put_together(header, text, numbers)


def attempt(random: Random, inputs: list[Parts], place: Place) -> int | None:
    """Load it; now and then count, add, test or export it."""
    path = place.folder / "w.safetensors"
    path.write_bytes(damaged(random.choice(inputs), random))
    return use(path, random)


def use(path: Path, random: Random) -> int | None:
    from glassformer.cli.program import main
    from glassformer.runs.load import load_model

    chosen = random.random()
    if chosen < 0.85:
        load_model(path, random.choice((None, None, None, "glass-8", "plus_last_even", "²")))
        return None
    if chosen < 0.92:
        return main(["add", path.name, random.choice(("3", "99", "²")), "4", "--json"])
    if chosen < 0.97:
        amount = random.choice((["--pairs", "5", "--hard", "1"], ["--positions", "20"]))
        return main(["test", path.name, *amount, "--json"])
    return main(["count", path.name, "--json"])


KIND = Kind(share=90, needs=MODEL_NEEDS, prepare=prepare, attempt=attempt, warm=warm_models)
