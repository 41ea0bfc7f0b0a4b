"""Tables in Markdown.

>>> print("\\n".join(format_markdown_table(("type", "rank"), [("W_Q", "51.0")])))
| type | rank |
|---|---:|
| W_Q | 51.0 |
"""

from collections.abc import Collection, Iterable, Sequence


def format_markdown_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1, words: Collection[str] = ()
) -> list[str]:
    """Lines of a table whose first columns, and those called `words`, are words; the others are numbers."""
    marks = ["---" if place < left or heading in words else "---:" for place, heading in enumerate(headings)]
    lines = [_format_markdown_row(headings), "|" + "|".join(marks) + "|"]
    return [*lines, *(_format_markdown_row(row) for row in rows)]


def format_weight_type(type: str) -> str:
    """A type that is a pattern of tensors' names stands as code, because its signs are no markup."""
    return f"`{type}`" if any(sign in type for sign in ".*#") else type


def _format_markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
