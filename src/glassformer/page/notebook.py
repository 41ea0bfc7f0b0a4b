"""A page inside a notebook: whole, live, and in a sandbox that keeps it from the notebook itself.

>>> frame("<p>a</p>", 100)[:42]
'<iframe srcdoc="&lt;p&gt;a&lt;/p&gt;" sand'
"""

from html import escape
from pathlib import Path

HEIGHT = 800  # pixels
SANDBOX = "allow-scripts allow-downloads"  # no allow-same-origin: the page cannot reach the notebook


def frame(page: str, height: int = HEIGHT) -> str:
    """The page as an element of another page."""
    style = f"width: 100%; height: {height}px; border: 0"
    return f'<iframe srcdoc="{escape(page)}" sandbox="{SANDBOX}" style="{style}"></iframe>'


def frame_of(path: Path) -> str:
    """The same for a file; a sentence where it is gone."""
    try:
        return frame(path.read_text(encoding="utf-8"))
    except OSError:
        return f"<p>{escape(str(path))} is no longer there.</p>"
