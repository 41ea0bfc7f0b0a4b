"""A page inside a notebook, in a sandbox that cannot reach the notebook.

>>> make_frame("<p>a</p>", 100)[:42]
'<iframe srcdoc="&lt;p&gt;a&lt;/p&gt;" sand'
"""

from html import escape
from pathlib import Path

_HEIGHT = 800  # pixels
_SANDBOX = "allow-scripts allow-downloads"  # no allow-same-origin: the page cannot reach the notebook


def make_frame(page: str, height: int = _HEIGHT) -> str:
    """The page as an element of another page."""
    style = f"width: 100%; height: {height}px; border: 0"
    return f'<iframe srcdoc="{escape(page)}" sandbox="{_SANDBOX}" style="{style}"></iframe>'


def make_file_frame(path: Path) -> str:
    """The same for a file; a sentence where it is gone."""
    try:
        return make_frame(path.read_text(encoding="utf-8"))
    except OSError:
        return f"<p>{escape(str(path))} is no longer there.</p>"
