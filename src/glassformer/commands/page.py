"""`glassformer page`: a run, a model or a folder of runs as one interactive HTML file, for any browser.

From Python the same is `glassformer.page("runs/plus_last_even")`; a notebook shows it live.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.commands.waiting import bar, waiting
from glassformer.errors import UserError, require
from glassformer.runs.atomic import locked, make_folder, remove_unfinished, write_text
from glassformer.runs.folder import find_runs, is_complete
from glassformer.runs.load import Loaded, load, load_run
from glassformer.runs.seal import is_sealed, sealing
from glassformer.zoo import ZOO

PAGE, INDEX = "page.html", "index.html"
ENDINGS = (".html", ".htm")
SECONDS = 10.0  # for the proof of a model that has none yet
SOURCES = ("params.safetensors", "result.json", "certificate.json", "history.safetensors")


@dataclass(frozen=True)
class PageResult:
    """What `--json` prints; the first file is the one to open."""

    files: list[str]
    seconds: float
    skipped: dict[str, str] = field(default_factory=dict)  # run to why it has no page

    @property
    def address(self) -> str:
        """What a browser opens."""
        return Path(self.files[0]).resolve().as_uri()

    def _repr_html_(self) -> str:
        """The page itself, live, in a notebook."""
        from glassformer.page.notebook import frame_of

        return frame_of(Path(self.files[0]))


def page(
    target: str | Path,
    out: str | Path | None = None,
    model: str | None = None,
    show: bool = False,
    seconds: float = SECONDS,
    open: bool = False,
) -> PageResult:
    """Write the page of what a target names; `seconds` bounds a proof that is not there yet."""
    began = time.perf_counter()
    require(seconds > 0, "time", "above 0 seconds", seconds)
    refuse_others(out)
    files, skipped = written(target, Path(out) if out is not None else None, model, show, seconds)
    result = PageResult([str(path) for path in files], round(time.perf_counter() - began, 3), skipped)
    if open:
        open_browser(result)
    return result


def written(
    target: str | Path, out: Path | None, model: str | None, show: bool, seconds: float
) -> tuple[list[Path], dict[str, str]]:
    """The files of a target, and what was left out."""
    from glassformer.page.spectra_page import is_spectra
    from glassformer.sweep.folder import is_sweep

    path = Path(target)
    if str(target) in ZOO or not path.is_dir() or (path / "run.toml").exists():
        return [page_of_model(load(target, model), out, show, seconds)], {}
    if model is not None:
        raise UserError(f"--model is for .safetensors files; {target} is a folder")
    if is_spectra(path):
        return [page_of_spectra(path, out, show)], {}
    if is_sweep(path):
        return [page_of_sweep(path, out, show)], {}
    if not find_runs(path):
        raise UserError(
            f"{path} holds neither a run, nor folders with runs, nor an analysis of weights, nor a sweep"
        )
    return page_of_runs(path, out, show, seconds)


def page_of_model(loaded: Loaded, out: Path | None, show: bool, seconds: float) -> Path:
    """page.html in a run's folder, NAME.page.html beside the user otherwise."""
    folder = loaded.folder
    path = out or (folder / PAGE if folder else Path(f"{loaded.name}.{PAGE}"))
    with kept_alone(path, folder), waiting(f"{path}: computing, proving for {seconds:g} s at most", show):
        write_page(loaded, folder, path, seconds)
    return path


def write_page(loaded: Loaded, folder: Path | None, path: Path, seconds: float) -> None:
    """The page of a model at hand; `folder` is that of its run."""
    from glassformer.page.payload import payload_of
    from glassformer.page.write import html

    payload = payload_of(loaded, folder, seconds)
    make_folder(path.parent)
    with sealing(folder, path):
        remove_unfinished(path)
        write_text(path, html(payload, str(payload["name"])))


def page_of_spectra(folder: Path, out: Path | None, show: bool) -> Path:
    from glassformer.page.spectra_page import spectra_html

    path = out or folder / PAGE
    with kept_alone(path, folder), waiting(f"{path}: reading the spectra", show):
        text = spectra_html(folder)
        make_folder(path.parent)
        remove_unfinished(path)
        write_text(path, text)
    return path


def page_of_sweep(folder: Path, out: Path | None, show: bool) -> Path:
    from glassformer.page.sweep_page import write_sweep_page

    path = out or folder / PAGE
    with kept_alone(path, folder), waiting(f"{path}: reading the units", show):
        return write_sweep_page(folder, path)


def page_of_runs(
    root: Path, out: Path | None, show: bool, seconds: float
) -> tuple[list[Path], dict[str, str]]:
    """The pages of all finished runs that have none of today, then the index over all."""
    from glassformer.page.index import index_html

    pages, skipped = [], {}
    wanting = [folder for folder in find_runs(root) if is_complete(folder) and is_stale(folder)]
    with bar(len(wanting), show, "pages") as tell:
        for folder in wanting:
            try:
                pages.append(page_of_model(load_run(folder), None, False, seconds))
            except (UserError, OSError) as error:  # one bad run does not hide the others
                skipped[folder.name] = str(error)
            if tell:
                tell(1)
    path = out or root / INDEX
    make_folder(path.parent)
    remove_unfinished(path)
    write_text(path, index_html(root, path.parent, skipped))
    return [path, *pages], skipped


def is_stale(folder: Path) -> bool:
    """Whether a run has no page, one that is not whole, or one that is older than what it shows."""
    page = folder / PAGE
    if not is_sealed(folder, PAGE):
        return True
    sources = [folder / name for name in SOURCES]
    return any(path.exists() and path.stat().st_mtime > page.stat().st_mtime for path in sources)


@contextmanager
def kept_alone(path: Path, folder: Path | None) -> Iterator[None]:
    """No other process works in the folder while a page is written into it."""
    if folder is None or path.parent.resolve() != folder.resolve():
        yield
        return
    with locked(folder):
        yield


def refuse_others(out: str | Path | None) -> None:
    """No folder, no weights: what is not a page is not written over, and a browser wants the ending."""
    if out is not None and (Path(out).is_dir() or Path(out).suffix.lower() not in ENDINGS):
        raise UserError(f"--out must be the name of a file that ends with .html, but it is '{out}'")


def somebody_looks() -> bool:
    """Whether a person sits at a screen: standard output is a terminal, and there is a display."""
    screen = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    return bool(screen and sys.stdout and sys.stdout.isatty())


def open_browser(result: PageResult) -> bool:
    import webbrowser

    return webbrowser.open(result.address)


def page_words(result: PageResult, is_open: bool) -> str:
    """The summary for people."""
    first, size = Path(result.files[0]), Path(result.files[0]).stat().st_size
    more = f", and {len(result.files) - 1} more" if len(result.files) > 1 else ""
    lines = [f"{first}: {size / 1e6:.2g} MB in {result.seconds:.1f} s{more}; it needs no network"]
    lines += [f"  {name} has no page: {reason}" for name, reason in result.skipped.items()]
    return "\n".join([*lines, f"opened {result.address}" if is_open else f"open {result.address}"])
