"""What is slow the first time, done once before anything is measured: imports and compilations."""

import os
from functools import cache

from fuzz.kinds.runs import run_files
from fuzz.place import Place

MODEL_COMMANDS = (
    *("add adder 3 4", "test adder --pairs 5 --hard 1", "test lucky7 --positions 20", "count lucky7"),
    *("count adder", "sweep lucky7 --plan --quiet"),
)
OTHER_COMMANDS = (
    *("list runs", "list models", "prove adder --time 0.05", "prove lucky7 --time 0.05"),
    *("prove adder --population --time 0.05", "check runs/adder/certificate.json", "draw adder --only P1"),
    *("export adder --to python --out x.py", "export lucky7 --to python --out y.py", "draw lucky7 --only 02"),
    *("page lucky7 --time 0.05 --no-open", "page adder --time 0.05 --no-open", "video lucky7 --which none"),
    *("spectra lucky7 --format none --workers 1", "train runs/lucky7/run.toml --out runs/lucky7 --quiet"),
)


@cache
def warm_models(place: Place) -> None:
    """What is done with weights and configurations; once for each worker, whatever the kinds."""
    run_all(place, MODEL_COMMANDS)


@cache
def warm_verbs(place: Place) -> None:
    """Every verb on runs as they are."""
    warm_models(place)
    run_all(place, OTHER_COMMANDS)


def run_all(place: Place, commands: tuple[str, ...]) -> None:
    from glassformer.cli.program import main

    place.empty()
    put_runs(place, ("adder", "lucky7"))
    for command in commands:
        main([*command.split(), "--json"])


def put_runs(place: Place, names: tuple[str, ...]) -> None:
    """Copies of valid runs under runs/, where a case works."""
    for name in names:
        folder = place.folder / "runs" / name
        os.makedirs(folder)  # noqa: PTH103  twice as fast, and done for every case
        for one, content in run_files()[name].items():
            (folder / one).write_bytes(content)


def warm_nothing(place: Place) -> None:
    """For kinds that are quick at once."""
