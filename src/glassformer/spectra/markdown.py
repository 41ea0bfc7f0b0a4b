"""Tables in Markdown.

>>> print("\\n".join(table(("type", "rank"), [("W_Q", "51.0")])))
| type | rank |
|---|---:|
| W_Q | 51.0 |
"""

from collections.abc import Collection, Iterable, Sequence


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1, words: Collection[str] = ()
) -> list[str]:
    """Lines of a table whose first columns, and those called `words`, are words; the others are numbers."""
    marks = ["---" if place < left or heading in words else "---:" for place, heading in enumerate(headings)]
    lines = [line(headings), "|" + "|".join(marks) + "|"]
    return [*lines, *(line(row) for row in rows)]


def type_text(type: str) -> str:
    """A type that is a pattern of tensors' names stands as code, for its signs are no markup."""
    return f"`{type}`" if any(sign in type for sign in ".*#") else type


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
