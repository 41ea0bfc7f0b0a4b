"""`glassformer page`: a run, a model or a folder of runs as one interactive HTML file, for any browser."""

import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.core.answer import Answer, Request
from glassformer.core.errors import require_value

if TYPE_CHECKING:
    from glassformer.commands.page_files import PageResult

_MOST_DIGITS = 40  # of a page's numbers: more columns than that nobody can read


def page(
    target: str | Path,
    *,
    out: str | Path | None = None,
    seconds: float = 10.0,
    digits: int | None = None,
    open: bool | None = None,
    model: str | None = None,
    show: bool = False,
) -> "PageResult":
    """Write an interactive page of a model, a run or a sweep as one HTML file.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file; or a folder of runs,
            a folder of spectra or a sweep
        out (FILE): where to write (default: page.html in the folder, or NAME.page.html)
        seconds (--time SECONDS): time limit for the proof, if there is none yet
        digits (N): digits of the page's numbers, for an adder of every length (default: as in training)
        open: open the page in a browser (default: yes from a terminal with a display)
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer page runs/plus_last_even                       writes runs/plus_last_even/page.html
        glassformer page nanogpt-58 --out adder.html --time 30     a zoo model; also proves it
        glassformer page any-8 --digits 20                         an adder of every length: longer numbers
        glassformer page runs/                                     an index of all runs, and a page for each
        glassformer page qwen/                                     a folder written by glassformer spectra
        glassformer page sweeps/adders                             a sweep, finished or not
    """
    from glassformer.commands.page_files import require_html_name, write_target_page

    require_value(seconds > 0, "time", "above 0 seconds", seconds)
    fits = digits is None or 1 <= digits <= _MOST_DIGITS
    require_value(fits, "--digits", f"between 1 and {_MOST_DIGITS}", digits)
    require_html_name(out)
    path = Path(out) if out is not None else None
    result = write_target_page(target, path, model, show, seconds, digits)
    wanted = open if open is not None else show and _has_viewer()
    return replace(result, opened=_open_browser(result)) if wanted else result


def _has_viewer() -> bool:
    """Whether a person sits at a screen: standard output is a terminal, and there is a display."""
    screen = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    return bool(screen and sys.stdout and sys.stdout.isatty())


def _open_browser(result: "PageResult") -> bool:
    import webbrowser

    return webbrowser.open(result.address)


def answer_page(result: "PageResult", request: Request) -> Answer:
    """The summary for people."""
    first, size = Path(result.files[0]), Path(result.files[0]).stat().st_size
    more = f", and {len(result.files) - 1} more" if len(result.files) > 1 else ""
    lines = [f"{first}: {size / 1e6:.2g} MB in {result.seconds:.1f} s{more}; it needs no network"]
    lines += [f"  {name} has no page: {reason}" for name, reason in result.skipped.items()]
    lines += [f"opened {result.address}" if result.opened else f"open {result.address}"]
    return Answer(asdict(result), "\n".join(lines))
