"""Figures and the data behind them as files: the same figure twice is the same bytes.

figures/05_token_embeddings.png      the picture, also as .svg and .pdf
figures/data/05.safetensors          its arrays; its caption and texts are in the metadata
figures/captions.md                  all captions, made anew from the data that are there
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.core.atomic import (
    make_folder,
    read_arrays,
    remove_unfinished,
    write_arrays,
    write_bytes,
    write_text,
)
from glassformer.core.errors import UserError, make_unknown_error
from glassformer.core.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTIONS = "captions.md"
DPI = 200  # of PNG: 1,339 pixels over 17 cm
_FORMATS: dict[str, dict[str, Any]] = {  # nothing in a file may depend on when it was made
    "png": {"metadata": {"Software": None}},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None, "ModDate": None}},
}


def require_formats(formats: Sequence[str]) -> None:
    for name in formats:
        if name not in _FORMATS:
            raise make_unknown_error("format", name, _FORMATS)
    if not formats:
        raise UserError(f"--format needs at least one of {', '.join(_FORMATS)}")


def save_figure(
    figure: "Figure", stem: Path, formats: Sequence[str], theme: Theme, dpi: int = DPI
) -> list[Path]:
    """The figure in each format; returns the paths."""
    from matplotlib import rc_context

    from glassformer.pictures.parts.frame import make_theme_settings

    make_folder(stem.parent)
    written: list[Path] = []
    for kind in formats:
        content, path = io.BytesIO(), stem.parent / f"{stem.name}.{kind}"
        with rc_context(make_theme_settings(theme)):
            figure.savefig(content, format=kind, dpi=dpi, **_FORMATS[kind])
        remove_unfinished(path)
        write_bytes(path, content.getvalue())
        written.append(path)
    return written


def save_data(folder: Path, id: str, data: Mapping[str, object], about: Mapping[str, object]) -> Path:
    """The data of a figure; what is no array goes into the metadata."""
    arrays, texts = _flatten_data(data)
    make_folder(folder / "data")
    path = folder / "data" / f"{id}.safetensors"
    remove_unfinished(path)
    write_arrays(path, arrays, {"figure": id, **about, "texts": texts})
    return path


def _flatten_data(
    data: Mapping[str, object], prefix: str = ""
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays by dotted name, and everything else as plain data.

    >>> _flatten_data({"sums": np.zeros(2), "tokens": ("0", "+"), "inner": {"a": np.ones(1)}})[1]
    {'tokens': ['0', '+']}
    """
    arrays: dict[str, np.ndarray] = {}
    texts: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        if is_dataclass(value):
            value = {part.name: getattr(value, part.name) for part in fields(value)}
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            arrays[name] = value
        elif isinstance(value, Mapping):
            inner, words = _flatten_data({str(part): item for part, item in value.items()}, f"{name}.")
            arrays, texts = arrays | inner, texts | words
        elif isinstance(value, list | tuple) and _has_arrays(value):
            inner, words = _flatten_data({str(index): item for index, item in enumerate(value)}, f"{name}.")
            arrays, texts = arrays | inner, texts | words
        else:
            texts[name] = _to_plain_data(value)
    return arrays, texts


def _has_arrays(value: object) -> bool:
    """Whether there is more in it than plain data, however deep."""
    if isinstance(value, list | tuple):
        return any(_has_arrays(item) for item in value)
    return isinstance(value, np.ndarray | Mapping) or is_dataclass(value)


def _to_plain_data(value: object) -> Any:
    """What JSON can hold."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_to_plain_data(item) for item in value]
    if isinstance(value, str | int | float | bool | None):
        return value
    raise TypeError(f"the data of a figure hold a {type(value).__name__}, which cannot be saved")


def write_captions(folder: Path, order: Sequence[str]) -> Path:
    """captions.md, from every figure whose data are in the folder, in the order of the set."""
    found: dict[str, dict[str, Any]] = {}
    for path in (folder / "data").glob("*.safetensors"):
        found[path.stem] = read_arrays(path)[1]
    ids = sorted(found, key=lambda id: order.index(id) if id in order else len(order))
    lines = ["# Captions", ""]
    for id in ids:
        about = found[id]
        lines += [
            f"## {id} {about['name']}",
            "",
            f"![{about['name']}]({about['file']})",
            "",
            about["caption"],
            "",
        ]
    path = folder / CAPTIONS
    remove_unfinished(path)
    write_text(path, "\n".join(lines))
    return path
