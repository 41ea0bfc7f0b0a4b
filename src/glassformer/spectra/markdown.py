"""Tables in Markdown.

>>> print("\\n".join(table(("type", "rank"), [("W_Q", "51.0")])))
| type | rank |
|---|---:|
| W_Q | 51.0 |
"""

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a table whose first columns are words and whose others are numbers."""
    marks = ["---" if place < left else "---:" for place in range(len(headings))]
    lines = [line(headings), "|" + "|".join(marks) + "|"]
    return [*lines, *(line(row) for row in rows)]


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
