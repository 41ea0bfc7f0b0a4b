"""Every proved model of a sweep as a file that all commands take: `glassformer prove FILE`."""

from pathlib import Path

from glassformer.core.atomic import make_folder, read_arrays, write_arrays
from glassformer.runs.load import load_weights_file, make_file_metadata
from glassformer.sweeps.folder import MODELS, UNITS
from glassformer.sweeps.sweep import SweepProgress
from glassformer.sweeps.unit import Unit


def save_proved_models(folder: Path, found: SweepProgress) -> list[Path]:
    """models/<configuration>-seed<k>.safetensors, in the order of the table."""
    make_folder(folder / MODELS)
    return [
        path
        for unit in found.units
        if any(seed["proved"] for seed in found.seeds.get(unit.name, ()))
        for path in _save_unit_models(folder, unit, found)
    ]


def _save_unit_models(folder: Path, unit: Unit, found: SweepProgress) -> list[Path]:
    params, _ = read_arrays(folder / UNITS / f"{unit.name}.safetensors")
    run, saved = unit.run, []
    about = make_file_metadata(run.task, run.data, run.architecture)
    about["configuration"] = unit.configuration
    for place, seed in enumerate(found.seeds[unit.name]):
        if seed["proved"]:
            path = folder / MODELS / f"{unit.configuration}-seed{seed['seed']}.safetensors"
            one = {name: array[place] for name, array in params.items()}
            write_arrays(path, one, about | {"seed": seed["seed"]})
            saved.append(path)
    return saved


def write_sweep_certificates(paths: list[Path], seconds: float) -> list[Path]:
    """Beside each model, for `glassformer check`; the proof is made again, with its margins."""
    from glassformer.proofs.prove import prove_model

    written = []
    for path in paths:
        model, place = load_weights_file(path), path.with_suffix(".certificate.json")
        if not place.exists():
            prove_model(model, model.task, model.data, str(path), False, seconds, place)
        written.append(place)
    return written
