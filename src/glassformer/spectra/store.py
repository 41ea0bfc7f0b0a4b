"""The folder of an analysis: resumable at any moment, never that of another model unasked.

spectra.json  units/*.safetensors  weights.csv  heads.csv  layers.csv ...  figures/  report.md
summary.json  page.html

The manifest is written first and says what the units are about; a unit's file is whole or not there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import UserError
from glassformer.runs.atomic import make_folder, refuse_links, remove_made, write_json
from glassformer.runs.text_files import read_json
from glassformer.spectra.read.checkpoint import Checkpoint
from glassformer.spectra.records import DAMAGE, Found, Record, read_record, write_record
from glassformer.spectra.units import Unit

FORMAT = 1  # of the records: files of another one are not read
MANIFEST = "spectra.json"
SUMMARY, PAGE = "summary.json", "page.html"
TABLES = (
    *("weights.csv", "heads.csv", "layers.csv", "similarity.csv", "alignment.csv", "composition.csv"),
    *("weights.parquet", "heads.parquet", "singular_values.parquet"),
)
MADE = ("report.md", SUMMARY, PAGE, "figures", *TABLES, "units")
WAYS = "--out chooses another folder, --overwrite replaces it"


@dataclass(frozen=True)
class Store:
    """The units of one checkpoint that are finished, on the disk."""

    folder: Path

    @property
    def units(self) -> Path:
        return self.folder / "units"

    def load(self, units: Sequence[Unit]) -> dict[str, list[Found]]:
        """What is there of these units, by record; a damaged file counts as not there."""
        there = {path.stem for path in self.units.glob("*.safetensors")}
        found = {}
        for unit in units:
            for id in there.intersection(unit.ids):
                try:
                    found[id] = unit.restore(read_record(self.units, id))
                except DAMAGE:
                    continue
        return found

    def keep(self, record: Record) -> None:
        write_record(self.units, record)

    def take_away(self, current: Sequence[Path]) -> None:
        """Tables of an earlier and wider analysis, which this one does not have."""
        for name in {*TABLES} - {path.name for path in current}:
            (self.folder / name).unlink(missing_ok=True)


def open_store(
    folder: Path, checkpoint: Checkpoint, architecture: str, options: dict[str, Any], overwrite: bool = False
) -> Store:
    """The folder, ready for the units of this checkpoint; `options` are those that change numbers."""
    wanted = {
        "format": FORMAT,
        "model": checkpoint.name,
        "fingerprint": checkpoint.fingerprint,
        "architecture": architecture,
        **options,
    }
    manifest = folder / MANIFEST
    refuse_links(*(folder / name for name in MADE))
    if not manifest.exists():
        refuse_foreign(folder)
        write_json(manifest, wanted)
    elif overwrite:
        remove_made(folder, MADE)
        write_json(manifest, wanted)  # in the old one's place: the folder is an analysis at every moment
    else:
        refuse_other(folder, read_manifest(manifest), wanted)
    remove_leftovers(folder)
    make_folder(folder / "units")
    return Store(folder)


def read_manifest(path: Path) -> dict[str, Any]:
    try:
        return read_json(path)
    except UserError:
        raise UserError(f"{path} is damaged; --overwrite makes the analysis anew") from None


def refuse_other(folder: Path, there: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        if there.get(name) == value:
            continue
        if name == "fingerprint":
            raise UserError(f"{folder} is about other weights of {wanted['model']}; {WAYS}")
        other = f"{name} is {there.get(name)!r} there and {value!r} here"
        raise UserError(f"{folder} holds another analysis ({other}); {WAYS}")


def refuse_foreign(folder: Path) -> None:
    """No analysis is there: what others made stays as it is."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if strange := [name for name in names if name[0] != "."]:
        raise UserError(
            f"{folder} is not empty and holds no analysis (it has {strange[0]}); --out chooses another folder"
        )


def remove_leftovers(folder: Path) -> None:
    """What a killed process was about to rename."""
    for inside in (folder, folder / "units", folder / "figures"):
        for path in inside.glob(".*.tmp"):
            path.unlink(missing_ok=True)
