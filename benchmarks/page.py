"""The page in a real browser: bytes, first paint, and one step of a scrub or of a dragged number.

A step is the state's change, every animation callback that follows in its frame (where panels are drawn),
and style and layout, which the last callback asks for; the clock is the wall's. Beside it stands the CPU time
of the page's main thread for all that and for painting (rasterising is done elsewhere): it grows less when
other work shares the machine. The window is 1280 x 900, at the top of the page and then at the geometry
panel, and once tall enough for every panel. `--plotly` draws eight charts of the same kind with Plotly.

    python -m benchmarks.page [RUN ...]        python -m benchmarks.page --plotly   (pip install plotly)
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

import glassformer
from benchmarks.examples import short_run
from tools.chromium import launch

PAINTS = 5  # loads that the median is taken of
STEPS = 40
WARM = 10  # steps before the clock runs, so that the compiled code is what is timed
WINDOWS = {"top": 900, "geometry": 900, "all panels": 9000}  # pixels of height

# Marks where a frame's animation callbacks begin.
WATCH = """
window.frame = { time: -1, begin: 0 };
const later = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => later((time) => {
  if (time !== window.frame.time) window.frame = { time, begin: performance.now() };
  callback(time);
});
"""
# The callback comes after the page's own, which the change has asked for: so it ends the frame's work.
STEP = """
(patch) => new Promise((done) => {
  const begin = performance.now();
  window.glassformer.store.set(patch);
  const changed = performance.now() - begin;
  requestAnimationFrame(() => {
    document.body.getBoundingClientRect();
    const drawn = performance.now() - window.frame.begin;
    setTimeout(() => done(changed + drawn), 20);
  });
})
"""
PATCHES = """
(count) => {
  const { training, model } = window.glassformer.payload;
  const { name, shape } = model.parameters.find((array) => array.learned) ?? model.parameters[0];
  const key = `${name}[${shape.map(() => 0).join(",")}]`;
  const value = window.glassformer.viewOf().params[name].data[0];
  const every = Array.from({ length: count }, (_, i) => i);
  const scrub = every.map((i) => ({ step: training?.steps[i % training.steps.length] }));
  const drag = every.map((i) => ({ step: null, changes: { [key]: value + 0.01 * (i + 1) } }));
  return training ? { scrub, drag } : { drag };
}
"""
FIRST_PAINT = """
() => new Promise((done) => {
  const isFirst = (entry) => entry.name === "first-contentful-paint";
  const look = (list) => list.getEntries().filter(isFirst).forEach((entry) => done(entry.startTime));
  new PerformanceObserver(look).observe({ type: "paint", buffered: true });
})
"""
SCROLL = """
(panel) => {
  const card = document.getElementById(`panel-${panel}`);
  window.scrollBy(0, card.getBoundingClientRect().top - document.getElementById("bar").offsetHeight);
}
"""
PLOTLY = """
async () => {
  const random = (count) => Array.from({ length: count }, Math.random);
  const begin = performance.now();
  for (let i = 0; i < 8; i++) {
    const text = random(24).map((x) => x.toFixed(2));
    const points = { type: "scatter", mode: "markers+text", x: random(24), y: random(24), text };
    const z = Array.from({ length: 8 }, () => random(8));
    const cells = { type: "heatmap", z, texttemplate: "%{z:.2f}" };
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
    heads = f"{'step: median, least':>21}{'CPU: median, least':>22}"
    print(f"{'page':18}{'bytes':>10}{'first paint':>13}  {'':18}{heads}")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        steps: dict[str, float] = {}
        for target in asked.runs or [str(short_run(Path(folder))), "microadder-57"]:
            path = Path(folder) / f"{Path(target).name}.html"
            glassformer.page(target, out=path)
            steps |= show(browser, Path(target).name, path)
        if asked.plotly:
            theirs = show_plotly(browser, Path(folder) / "plotly.html")
            for step, ours in steps.items():
                if step.endswith("all panels"):
                    print(f"eight charts of Plotly / {step}: {theirs / ours:.1f}")


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


def show(browser: Browser, name: str, path: Path) -> dict[str, float]:
    """One line per window and way of moving; the median milliseconds of each."""
    medians = {}
    paint = statistics.median(first_paint(browser, path) for _ in range(PAINTS))
    for window, height in WINDOWS.items():
        with opened(browser, path, height) as page:
            if window == "geometry":
                scroll_to(page, "geometry")
            for way, patches in page.evaluate(PATCHES, STEPS + WARM).items():
                times = steps_of(page, patches)
                show_line(name, path, paint, f"{way}, {window}", times)
                medians[f"{name}, {way}, {window}"] = statistics.median(wall for wall, _ in times)
    return medians


def show_line(name: str, path: Path, paint: float, way: str, times: list[tuple[float, float]]) -> None:
    walls, cpus = ([time[i] for time in times] for i in (0, 1))
    step = "".join(f"{statistics.median(each):13.1f}{min(each):6.1f} ms" for each in (walls, cpus))
    print(f"{name:18}{path.stat().st_size:>10,}{paint:>10.0f} ms  {way:18}{step}", flush=True)


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
        return float(page.evaluate(FIRST_PAINT))


def scroll_to(page: Page, panel: str) -> None:
    """Panels on the way grow as they are drawn, so the place is looked for until it holds."""
    for _ in range(5):
        page.evaluate(SCROLL, panel)
        page.wait_for_timeout(200)


def steps_of(page: Page, patches: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Milliseconds of every step: by the wall's clock, and of the main thread's CPU."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    times = []
    for patch in patches:
        before = cpu_time(session)
        wall = float(page.evaluate(STEP, patch))
        times.append((wall, cpu_time(session) - before))
    session.detach()
    return times[WARM:]


def cpu_time(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def show_plotly(browser: Browser, path: Path) -> float:
    """Eight charts, redrawn with other numbers: the median milliseconds."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        sys.exit("--plotly needs its package: pip install plotly")
    plots = "".join(f'<div id="plot{i}"></div>' for i in range(8))
    path.write_text(
        f"<!doctype html><meta charset=utf-8><p>Plotly</p>{plots}<script>{get_plotlyjs()}</script>",
        encoding="utf-8",
    )
    paint = statistics.median(first_paint(browser, path) for _ in range(PAINTS))
    with opened(browser, path, WINDOWS["all panels"]) as page:
        times = [float(page.evaluate(PLOTLY)) for _ in range(20 + WARM)][WARM:]
    step = f"{statistics.median(times):13.1f}{min(times):6.1f} ms"
    print(f"{'eight charts':18}{path.stat().st_size:>10,}{paint:>10.0f} ms  {'Plotly':18}{step}")
    return statistics.median(times)


if __name__ == "__main__":
    main()
