"""The spectra of a page: exact where they fit into the file, with a note where they do not.

>>> [level.dtype for level in LEVELS[:2]], len(choose_curve_components(10_000, 256)) <= 256
(['float64', 'float32'], True)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.lens.curve_points import choose_curve_components
from glassformer.lens.page.folder import SpectraFolder, Spectrum
from glassformer.pages.pack import pack_array

_BASE64 = 4 / 3  # characters per byte
_POINTS = 256  # of a thinned spectrum, of falling density


@dataclass(frozen=True)
class DetailLevel:
    """How much of the spectra a page holds."""

    dtype: str
    points: int | None = None  # of a weight's spectrum; none: all
    every: int = 1  # heads of every n-th layer; 0: none


LEVELS = (
    DetailLevel("float64"),
    DetailLevel("float32"),
    DetailLevel("float32", _POINTS),
    *(DetailLevel("float32", _POINTS, every) for every in (2, 4, 8, 16, 32, 64)),
    DetailLevel("float32", _POINTS, 0),
    DetailLevel("float32", 0, 0),
)


@dataclass(frozen=True)
class StoredSpectra:
    """All that is stored of one model, row by row of its tables."""

    heads: list[Spectrum]
    head_layers: list[int]
    weights: list[Spectrum]

    def at(self, level: DetailLevel) -> "StoredSpectra":
        """As much of it as a level keeps."""
        kept = _choose_kept_layers(self.head_layers, level.every)
        heads = [
            one if layer in kept else {} for one, layer in zip(self.heads, self.head_layers, strict=True)
        ]
        return StoredSpectra(
            heads, self.head_layers, [_thin_spectrum(one, level.points) for one in self.weights]
        )

    def size(self, dtype: str) -> float:
        """Characters in a file."""
        numbers = sum(array.size for one in (*self.heads, *self.weights) for array in one.values())
        return _BASE64 * np.dtype(dtype).itemsize * numbers


def read_stored_spectra(folder: SpectraFolder) -> StoredSpectra:
    heads = folder.head_spectra()
    layers = [int(layer) for layer in folder.heads.get("layer_idx", ())]
    return StoredSpectra(heads, layers, folder.weight_spectra())


def choose_detail_level(models: Sequence[StoredSpectra], room: float) -> DetailLevel:
    """The first whose spectra have room, in characters; the last holds none."""
    for level in LEVELS:
        if sum(one.at(level).size(level.dtype) for one in models) <= room:
            return level
    return LEVELS[-1]


def _choose_kept_layers(layers: Sequence[int], every: int) -> set[int]:
    there = sorted({*layers})
    return {*there[::every]} if every else set()


def _thin_spectrum(one: Spectrum, points: int | None) -> Spectrum:
    if points is None or not one or len(one["values"]) <= points:
        return one
    return {"values": one["values"][choose_curve_components(len(one["values"]), points)]} if points else {}


def pack_spectra(whole: StoredSpectra, level: DetailLevel) -> dict[str, Any]:
    """The spectra of one model: values one after the other, and where each row begins."""
    kept = whole.at(level)
    lengths = {len(one["values"]) for one in whole.weights if one}
    return {
        "heads": {
            part: _pack_row_arrays([one.get(part) for one in kept.heads], level.dtype)
            for part in ("values", "eigenvalues")
        },
        "weights": _pack_row_arrays([one.get("values") for one in kept.weights], level.dtype),
        "lengths": [len(one["values"]) if one else 0 for one in whole.weights],
        "places": {
            str(length): pack_array(choose_curve_components(length, level.points).astype(np.int32))
            for length in sorted(lengths)
            if level.points and length > level.points
        },
    }


def _pack_row_arrays(parts: Sequence[np.ndarray | None], dtype: str) -> dict[str, Any]:
    arrays = [np.zeros(0) if part is None else np.asarray(part) for part in parts]
    starts = np.cumsum([0, *(len(array) for array in arrays)]).astype(np.int32)
    flat = [array.reshape(-1).astype(dtype) for array in arrays]
    return {"starts": pack_array(starts), "numbers": pack_array(np.concatenate(flat or [np.zeros(0, dtype)]))}


def describe_detail_level(level: DetailLevel) -> str | None:
    """What a page leaves out, in a sentence; none where it holds everything."""
    if level == LEVELS[0]:
        return None
    said = ["spectra are rounded to float32 so that the page stays small (the folder has all digits)"]
    if level.points:
        said.append(f"of each weight's singular values at most {level.points} are shown")
    if level.points == 0:
        said = ["spectra are left out so that the page stays small (the folder has them)"]
    elif level.every == 0:
        said.append("spectra of heads are left out")
    elif level.every > 1:
        said.append(f"spectra of heads are those of every {level.every}th layer")
    return "; ".join(said)
