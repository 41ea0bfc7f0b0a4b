"""page.html of a spectra folder: heatmaps, one head's spectra, weights over depth, tables; two models too.

html = make_spectra_html(Path("SmolLM2-135M.spectra"))
"""

from pathlib import Path

from glassformer.core.atomic import write_text
from glassformer.core.errors import UserError
from glassformer.lens.store import MANIFEST, PAGE

_ENTRY = "lens/page/assets/main.js"
_STRANGE = (KeyError, TypeError, ValueError, IndexError, AttributeError)


def is_spectra_folder(folder: Path) -> bool:
    """Whether a folder holds the analysis of a model, or of two."""
    return _has_one_analysis(folder) or _has_two_analyses(folder)


def _has_one_analysis(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def _has_two_analyses(folder: Path) -> bool:
    return _has_one_analysis(folder / "first") and _has_one_analysis(folder / "second")


def make_spectra_html(folder: Path) -> str:
    """The page of a finished folder, whole and by itself."""
    from glassformer.lens.page.payload import make_comparison_payload, make_model_payload
    from glassformer.pages.write import make_html

    if not is_spectra_folder(folder):
        raise UserError(f"{folder} holds no analysis of weights (glassformer spectra MODEL makes one)")
    try:
        payload = make_comparison_payload(folder) if _has_two_analyses(folder) else make_model_payload(folder)
    except _STRANGE as error:  # a table or a summary that somebody edited
        told = f"{type(error).__name__}: {error}"
        raise UserError(f"{folder} is damaged ({told}); run glassformer spectra again") from error
    names = [model["name"] for model in payload["models"]]
    return make_html(payload, f"Spectra of {' and '.join(names)}", _ENTRY)


def write_spectra_page(folder: Path) -> Path:
    """page.html in the folder."""
    write_text(folder / PAGE, make_spectra_html(folder))
    return folder / PAGE
