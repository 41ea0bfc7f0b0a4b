"""The commands that are killed, and what of their files may differ: how long something took, nothing else.

Every command works in a folder of its own with relative paths, so that no path differs.
"""

from typing import NamedTuple

SMALL = "--train.held_out 64 --train.threads 1 --prove.seconds 60 --quiet"
TRAINED = f"run successor --model.context 3 --seeds 2 --steps 30 --train.evaluate_every 10 {SMALL}"
TRAINED += " --train.batch 16 --measure.positions 1 --measure.generated 4"
# Both rates find models that are proved, so that there are files of them.
SWEPT = "sweep successor --model.context 1 --grid train.peak_rate=0.02,0.05 --seeds 4 --block 2 --out sweep"
SWEPT += f" --train.steps 400 --train.evaluate_every 100 --train.batch 32 {SMALL}"

Field = tuple[str, ...]  # the way to it in a table; "*" is every entry of a list


class Kind(NamedTuple):
    """A command, and what it begins from."""

    verb: str
    words: str
    runs: tuple[str, ...] = ()  # folders in which there is a finished run before


class Timed(NamedTuple):
    """Fields of a file that two uninterrupted commands write differently."""

    verb: str
    files: str  # as a pattern
    fields: tuple[Field, ...]
    reason: str


# Names of the fields are all that is left out: every other byte of these files is compared.
TIMED = (
    Timed(
        "run",
        "run/result.json",
        (("seconds",), ("model_steps_per_second",), ("proof", "seconds"), ("digests", "page.html")),
        "how long the last process took, and the digest of a page that says it",
    ),
    Timed("run", "run/page.html", (("proof", "seconds"),), "how long the proof took"),
    Timed(
        "sweep",
        "sweep/result.json",
        (("seconds",), ("rows", "*", "seconds")),
        "how long the last process and the units took",
    ),
    Timed("sweep", "sweep/page.html", (("rows", "*", "seconds"),), "how long the units took"),
    Timed(
        "sweep", "sweep/units/*.json", (("seconds",), ("sha256",)), "how long it took, and the digest with it"
    ),
)

BARE = f"{TRAINED} --draw.figures none --draw.page false --out run"  # the finished run: no figures, no page
KINDS = (
    Kind("run", f"{TRAINED} --draw.figures 05,13 --out run"),
    Kind("video", "video run --which embeddings,attention --format mp4,gif --width 320 --quiet", ("run",)),
    Kind("page", "page run --quiet", ("run",)),
    Kind("page", "page runs --quiet", ("runs/one", "runs/two")),
    Kind("sweep", SWEPT),
    Kind("sweep", f"{SWEPT} --engine processes --workers 2"),
)
VERBS = tuple(dict.fromkeys(kind.verb for kind in KINDS))
