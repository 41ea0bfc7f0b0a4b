"""What a panel shows, as its CSV has it, and the same from Python's own pass in float64."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page

from glassformer.model.model import Model
from glassformer.runs.load import load

from .pages import RUNS

TOLERANCE = 1e-9  # relative to the largest: what another order of sums may change in float64


def rows_of(page: Page, panel: str) -> list[dict[str, str]]:
    """The rows that a user saves from the panel's menu."""
    page.locator(f"#panel-{panel} summary").first.click()
    with page.expect_download() as download:
        page.locator(f"#panel-{panel} [data-format=CSV]").click()
    return list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))


def trace_of(page: Page, target: str) -> dict[str, Any]:
    """Every intermediate for the tokens that the page reads."""
    loaded = load(RUNS / target if (RUNS / target).is_dir() else target)
    exact = Model(replace(loaded.architecture, precision="float64"), loaded.params)
    return exact.trace(np.array(page.evaluate("glassformer.viewOf().tokens")))


def assert_close(shown: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(shown, wanted, rtol=0, atol=TOLERANCE * max(1.0, float(np.abs(wanted).max())))
