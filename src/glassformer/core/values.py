"""Values of settings: those that a shell gives as text and Python as it likes, and those that came later."""

from collections.abc import Sequence

LATER = {"later": True}  # of a field that older files do not have: at its default it is not written down


def list_texts(value: str | Sequence[str]) -> tuple[str, ...]:
    """Several texts, or one alone.

    >>> list_texts("4 1 +"), list_texts(["4 1 +", "6 +"])
    (('4 1 +',), ('4 1 +', '6 +'))
    """
    return (value,) if isinstance(value, str) else tuple(value)


def split_list(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """The words of a list, which a shell gives with commas.

    >>> split_list("05, F1"), split_list(["05", "F1"]), split_list(None)
    (('05', 'F1'), ('05', 'F1'), ())
    """
    words = value.split(",") if isinstance(value, str) else value or ()
    return tuple(word.strip() for word in words if word.strip())
