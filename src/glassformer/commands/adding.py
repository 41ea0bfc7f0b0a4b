"""`glassformer add`: one sum, digit by digit, with how sure the model was of each."""

from dataclasses import asdict
from typing import Any

from glassformer.model.adding import Sum, write_sum
from glassformer.runs.load import Loaded


def add_numbers(loaded: Loaded, a: str, b: str) -> tuple[dict[str, Any], str, int]:
    """The JSON content, the words, and status 1 where the sum is wrong."""
    found = write_sum(loaded, loaded.addition, read(a), read(b))
    return asdict(found), words(found), 0 if found.right else 1


def read(text: str) -> int | str:
    """A number, where the text has nothing but digits; anything else is refused later, as it is."""
    digits = text.lstrip("0") or "0"
    is_plain = text.isascii() and text.isdigit() and len(digits) < 100  # Python reads no number of any length
    return int(digits) if is_plain else text


def words(found: Sum) -> str:
    verdict = "right" if found.right else f"wrong, expected {found.expected}"
    weakest = min(found.digits, key=lambda digit: digit.margin)
    return (
        f"{found.a} + {found.b} = {found.got} ({verdict})\n"
        f"  smallest margin {found.margin:.4g}, at the digit '{weakest.label}' of 10^{weakest.place}"
    )
