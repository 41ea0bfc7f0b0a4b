"""Pictures in a notebook: files on the disk as HTML that needs no other file."""

import base64
from collections.abc import Sequence
from pathlib import Path


def embed_pictures(files: Sequence[str]) -> str:
    """The PNG files among these, one below the other."""
    shown = [Path(file) for file in files if file.endswith(".png")]
    code = [base64.b64encode(path.read_bytes()).decode() for path in shown]
    return "\n".join(f'<img src="data:image/png;base64,{one}" style="max-width:100%">' for one in code)
