"""summary.json and page.html: what `glassformer spectra` leaves for a browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glassformer.runs.atomic import write_json
from glassformer.spectra.results import Analysis
from glassformer.spectra.store import PAGE, SUMMARY
from glassformer.spectra.summary import summary


def model_summary(analysis: Analysis, notes: list[str]) -> dict[str, Any]:
    """What the tables do not know: the model's width, its courses over depth, and what was left out."""
    content = summary(analysis)
    return content | {"width": analysis.layout.width, "notes": [*content["notes"], *notes]}


def pages(folder: Path, content: dict[str, Any], notes: list[str]) -> list[Path]:
    """summary.json, and page.html from all that is in the folder; a page that fails loses no numbers."""
    from glassformer.page.spectra_page import write_spectra_page

    write_json(folder / SUMMARY, content)
    try:
        return [folder / SUMMARY, write_spectra_page(folder)]
    except Exception as error:  # whatever is wrong with it: the tables are what counts
        (folder / PAGE).unlink(missing_ok=True)  # it would show older numbers
        notes.append(f"the page could not be written ({type(error).__name__}: {error})")
        return [folder / SUMMARY]


def page_words(folder: str | None, files: Sequence[str]) -> list[str]:
    """Where the page is, if there is one."""
    page = str(Path(folder or "") / PAGE)
    return [f"  to look at and click through: {page}"] if page in files else []
