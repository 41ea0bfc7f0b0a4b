"""A real Chromium for the tests: pages open from file:// addresses, without a network, and must not complain.

What a test waits for is a function, `page.wait_for_function("() => ...")`: a bare expression would be read as
code at every try, and a page's own policy forbids that.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tools.chromium import find_chromium, launch

PATIENCE = 20_000  # milliseconds that a condition is waited for: a busy machine, not a slow page
KEPT = 8  # pages that stay open for the tests after
# Until what the state asks for is drawn: a part of the page follows in the frame after a change.
NEXT_FRAME = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
# The page as it was when it was opened: state, fields, menus and focus.
AS_OPENED = """() => new Promise((resolve) => {
  const { store, lab } = glassformer;
  document.querySelector("#play[aria-label=Pause]")?.click();
  document.querySelector("dialog[open]")?.close();
  for (const menu of document.querySelectorAll("details[open]")) menu.open = false;
  const escape = () => new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
  for (const field of document.querySelectorAll("#input input")) field.dispatchEvent(escape());
  document.activeElement?.blur();
  store.set(lab.firstState());
  scrollTo({ top: 0, behavior: "instant" });
  requestAnimationFrame(() => requestAnimationFrame(resolve));
})"""


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a process."""
    try:
        find_chromium()
    except RuntimeError as error:  # a sentence that says how to get one, not a skipped test
        pytest.fail(str(error), pytrace=False)
    with sync_playwright() as playwright:
        one = launch(playwright)
        yield one
        one.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens an HTML text or file: `page = open_page(text, hash="step=300", width=390, dark=True)`.

    After the test nothing may have been written to the console as an error, thrown, or asked for.
    """
    opener = Opener(browser, tmp_path)
    yield opener
    opener.close()
    assert not opener.problems, opener.problems


@pytest.fixture(scope="session")
def shelf(browser, tmp_path_factory):
    one = Opener(browser, tmp_path_factory.mktemp("shelf"))
    yield one
    one.close()


@pytest.fixture
def shared_page(shelf):
    """A page that other tests had too, as when it was opened: shared_page(text, width=390).

    To open one takes half a second. What a page keeps besides its state (the axes of a scatter, arrays that were
    unfolded, numbers that a test wrote into it) stays: such a test opens a page of its own.
    """
    yield shelf.again
    problems, shelf.problems = shelf.problems, []
    assert problems == []


class Opener:
    """Opens pages and hears all that goes wrong in them; a test that expects it says so, or empties `problems`."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder
        self.contexts: list[BrowserContext] = []
        self.problems: list[str] = []
        self.expected = "\0"  # words of a complaint that is meant to come
        self.kept: dict[tuple[object, ...], Page] = {}

    def again(self, html: str | Path, **options) -> Page:
        """The page of this text or file that is still open, as it was at first; else a new one."""
        key = (html, *sorted(options.items()))
        page = self.kept.pop(key, None)
        if page is None:
            page = self(html, **options)
        else:
            page.mouse.move(0, 0)
            page.evaluate(AS_OPENED)
        self.kept[key] = page
        if len(self.kept) > KEPT:
            self.kept.pop(next(iter(self.kept))).context.close()
        return page

    def __call__(
        self,
        html: str | Path,
        hash: str = "",
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        **options,
    ) -> Page:
        """A page at an address of its own; `options` are those of a Playwright context."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            offline=True,
            **options,
        )
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.on("request", self.heard_request)
        context.on("page", self.hear)
        page = context.new_page()
        page.goto(self.address(html) + (f"#{hash.removeprefix('#')}" if hash else ""))
        return page

    def address(self, html: str | Path) -> str:
        if isinstance(html, str) and html.lstrip().startswith("<"):
            path = self.folder / f"opened_{len(self.contexts)}.html"
            path.write_text(html, encoding="utf-8")
            return path.as_uri()
        return Path(html).resolve().as_uri()

    def hear(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.problems.append(f"thrown: {error}"))
        page.on("console", self.heard_message)

    def heard_message(self, message) -> None:
        if message.type in ("error", "warning") and self.expected not in message.text:
            self.problems.append(f"{message.type}: {message.text}")

    def heard_request(self, request) -> None:
        """A page may open another page by a link; it loads nothing."""
        is_document = request.is_navigation_request() and request.url.startswith("file:")
        if not is_document and not request.url.startswith(("data:", "blob:", "about:")):
            self.problems.append(f"asked for {request.url}")

    def close(self) -> None:
        for context in self.contexts:
            context.close()
