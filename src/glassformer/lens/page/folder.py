"""A finished NAME.spectra folder as data: its tables, its summary of the model, and its spectra.

The tables decide what is shown. A work unit's file gives a row its spectrum only where its measures equal the
row's, so that a file from an older version is never used.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from safetensors import SafetensorError, safe_open

from glassformer.core.errors import UserError
from glassformer.core.text_files import decode_json, read_text
from glassformer.lens.page.columns import TEXTS
from glassformer.lens.store import MANIFEST, SUMMARY, read_manifest
from glassformer.lens.units import to_file_name
from glassformer.pages.table_file import read_table

_UNREADABLE = (SafetensorError, UserError, OSError, KeyError, TypeError, ValueError)

_Texts = list[str]
_Reals = Float[np.ndarray, "_row"]  # nan: an empty cell
Table = dict[str, _Texts | _Reals]
Spectrum = dict[str, np.ndarray]  # values, and of heads eigenvalues (component, real and imaginary)


@dataclass(frozen=True)
class SpectraFolder:
    """The results of one model, on the disk."""

    path: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return read_manifest(self.path / MANIFEST)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The command's summary of the model; an older version wrote less."""
        return read_table(self.path / SUMMARY)[0]

    @cached_property
    def heads(self) -> Table:
        return read_csv_columns(self.path / "heads.csv")

    @cached_property
    def weights(self) -> Table:
        return read_csv_columns(self.path / "weights.csv")

    @property
    def units(self) -> Path:
        return self.path / "units"

    @cached_property
    def unit_names(self) -> dict[str, list[str]]:
        """Files by their names without the last part."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.units.glob("*.safetensors")):
            found.setdefault(path.stem.rpartition(".")[0], []).append(path.name)
        return found

    def head_spectra(self) -> list[Spectrum]:
        """One spectrum per row of the heads; an empty one where it is not stored."""
        table = self.heads
        names = ("layer_idx", "head_idx", "kernel", "treatment", "eff_rank")
        places = [*zip(*(table[name] for name in names), strict=True)] if table else []
        stored: dict[tuple[Any, ...], Spectrum] = {}
        for layer, treatment in dict.fromkeys((int(place[0]), place[3]) for place in places):
            stored |= self.layer_spectra(layer, str(treatment))
        return [stored.get((int(place[0]), int(place[1]), *place[2:]), {}) for place in places]

    def layer_spectra(self, layer: int, treatment: str) -> dict[tuple[Any, ...], Spectrum]:
        """Layer, head, kernel, treatment and effective rank to the spectrum."""
        found: dict[tuple[Any, ...], Spectrum] = {}
        for name in self.unit_names.get(f"heads.{layer:03d}.{to_file_name(treatment)}", ()):
            try:
                found |= _read_head_spectra(self.units / name, layer)
            except _UNREADABLE:
                continue
        return found

    def weight_spectra(self) -> list[Spectrum]:
        """The same of the weights."""
        table = self.weights
        names = ("layer_idx", "weight_type", "expert", "treatment", "eff_rank", "largest")
        return (
            [self.weight_spectrum(*row) for row in zip(*(table[name] for name in names), strict=True)]
            if (table)
            else []
        )

    def weight_spectrum(
        self, layer: float, type: str, expert: float, treatment: str, rank: float, largest: float
    ) -> Spectrum:
        place = "none" if layer < 0 else f"{int(layer):03d}"
        among = "" if np.isnan(expert) else f".{int(expert):03d}"
        for name in self.unit_names.get(f"weight.{place}.{to_file_name(type)}{among}.{treatment}", ()):
            try:
                with safe_open(self.units / name, framework="numpy") as file:
                    numbers = _decode_unit_metadata(file)["statistics"]
                    if (numbers["ranks"]["eff_rank"], numbers["largest"]) == (rank, largest):
                        return {"values": file.get_tensor("values")}
            except _UNREADABLE:
                continue
        return {}


def _read_head_spectra(path: Path, layer: int) -> dict[tuple[Any, ...], Spectrum]:
    with safe_open(path, framework="numpy") as file:
        rows = _decode_unit_metadata(file)["kernels"]
        return {
            (layer, row["head"], row["kernel"], row["treatment"], row["statistics"]["ranks"]["eff_rank"]): {
                part: file.get_tensor(f"{row['head']}.{row['kernel']}.{part}")
                for part in ("values", "eigenvalues")
            }
            for row in rows
        }


def _decode_unit_metadata(file: Any) -> dict[str, Any]:
    content: dict[str, Any] = decode_json(file.metadata()["glassformer"], "the metadata")
    return content


def read_csv_columns(path: Path) -> Table:
    """Columns of a table of ours; {} where there is none."""
    if not path.exists():
        return {}
    try:
        rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
        names = next(rows, [])
        columns = [*zip(*rows, strict=True)] or [()] * len(names)
        return {name: _parse_column(name, cells) for name, cells in zip(names, columns, strict=True)}
    except (UserError, ValueError, csv.Error) as error:
        raise UserError(
            f"{path} cannot be read as a table ({error}); run glassformer spectra again"
        ) from None


def _parse_column(name: str, cells: tuple[str, ...]) -> _Texts | _Reals:
    if name in TEXTS:
        return [*cells]
    return np.array([float(cell) if cell else np.nan for cell in cells], np.float64)


def zip_table_rows(table: Table, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """The cells of some columns, row by row."""
    return zip(*(table[name] for name in names), strict=True)
