"""page.html of a spectra folder: heatmaps, one head's spectra, weights over depth, tables; two models too.

html = spectra_html(Path("SmolLM2-135M.spectra"))
"""

from pathlib import Path

from glassformer.errors import UserError
from glassformer.runs.atomic import write_text
from glassformer.spectra.store import MANIFEST, PAGE

ENTRY = "spectra_main.js"
STRANGE = (KeyError, TypeError, ValueError, IndexError, AttributeError)


def is_spectra(folder: Path) -> bool:
    """Whether a folder holds the analysis of a model, or of two."""
    return is_one(folder) or is_two(folder)


def is_one(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def is_two(folder: Path) -> bool:
    return is_one(folder / "first") and is_one(folder / "second")


def spectra_html(folder: Path) -> str:
    """The page of a finished folder, whole and by itself."""
    from glassformer.page.spectra_payload import one_model, two_models
    from glassformer.page.write import html

    if not is_spectra(folder):
        raise UserError(f"{folder} holds no analysis of weights (glassformer spectra MODEL makes one)")
    try:
        payload = two_models(folder) if is_two(folder) else one_model(folder)
    except STRANGE as error:  # a table or a summary that somebody edited
        told = f"{type(error).__name__}: {error}"
        raise UserError(f"{folder} is damaged ({told}); glassformer spectra makes it anew") from error
    names = [model["name"] for model in payload["models"]]
    return html(payload, f"Spectra of {' and '.join(names)}", ENTRY)


def write_spectra_page(folder: Path) -> Path:
    """page.html in the folder."""
    write_text(folder / PAGE, spectra_html(folder))
    return folder / PAGE
