"""Command lines made of the real parser's verbs and options, with values that nobody would write.

Targets are such that what is accepted is cheap: training verbs write to a path that is a file, sweeps are
planned only, and of amounts there are small ones and absurd ones.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz.kinds.kind import Kind
from fuzz.kinds.runs import NEEDS, configuration_trees, run_files, shorten_counts
from fuzz.kinds.warming import put_runs, warm_verbs
from fuzz.mutate.values import INTEGERS, TEXTS, draw_text
from fuzz.place import Place

AMOUNTS = (
    "1",
    "2",
    "5",
    "0",
    "-1",
    "10" + "0" * 17,
    "9" * 400,
    "9" * 5001,
    "1.5",
    "nan",
    "²",
    "",
    "1e3",
    "0x1",
    " 3 ",
)
SECONDS = ("0.05", "0", "-1", "nan", "x", "", "²", "0.01")
TARGETS = (
    "plus_last_even",
    "glass-8",
    "runs/adder",
    "w.safetensors",
    "nothing",
    "",
    "²",
    "..",
    "/",
    "a/b",
    "~",
    "zoo",
    "-",
)
CHEAP = {  # what every command line of a verb gets, so that it ends soon where all is accepted
    "run": ("--out", "taken", "--quiet"),
    "train": ("--out", "taken", "--quiet"),
    "sweep": ("--plan", "--quiet"),
    "test": ("--pairs", "5", "--hard", "1", "--quiet"),
    "prove": ("--time", "0.05", "--quiet"),
    "page": ("--time", "0.05", "--no-open", "--quiet"),
    "prune": ("--time", "0.05", "--quiet", "--out", "taken/x"),
    "spectra": ("--format", "none", "--workers", "1", "--quiet"),
    "video": ("--which", "none", "--quiet"),
    "draw": ("--only", "02", "--quiet"),
}
DEAR = {
    "draw": 0.05,
    "page": 0.1,
    "prove": 0.2,
    "prune": 0.1,
    "count": 0.03,
    "spectra": 0.2,
    "test": 0.3,
    "export": 0.2,
}
VALUES = {  # of options by their metavar; others get any text
    "SECONDS": SECONDS,
    "here|processes|ray": ("here", "²", "", "Here"),
    "cpu|gpu": ("cpu", "", "tpu"),
    "torch|adderboard|onnx|python": ("python", "python", "onnx", "", "²"),  # importing PyTorch takes seconds
    "png,svg,pdf": ("none", "", "png,", "gif", "²"),
}


@dataclass(frozen=True)
class Inputs:
    """Verbs with their options, and the settings that dotted options name."""

    verbs: dict[str, list[argparse.Action]]
    settings: tuple[str, ...]


def prepare(folder: Path) -> Inputs:
    from glassformer.cli.parser import make_parser
    from glassformer.runs.resolve import list_setting_leaves

    shorten_counts()
    verbs = {
        name: [action for action in parser._actions if action.dest != "help"]
        for name, parser in make_parser()[1].items()
    }
    paths = {path for tree in configuration_trees() for path in list_setting_leaves(tree)}
    return Inputs(verbs, tuple(sorted(paths)))


def attempt(random: Random, inputs: Inputs, place: Place) -> int | None:
    """One command line, in a folder with two runs, weights and a file in the way."""
    from glassformer.cli.program import main

    set_up(place)
    words = draw_words(random, inputs)
    try:
        return main(words)
    except SystemExit as end:  # --help and --version
        if end.code == 0 and {"--help", "-h", "--version"} & {*words}:
            return 0
        raise


def set_up(place: Place) -> None:
    put_runs(place, ("adder", "plus_last_even"))
    folder = place.folder
    (folder / "w.safetensors").write_bytes(run_files()["adder"]["params.safetensors"])
    (folder / "taken").write_text("a file")


def draw_words(random: Random, inputs: Inputs) -> list[str]:
    """Verb, target and options; the cheap ones come last, where they win."""
    names = list(inputs.verbs)
    verb = random.choices(names, [DEAR.get(name, 1.0) for name in names])[0]
    words = [verb]
    for action in inputs.verbs[verb]:
        if not action.option_strings:
            words += draw_position(action, verb, random)
        elif random.random() < 0.2:
            words += [random.choice(action.option_strings), *draw_option_value(action, verb, random)]
    if verb in ("run", "train", "sweep") and random.random() < 0.8:
        for _ in range(random.randint(1, 3)):
            words += dotted(random, inputs.settings)
    words += [*CHEAP.get(verb, ()), "--json"]
    if random.random() < 0.1:
        words.insert(
            random.randrange(len(words)),
            random.choice((*TEXTS[:30], "--help", "--version", "--x", "-q", "--json=1")),
        )
    return [word.replace("\0", "\\0") for word in words]


def draw_position(action: argparse.Action, verb: str, random: Random) -> list[str]:
    if action.dest in ("a", "b"):
        return [random.choice((*AMOUNTS, "3", "4", "9999999999"))]
    if action.dest == "what":
        return [random.choice(("tasks", "models", "figures", "runs", "settings", draw_text(random)))]
    if action.dest == "file":
        return [random.choice(("runs/adder", "runs/adder/certificate.json", "w.safetensors", *TARGETS[4:]))]
    if action.dest == "other":
        return [random.choice(TARGETS)] if random.random() < 0.1 else []
    if verb == "prune":  # two seconds of honest work on any adder
        return [random.choice(("plus_last_even", *TARGETS[4:], draw_text(random)))]
    return [random.choice((*TARGETS[:4], *TARGETS, draw_text(random)))]


def draw_option_value(action: argparse.Action, verb: str, random: Random) -> list[str]:
    """Nothing for a switch; an amount for a number; else what its metavar asks for, or any text."""
    if action.nargs == 0:
        return []
    if action.dest in ("out",):
        return [random.choice(("x", "taken", "", "a/b/c", ".", "²", "a" * 300, "\udcff", "new/x.json"))]
    known = VALUES.get(str(action.metavar))
    if known:
        return [random.choice(known)]
    if action.metavar in ("N", "PIXELS") or action.type in (int, float):
        return [random.choice(AMOUNTS)]
    return [
        random.choice((*TARGETS, draw_text(random), "0,1", "1+2", "4 1 +", "0-5", "light", "train.steps=1,2"))
    ]


def dotted(random: Random, settings: tuple[str, ...]) -> list[str]:
    """`--train.steps 10**18` and the like; now and then a path that is none."""
    path = random.choice(settings)
    if random.random() < 0.15:
        path = random.choice(
            (
                ".steps",
                "..",
                "train.",
                "model.layers.².residual",
                "model.layers.99.residual",
                f"{path}.x",
                path.upper(),
                "a." * 500,
            )
        )
    value = random.choice(
        (
            str(random.choice(INTEGERS)),
            draw_text(random),
            "nan",
            "[" * 3000,
            "[]",
            "{}",
            "true",
            "0.5",
            "[[1, 2]]",
            "{kind = 'none'}",
            "none",
        )
    )
    return [f"--{path}={value}"] if random.random() < 0.5 else [f"--{path}", value]


KIND = Kind(share=30, needs=NEEDS, prepare=prepare, attempt=attempt, warm=warm_verbs)
