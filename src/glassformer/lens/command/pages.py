"""summary.json and page.html: what `glassformer spectra` leaves for a browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glassformer.core.atomic import write_json
from glassformer.lens.results import Analysis
from glassformer.lens.store import PAGE, SUMMARY
from glassformer.lens.summary import summarise_analysis


def summarise_model(analysis: Analysis, notes: list[str]) -> dict[str, Any]:
    """What the tables do not know: the model's width, its courses over depth, and what was left out."""
    content = summarise_analysis(analysis)
    return content | {"width": analysis.layout.width, "notes": [*content["notes"], *notes]}


def write_analysis_page(folder: Path, content: dict[str, Any], notes: list[str]) -> list[Path]:
    """summary.json, and page.html from all that is in the folder; a page that fails loses no numbers."""
    from glassformer.lens.page.write import write_spectra_page

    write_json(folder / SUMMARY, content)
    try:
        return [folder / SUMMARY, write_spectra_page(folder)]
    except Exception as error:  # whatever is wrong with it: the tables are what counts
        (folder / PAGE).unlink(missing_ok=True)  # it would show older numbers
        notes.append(f"the page could not be written ({type(error).__name__}: {error})")
        return [folder / SUMMARY]


def describe_analysis_page(folder: str | None, files: Sequence[str]) -> list[str]:
    """Where the page is, if there is one."""
    page = str(Path(folder or "") / PAGE)
    return [f"  interactive page: {page}"] if page in files else []
