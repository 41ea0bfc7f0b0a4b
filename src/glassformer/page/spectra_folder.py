"""A finished NAME.spectra folder as data: its tables, what it says about the model, and its spectra.

The tables decide what is shown. A unit's file gives a row its spectrum only where its numbers are the row's
own, so that a record which an older version left behind is never taken for it.
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

from glassformer.errors import UserError
from glassformer.page.spectra_columns import TEXTS
from glassformer.page.table_file import read_table
from glassformer.runs.text_files import decode_json, read_text
from glassformer.spectra.store import MANIFEST, SUMMARY, read_manifest
from glassformer.spectra.units import safe

UNREADABLE = (SafetensorError, UserError, OSError, KeyError, TypeError, ValueError)

Texts = list[str]
Reals = Float[np.ndarray, "row"]  # nan: an empty cell, or a number that there is not
Table = dict[str, Texts | Reals]
Spectrum = dict[str, np.ndarray]  # values, and of heads eigenvalues (component, real and imaginary)


@dataclass(frozen=True)
class Folder:
    """The results of one model, on the disk."""

    path: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return read_manifest(self.path / MANIFEST)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the command said of the model; less where the folder is of an older version."""
        return read_table(self.path / SUMMARY)[0]

    @cached_property
    def heads(self) -> Table:
        return read_csv(self.path / "heads.csv")

    @cached_property
    def weights(self) -> Table:
        return read_csv(self.path / "weights.csv")

    @property
    def units(self) -> Path:
        return self.path / "units"

    @cached_property
    def unit_names(self) -> dict[str, list[str]]:
        """Files by their names less the mark at the end."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.units.glob("*.safetensors")):
            found.setdefault(path.stem.rpartition(".")[0], []).append(path.name)
        return found

    def head_spectra(self) -> list[Spectrum]:
        """A spectrum a row of the heads; an empty one where it is not stored."""
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
        for name in self.unit_names.get(f"heads.{layer:03d}.{safe(treatment)}", ()):
            try:
                found |= read_heads(self.units / name, layer)
            except UNREADABLE:
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
        for name in self.unit_names.get(f"weight.{place}.{safe(type)}{among}.{treatment}", ()):
            try:
                with safe_open(self.units / name, framework="numpy") as file:
                    numbers = about(file)["statistics"]
                    if (numbers["ranks"]["eff_rank"], numbers["largest"]) == (rank, largest):
                        return {"values": file.get_tensor("values")}
            except UNREADABLE:
                continue
        return {}


def read_heads(path: Path, layer: int) -> dict[tuple[Any, ...], Spectrum]:
    with safe_open(path, framework="numpy") as file:
        rows = about(file)["kernels"]
        return {
            (layer, row["head"], row["kernel"], row["treatment"], row["statistics"]["ranks"]["eff_rank"]): {
                part: file.get_tensor(f"{row['head']}.{row['kernel']}.{part}")
                for part in ("values", "eigenvalues")
            }
            for row in rows
        }


def about(file: Any) -> dict[str, Any]:
    content: dict[str, Any] = decode_json(file.metadata()["glassformer"], "the metadata")
    return content


def read_csv(path: Path) -> Table:
    """Columns of a table of ours; {} where there is none."""
    if not path.exists():
        return {}
    try:
        rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
        names = next(rows, [])
        columns = [*zip(*rows, strict=True)] or [()] * len(names)
        return {name: column_of(name, cells) for name, cells in zip(names, columns, strict=True)}
    except (UserError, ValueError, csv.Error) as error:
        raise UserError(
            f"{path} cannot be read as a table ({error}); glassformer spectra makes it anew"
        ) from None


def column_of(name: str, cells: tuple[str, ...]) -> Texts | Reals:
    if name in TEXTS:
        return [*cells]
    return np.array([float(cell) if cell else np.nan for cell in cells], np.float64)


def rows_of(table: Table, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """The cells of some columns, row by row."""
    return zip(*(table[name] for name in names), strict=True)
