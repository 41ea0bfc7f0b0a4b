"""Numbers as Python text, so that reading them back gives the same bits.

>>> format_number_literal(np.float32(0.15), "float32"), format_number_literal(np.float32(0.15), "float64")
('0.15', '0.15000000596046448')
"""

from collections.abc import Iterator

import numpy as np

LINE = 88  # characters


def format_number_literal(value: float, read_as: str) -> str:
    """The shortest text that a reader in this precision takes for the number; integers as they are."""
    if isinstance(value, int | np.integer):
        return str(value)
    exact = float(value)
    short = float(str(np.float32(exact)))
    text = repr(short if read_as == "float32" and np.float32(short) == np.float32(exact) else exact)
    return text.replace("e+", "e")


def format_array_literal(
    array: np.ndarray, read_as: str, indent: int, before: int = 0, after: int = 0
) -> str:
    """Nested lists, in one line where they fit; `before` and `after` are what else stands on it."""
    if array.ndim == 0:
        return format_number_literal(array.item(), read_as)
    flat = _format_single_line(array, read_as)
    if before + len(flat) + after <= LINE:
        return flat
    pad = " " * (indent + 4)
    return "\n".join(
        ["[", *(pad + line for line in _wrap_literal_rows(array, read_as, indent + 4)), " " * indent + "]"]
    )


def _format_single_line(array: np.ndarray, read_as: str) -> str:
    if array.ndim == 0:
        return format_number_literal(array.item(), read_as)
    return f"[{', '.join(_format_single_line(row, read_as) for row in array)}]"


def _wrap_literal_rows(array: np.ndarray, read_as: str, indent: int) -> Iterator[str]:
    """A row per line; numbers of a vector fill the lines."""
    if array.ndim > 1:
        for row in array:
            yield f"{format_array_literal(row, read_as, indent, indent, 1)},"
        return
    line = ""
    for value in array:
        text = f"{format_number_literal(value, read_as)},"
        if line and indent + len(line) + 1 + len(text) > LINE:
            yield line
            line = ""
        line = f"{line} {text}".strip()
    yield line


def squeeze_array(array: np.ndarray) -> tuple[np.ndarray, str]:
    """The array without axes of size 1, and the text that brings them back."""
    plain = array.squeeze()
    sizes = ", ".join(map(str, array.shape))
    return plain, "" if plain.shape == array.shape else f".reshape({sizes})"
