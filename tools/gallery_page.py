"""Make docs/gallery/page.md: every panel of the page as a reader sees it, photographed in Chromium.

make gallery             trains and analyses what is not in runs/ yet
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

import glassformer
from glassformer.core.atomic import make_folder, write_bytes, write_text
from tools.chromium import launch
from tools.gallery import HERE, analysed, train
from tools.small_picture import smaller

SCRATCH = Path("runs") / ".gallery"
DESK, PHONE = 1280, 390  # pixels
HEIGHT = {DESK: 900, PHONE: 844}
TALL = 2400  # what is outside the window is not painted
SCALE = 1.5  # pixels of a picture for one of the page
AT_REST = 600  # milliseconds after which maps are drawn finely, and panels have their last height
DRAWN = "section.panel svg, section.panel table, main table"  # something to see is there


class View(NamedTuple):
    """One page, and what is shown of it; no panels: the first window alone."""

    name: str
    panels: tuple[str, ...] | None = ()  # ids; none: all
    hash: str = ""
    dark: bool = False
    width: int = DESK


VIEWS = (
    View("plus_last_even", None),
    View("plus_last_even", ("geometry",), hash="#step=600", dark=True),
    View("plus_last_even", (), dark=True),
    View("plus_last_even", (), width=PHONE),
    View("step_back", ("geometry", "attention")),
    View("lucky7", ("proof",)),
    View("microadder-57", None),
    View("microadder-57", ("digits",), dark=True, width=PHONE),
    View("nanogpt-58", ("digits",)),
    View("tinyadder-95", ("digits", "numberline")),
    View("rope-62", ("digits",)),
    View("index"),
    View("spectra", None),
    View("spectra", ("heads",), dark=True, width=PHONE),
)


def main() -> None:
    lines = ["# The page, in pictures", "", "Made by `make gallery`, in a headless Chromium.", ""]
    make_folder(SCRATCH)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for view in VIEWS:
            lines += [f"## {title(view)}", "", *view_lines(browser, view)]
        browser.close()
    write_text(HERE / "page.md", "\n".join(lines))


def title(view: View) -> str:
    """`plus_last_even, step=600, dark`"""
    words = [view.name, view.hash[1:], "dark" if view.dark else "", "phone" if view.width == PHONE else ""]
    return ", ".join(word for word in words if word)


def page_of(name: str) -> Path:
    """The page of a run, of a model of the zoo, of all runs, or of the spectra of a real model."""
    if name == "index":
        glassformer.page("runs")
        return Path("runs") / "index.html"
    if name == "spectra":
        return Path(analysed().folder or "") / "page.html"
    if "-" not in name:
        train(name)
    path = SCRATCH / f"{name}.html"
    glassformer.page(name if "-" in name else f"runs/{name}", out=path)
    return path


def view_lines(browser: Browser, view: View) -> list[str]:
    """Every picture of one view, and its lines."""
    lines: list[str] = []
    with opened(browser, view) as page:
        for part, about, picture in pictures(page, view):
            file = f"page-{title(view).replace(', ', '-').replace('=', '-')}-{part}.png"
            write_bytes(HERE / file, smaller(picture))
            lines += [f"**{part}.** {about}", "", f"![{part} of {view.name}]({file})", ""]
    return lines


@contextmanager
def opened(browser: Browser, view: View) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": view.width, "height": HEIGHT[view.width]},
        device_scale_factor=SCALE,
        color_scheme="dark" if view.dark else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(page_of(view.name).resolve().as_uri() + view.hash)
    page.wait_for_selector(DRAWN)
    yield page
    context.close()


def pictures(page: Page, view: View) -> Iterator[tuple[str, str, bytes]]:
    """Name, sentence and picture of everything to be shown: the first window, and panels."""
    if not view.panels:
        yield "top", "The first window.", page.screenshot()
    every = page.eval_on_selector_all("section.panel", "all => all.map((one) => one.id)")
    page.set_viewport_size({"width": view.width, "height": TALL})
    page.add_style_tag(
        content="#bar { position: static !important }"
    )  # it would lie over what is photographed
    for id in every if view.panels is None else [f"panel-{panel}" for panel in view.panels]:
        section = page.locator(f"#{id}")
        section.scroll_into_view_if_needed()
        section.locator("svg, table, p.missing").first.wait_for()
        page.wait_for_timeout(AT_REST)
        yield id.removeprefix("panel-"), section.locator(".about").first.inner_text(), section.screenshot()


if __name__ == "__main__":
    main()
