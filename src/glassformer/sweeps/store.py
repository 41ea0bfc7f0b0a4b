"""The files of a sweep's units: what is to be done (plan/) and what was found (units/), the only truth.

A result is a pair. NAME.safetensors has all seeds' parameters and is written first; NAME.json has the rows,
the whole configuration and digests of both, and makes the pair valid. The name carries a digest of the
settings.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from glassformer.core.atomic import make_folder, read_arrays, replace_nonfinite, write_arrays, write_json
from glassformer.core.errors import UserError
from glassformer.core.text_files import read_json
from glassformer.models.forward import list_parameters
from glassformer.sweeps.identity import digest_settings
from glassformer.sweeps.unit import Unit, UnitResult

_FORMAT = 1
_Table = dict[str, Any]


def write_unit_plan(folder: Path, unit: Unit) -> Path:
    make_folder(folder)
    path = folder / f"{unit.name}.json"
    write_json(path, {"format": _FORMAT} | _make_unit_table(unit))
    return path


def read_unit_plan(path: Path) -> Unit:
    """The unit that a file of the plan describes."""
    table = _find_unit_table(path)
    if table is None or table.get("format") != _FORMAT:
        raise UserError(f"{path} is no unit of a sweep (glassformer sweep FILE --plan writes them)")
    try:
        unit = Unit(str(table["configuration"]), table["settings"], table["first_seed"], table["seeds"])
    except KeyError as error:
        raise UserError(f"{path} is damaged ({error} is missing)") from None
    if unit.name != path.stem:
        raise UserError(f"{path} was changed: its settings and seeds are those of {unit.name}.json")
    return unit


def _make_unit_table(unit: Unit) -> _Table:
    return {
        "configuration": unit.configuration,
        "first_seed": unit.first_seed,
        "seeds": unit.seeds,
        "settings": unit.tree,
    }


def write_unit_result(folder: Path, unit: Unit, result: UnitResult) -> None:
    """The parameters, then the rows; only with these the unit is done."""
    make_folder(folder)
    arrays = folder / f"{unit.name}.safetensors"
    write_arrays(arrays, result.params, {"format": _FORMAT, "unit": unit.name})
    table = {
        "format": _FORMAT,
        **_make_unit_table(unit),
        "made": result.made,
        "seconds": round(result.seconds, 3),
        "rows": result.rows,
        "numbers_sha256": _hash_file(arrays),
    }
    write_json(folder / f"{unit.name}.json", table | {"sha256": hash_table(table)})


def read_unit_result(folder: Path, unit: Unit) -> tuple[UnitResult | None, str]:
    """The result of a unit; or none, and what is wrong with the files (nothing where there are none)."""
    path = folder / f"{unit.name}.json"
    if not path.exists():
        return None, ""
    table = _find_unit_table(path)
    if wrong := _find_result_fault(table, path, unit):
        return None, wrong
    assert table is not None
    try:
        params, _ = read_arrays(path.with_suffix(".safetensors"))
    except UserError as error:
        return None, str(error)
    if {name: array.shape for name, array in params.items()} != _list_unit_shapes(unit):
        return None, f"the parameters of {path.name} are those of another model"
    return UnitResult(table["rows"], params, float(table["seconds"]), table["made"]), ""


def _find_result_fault(table: _Table | None, path: Path, unit: Unit) -> str:
    """Why a file is not the result of this unit; nothing where it is."""
    if table is None or table.get("sha256") != hash_table(table):
        return f"{path.name} is damaged"
    if digest_settings(table["settings"]) != digest_settings(unit.tree):
        return f"{path.name} has other settings"
    seeds = list(range(unit.first_seed, unit.first_seed + unit.seeds))
    if [row["seed"] for row in table["rows"]] != seeds:
        return f"{path.name} has other seeds"
    arrays = path.with_suffix(".safetensors")
    if not arrays.exists() or _hash_file(arrays) != table["numbers_sha256"]:
        return f"{arrays.name} is damaged or missing"
    return ""


def _list_unit_shapes(unit: Unit) -> dict[str, tuple[int, ...]]:
    return {name: (unit.seeds, *one.shape) for name, one in list_parameters(unit.run.architecture).items()}


def _find_unit_table(path: Path) -> _Table | None:
    """The table in a file; none where it cannot be read as one."""
    try:
        return read_json(path)
    except UserError:
        return None


def hash_table(table: _Table) -> str:
    """Of all that a table says but its own digest."""
    rest = {key: value for key, value in replace_nonfinite(table).items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
