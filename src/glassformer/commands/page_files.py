"""The pages of models, folders of runs, analyses and sweeps, as files."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.core.atomic import lock_folder, make_folder, remove_unfinished, write_text
from glassformer.core.errors import UserError
from glassformer.core.waiting import show_count_bar, show_status
from glassformer.runs.folder import find_runs, is_complete
from glassformer.runs.load import LoadedModel, load_model, load_run
from glassformer.runs.seal import is_sealed, seal_written_files
from glassformer.zoo import ZOO

PAGE, _INDEX = "page.html", "index.html"
_ENDINGS = (".html", ".htm")
_SOURCES = ("params.safetensors", "result.json", "certificate.json", "history.safetensors")


@dataclass(frozen=True)
class PageResult:
    """What `--json` prints; the first file is the one to open."""

    files: list[str]
    seconds: float
    skipped: dict[str, str] = field(default_factory=dict)  # run to why it has no page
    opened: bool = False  # in a browser

    @property
    def address(self) -> str:
        """What a browser opens."""
        return Path(self.files[0]).resolve().as_uri()

    def _repr_html_(self) -> str:
        """The page itself, live, in a notebook."""
        from glassformer.pages.notebook import make_file_frame

        return make_file_frame(Path(self.files[0]))


def write_target_page(
    target: str | Path,
    out: Path | None,
    model: str | None,
    show: bool,
    seconds: float,
    digits: int | None = None,
) -> PageResult:
    """The page of what a target names; `seconds` bounds a proof that is not there yet."""
    began = time.perf_counter()
    files, skipped = _write_files(target, out, model, show, seconds, digits)
    return PageResult([str(path) for path in files], round(time.perf_counter() - began, 3), skipped)


def _write_files(
    target: str | Path, out: Path | None, model: str | None, show: bool, seconds: float, digits: int | None
) -> tuple[list[Path], dict[str, str]]:
    """The files of a target, and what was left out."""
    from glassformer.lens.page.write import is_spectra_folder
    from glassformer.sweeps.folder import is_sweep_folder

    path = Path(target)
    if str(target) in ZOO or not path.is_dir() or (path / "run.toml").exists():
        return [_write_own_page(load_model(target, model), out, show, seconds, digits)], {}
    if model is not None:
        raise UserError(f"--model is for .safetensors files; {target} is a folder")
    if digits is not None:
        raise UserError(f"--digits is for the page of an adder; {target} is a folder")
    if is_spectra_folder(path):
        return [_write_spectra_page(path, out, show)], {}
    if is_sweep_folder(path):
        return [_write_sweep_file(path, out, show)], {}
    if not find_runs(path):
        raise UserError(
            f"{path} holds neither a run, nor folders with runs, nor an analysis of weights, nor a sweep"
        )
    return _write_run_pages(path, out, show, seconds)


def _write_own_page(
    loaded: LoadedModel, out: Path | None, show: bool, seconds: float, digits: int | None = None
) -> Path:
    """page.html in a run's folder, NAME.page.html beside the user otherwise."""
    folder = loaded.folder
    path = out or (folder / PAGE if folder else Path(f"{loaded.name}.{PAGE}"))
    with (
        _lock_page_folder(path, folder),
        show_status(f"{path}: computing, proving for {seconds:g} s at most", show),
    ):
        write_model_page(loaded, folder, path, seconds, digits)
    return path


def write_model_page(
    loaded: LoadedModel, folder: Path | None, path: Path, seconds: float, digits: int | None = None
) -> None:
    """The page of a model at hand; `folder` is that of its run."""
    from glassformer.pages.payload import make_page_payload
    from glassformer.pages.write import make_html

    payload = make_page_payload(loaded, folder, seconds, digits)
    make_folder(path.parent)
    with seal_written_files(folder, path):
        remove_unfinished(path)
        write_text(path, make_html(payload, str(payload["name"])))


def _write_spectra_page(folder: Path, out: Path | None, show: bool) -> Path:
    from glassformer.lens.page.write import make_spectra_html

    path = out or folder / PAGE
    with _lock_page_folder(path, folder), show_status(f"{path}: reading the spectra", show):
        text = make_spectra_html(folder)
        make_folder(path.parent)
        remove_unfinished(path)
        write_text(path, text)
    return path


def _write_sweep_file(folder: Path, out: Path | None, show: bool) -> Path:
    from glassformer.pages.sweep_page import write_sweep_page

    path = out or folder / PAGE
    with _lock_page_folder(path, folder), show_status(f"{path}: reading the units", show):
        return write_sweep_page(folder, path)


def _write_run_pages(
    root: Path, out: Path | None, show: bool, seconds: float
) -> tuple[list[Path], dict[str, str]]:
    """The pages of all finished runs that have none of today, then the index over all."""
    from glassformer.pages.index import make_index_html

    pages, skipped = [], {}
    wanting = [folder for folder in find_runs(root) if is_complete(folder) and is_stale(folder)]
    with show_count_bar(len(wanting), show, "pages") as tell:
        for folder in wanting:
            try:
                pages.append(_write_own_page(load_run(folder), None, False, seconds))
            except (UserError, OSError) as error:  # one bad run does not hide the others
                skipped[folder.name] = str(error)
            if tell:
                tell(1)
    path = out or root / _INDEX
    make_folder(path.parent)
    remove_unfinished(path)
    write_text(path, make_index_html(root, path.parent, skipped))
    return [path, *pages], skipped


def is_stale(folder: Path) -> bool:
    """Whether a run has no page, one that is not whole, or one that is older than what it shows."""
    page = folder / PAGE
    if not is_sealed(folder, PAGE):
        return True
    sources = [folder / name for name in _SOURCES]
    return any(path.exists() and path.stat().st_mtime > page.stat().st_mtime for path in sources)


@contextmanager
def _lock_page_folder(path: Path, folder: Path | None) -> Iterator[None]:
    """No other process works in the folder while a page is written into it."""
    if folder is None or path.parent.resolve() != folder.resolve():
        yield
        return
    with lock_folder(folder):
        yield


def require_html_name(out: str | Path | None) -> None:
    """No folder, no weights: what is not a page is not written over, and a browser wants the ending."""
    if out is not None and (Path(out).is_dir() or Path(out).suffix.lower() not in _ENDINGS):
        raise UserError(f"--out must be the name of a file that ends with .html, but it is '{out}'")
