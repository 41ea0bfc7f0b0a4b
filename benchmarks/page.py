"""The page in a real browser: bytes, first paint, and the work of one scrub step, for rule runs and adders.

A step is timed inside the page: setting the state, drawing every panel that the window shows, and the layout
that follows (rasterising is the browser's and left out). The window is 1280 x 900 at the top of the page, and
then tall enough for every panel. `--plotly` draws eight charts of the same kind with Plotly, in the same run.

    python -m benchmarks.page [RUN ...]        python -m benchmarks.page --plotly   (pip install plotly)
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import glassformer
from tools.chromium import launch

PAINTS = 5  # loads that the median is taken of
STEPS = 60  # scrub steps
WINDOWS = {"window": 900, "all panels": 9000}  # pixels of height
WARM = 10  # steps before the clock runs, so that the compiled code is what is timed

# Sums up the work of animation frames, which is where panels are drawn.
WATCH = """
window.spent = 0;
const later = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => later((time) => {
  const begin = performance.now();
  callback(time);
  window.spent += performance.now() - begin;
});
"""
STEP = """
async (step) => {
  window.spent = 0;
  const begin = performance.now();
  window.glassformer.store.set({ step });
  let work = performance.now() - begin;
  await new Promise((done) => setTimeout(done, 60));
  const layout = performance.now();
  document.body.getBoundingClientRect();
  return work + window.spent + performance.now() - layout;
}
"""
PLOTLY = """
async () => {
  const random = (count) => Array.from({ length: count }, Math.random);
  const begin = performance.now();
  for (let i = 0; i < 8; i++) {
    const points = { type: "scatter", mode: "markers+text", x: random(24), y: random(24), text: random(24).map((x) => x.toFixed(2)) };
    const cells = { type: "heatmap", z: Array.from({ length: 8 }, () => random(8)), texttemplate: "%{z:.2f}" };
    await Plotly.react(`plot${i}`, [i % 2 ? cells : points], { width: 560, height: 400 });
  }
  document.body.getBoundingClientRect();
  return performance.now() - begin;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "runs",
        nargs="*",
        help="run folders or zoo ids; none: a short run of plus_last_even, and microadder-57",
    )
    parser.add_argument("--plotly", action="store_true", help="the same with Plotly, for comparison")
    asked = parser.parse_args()
    print(f"{'page':24}{'bytes':>12}{'first paint':>14}{'':>14}{'scrub step, median':>22}{'95%':>10}")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for target in asked.runs or examples(Path(folder)):
            path = Path(folder) / f"{Path(target).name}.html"
            glassformer.page(target, out=path)
            show(browser, Path(target).name, path)
        if asked.plotly:
            show_plotly(browser, Path(folder) / "plotly.html")


def examples(folder: Path) -> list[str]:
    """A run with forty checkpoints, and a model of the zoo."""
    options = {"train.steps": 2000, "train.seeds": 4, "draw.figures": "none"}
    glassformer.run("plus_last_even", out=folder / "plus_last_even", options=options)
    return [str(folder / "plus_last_even"), "microadder-57"]


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


def show(browser: Browser, name: str, path: Path) -> None:
    """One line a window height."""
    paint = statistics.median(first_paint(browser, path) for _ in range(PAINTS))
    for about, height in WINDOWS.items():
        with opened(browser, path, height) as page:
            times = scrub_times(page)
        step = (
            f"{statistics.median(times):15.1f} ms{quantile(times, 0.95):10.1f} ms"
            if times
            else f"{'no checkpoints':>18}"
        )
        print(f"{name:24}{path.stat().st_size:>12,}{paint:>11.0f} ms{about:>14}    {step}", flush=True)


@contextmanager
def opened(browser: Browser, path: Path, height: int = 900) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": height})
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    yield page
    page.close()


def first_paint(browser: Browser, path: Path) -> float:
    """Milliseconds from the start of the load to the first content."""
    with opened(browser, path) as page:
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        return float(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


def scrub_times(page: Page) -> list[float]:
    """Milliseconds of work of every step, up and down the checkpoints."""
    steps: list[int] = page.evaluate("window.glassformer.payload.training?.steps ?? []")
    turns = [steps[i % len(steps)] for i in range(STEPS + WARM)] if steps else []
    return [float(page.evaluate(STEP, step)) for step in turns][WARM:]


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def show_plotly(browser: Browser, path: Path) -> None:
    """Eight charts, redrawn with other numbers."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        sys.exit("--plotly needs its package: pip install plotly")
    plots = "".join(f'<div id="plot{i}"></div>' for i in range(8))
    path.write_text(
        f"<!doctype html><meta charset=utf-8><p>Plotly</p>{plots}<script>{get_plotlyjs()}</script>"
    )
    paint = statistics.median(first_paint(browser, path) for _ in range(PAINTS))
    with opened(browser, path, WINDOWS["all panels"]) as page:
        times = [float(page.evaluate(PLOTLY)) for _ in range(20 + WARM)][WARM:]
    step = f"{statistics.median(times):15.1f} ms{quantile(times, 0.95):10.1f} ms"
    print(
        f"{'eight Plotly charts':24}{path.stat().st_size:>12,}{paint:>11.0f} ms{'all panels':>14}    {step}"
    )


if __name__ == "__main__":
    main()
