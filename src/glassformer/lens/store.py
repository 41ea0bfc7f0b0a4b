"""The folder of an analysis: resumable at any moment, never that of another model unasked.

spectra.json  units/*.safetensors  weights.csv  heads.csv  layers.csv ...  figures/  report.md
summary.json  page.html

The manifest is written first and says what the units are about; a unit's file is whole or not there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.core.atomic import make_folder, write_json
from glassformer.core.errors import UserError
from glassformer.core.folder import FolderKind, describe_difference
from glassformer.core.text_files import read_json
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.records import DAMAGE, Found, Record, read_record, write_record
from glassformer.lens.units import Unit

_FORMAT = 1  # of the records: files of another one are not read
MANIFEST = "spectra.json"
SUMMARY, PAGE = "summary.json", "page.html"
_TABLES = (
    *("weights.csv", "heads.csv", "layers.csv", "similarity.csv", "alignment.csv", "composition.csv"),
    "singular_values.csv",
    *("weights.parquet", "heads.parquet", "singular_values.parquet"),  # of folders from before 2026-11
)
_ANALYSIS = FolderKind(
    noun="analysis",
    marker=MANIFEST,
    made=("report.md", SUMMARY, PAGE, "figures", *_TABLES, "units"),  # the manifest is replaced in its place
    leftovers=(".*.tmp", "units/.*.tmp", "figures/.*.tmp"),
    ways="--out chooses another folder, --overwrite replaces it",
)


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
        for name in {*_TABLES} - {path.name for path in current}:
            (self.folder / name).unlink(missing_ok=True)


def open_store(
    folder: Path,
    checkpoint: Checkpoint,
    architecture: str,
    options: Mapping[str, object],
    overwrite: bool = False,
) -> Store:
    """The folder, ready for the units of this checkpoint; `options` are those that change numbers."""
    wanted = {
        "format": _FORMAT,
        "model": checkpoint.name,
        "fingerprint": checkpoint.fingerprint,
        "architecture": architecture,
        **options,
    }
    manifest = folder / MANIFEST
    _ANALYSIS.refuse_links(folder)
    if not _ANALYSIS.is_in(folder):
        _ANALYSIS.refuse_foreign(folder)
        write_json(manifest, wanted)
    elif overwrite:
        _ANALYSIS.remove_made(folder)
        write_json(manifest, wanted)  # in the old one's place: the folder is an analysis at every moment
    else:
        _refuse_other_analysis(folder, read_manifest(manifest), wanted)
    _ANALYSIS.remove_leftovers(folder)
    make_folder(folder / "units")
    return Store(folder)


def read_manifest(path: Path) -> dict[str, Any]:
    try:
        return read_json(path)
    except UserError:
        raise UserError(f"{path} is damaged; --overwrite repeats the analysis") from None


def _refuse_other_analysis(folder: Path, there: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    stored = {name: there.get(name) for name in wanted}
    if stored["model"] == str(wanted["model"]).replace(" minus ", " less "):
        stored["model"] = wanted["model"]  # the change between two models, as earlier versions named it
    difference = describe_difference(stored, wanted)
    if difference.startswith("fingerprint is "):
        raise UserError(f"{folder} is about other weights of {wanted['model']}; {_ANALYSIS.ways}")
    if difference:
        raise _ANALYSIS.make_conflict(folder, difference)
