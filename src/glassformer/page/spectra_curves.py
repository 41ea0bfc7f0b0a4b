"""The spectra of a page: without loss where they fit into a file, and a word where they do not.

>>> [level.dtype for level in LEVELS[:2]], len(thin_places(10_000, 256)) <= 256
(['float64', 'float32'], True)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from glassformer.page.pack import packed
from glassformer.page.spectra_folder import Folder, Spectrum

BASE64 = 4 / 3  # characters a byte
POINTS = 256  # of a thinned spectrum, at places of falling density


@dataclass(frozen=True)
class Level:
    """How much of the spectra a page holds."""

    dtype: str
    points: int | None = None  # of a weight's spectrum; none: all
    every: int = 1  # the heads of every so many layers; 0: none


LEVELS = (
    Level("float64"),
    Level("float32"),
    Level("float32", POINTS),
    *(Level("float32", POINTS, every) for every in (2, 4, 8, 16, 32, 64)),
    Level("float32", POINTS, 0),
    Level("float32", 0, 0),
)


@dataclass(frozen=True)
class Spectra:
    """All that is stored of one model, row by row of its tables."""

    heads: list[Spectrum]
    head_layers: list[int]
    weights: list[Spectrum]

    def at(self, level: Level) -> "Spectra":
        """As much of it as a level keeps."""
        kept = layers_kept(self.head_layers, level.every)
        heads = [
            one if layer in kept else {} for one, layer in zip(self.heads, self.head_layers, strict=True)
        ]
        return Spectra(heads, self.head_layers, [thinned(one, level.points) for one in self.weights])

    def size(self, dtype: str) -> float:
        """Characters in a file."""
        numbers = sum(array.size for one in (*self.heads, *self.weights) for array in one.values())
        return BASE64 * np.dtype(dtype).itemsize * numbers


def stored_spectra(folder: Folder) -> Spectra:
    heads = folder.head_spectra()
    layers = [int(layer) for layer in folder.heads.get("layer_idx", ())]
    return Spectra(heads, layers, folder.weight_spectra())


def level_that_fits(models: Sequence[Spectra], room: float) -> Level:
    """The first whose spectra have room, in characters; the last holds none."""
    for level in LEVELS:
        if sum(one.at(level).size(level.dtype) for one in models) <= room:
            return level
    return LEVELS[-1]


def layers_kept(layers: Sequence[int], every: int) -> set[int]:
    there = sorted({*layers})
    return {*there[::every]} if every else set()


def thinned(one: Spectrum, points: int | None) -> Spectrum:
    if points is None or not one or len(one["values"]) <= points:
        return one
    return {"values": one["values"][thin_places(len(one["values"]), points)]} if points else {}


def thin_places(count: int, points: int) -> Int[np.ndarray, "point"]:
    """Components that a long spectrum is shown at: all at first, then ever fewer, and the last."""
    return np.unique(np.geomspace(1, count, points).round().astype(np.int32)) - 1


def packed_spectra(whole: Spectra, level: Level) -> dict[str, Any]:
    """Of one model: numbers one after the other, and where those of each row begin."""
    kept = whole.at(level)
    lengths = {len(one["values"]) for one in whole.weights if one}
    return {
        "heads": {
            part: one_after_the_other([one.get(part) for one in kept.heads], level.dtype)
            for part in ("values", "eigenvalues")
        },
        "weights": one_after_the_other([one.get("values") for one in kept.weights], level.dtype),
        "lengths": [len(one["values"]) if one else 0 for one in whole.weights],
        "places": {
            str(length): packed(thin_places(length, level.points))
            for length in sorted(lengths)
            if level.points and length > level.points
        },
    }


def one_after_the_other(parts: Sequence[np.ndarray | None], dtype: str) -> dict[str, Any]:
    arrays = [np.zeros(0) if part is None else np.asarray(part) for part in parts]
    starts = np.cumsum([0, *(len(array) for array in arrays)]).astype(np.int32)
    flat = [array.reshape(-1).astype(dtype) for array in arrays]
    return {"starts": packed(starts), "numbers": packed(np.concatenate(flat or [np.zeros(0, dtype)]))}


def level_note(level: Level) -> str | None:
    """What a page leaves out, in a sentence; none where it holds everything."""
    if level == LEVELS[0]:
        return None
    said = ["spectra are rounded to float32 so that the page stays small (the folder has all digits)"]
    if level.points:
        said.append(f"spectra of weights longer than {level.points} are shown at that many places")
    if level.points == 0:
        said = ["spectra are left out so that the page stays small (the folder has them)"]
    elif level.every == 0:
        said.append("spectra of heads are left out")
    elif level.every > 1:
        said.append(f"spectra of heads are those of every {level.every}th layer")
    return "; ".join(said)
