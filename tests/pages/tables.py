"""What a panel shows, as its files have it, and the same from Python's own pass in float64."""

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page

from glassformer.models.model import Model
from glassformer.runs.load import LoadedModel, load_model

from .pages import RUNS

TOLERANCE = 1e-9  # relative to the largest: what another order of sums may change in float64


def rows_of(page: Page, panel: str) -> list[dict[str, str]]:
    """The rows that a user saves from the panel's menu, as texts."""
    return list(csv.DictReader(saved(page, panel, "CSV").splitlines()))


def numbers_of(page: Page, panel: str) -> list[dict[str, Any]]:
    """The same, as numbers."""
    content = json.loads(saved(page, panel, "JSON"))
    return [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]


def saved(page: Page, panel: str, form: str) -> str:
    page.locator(f"#panel-{panel} .menu summary").click()
    with page.expect_download() as download:
        page.locator(f"#panel-{panel} [data-format={form}]").click()
    return Path(download.value.path()).read_text(encoding="utf-8")


@cache
def loaded_of(target: str) -> LoadedModel:
    return load_model(RUNS / target if (RUNS / target).is_dir() else target)


def exact(target: str, params: Mapping[str, np.ndarray] | None = None) -> Model:
    """The model in float64, with its own numbers or with others."""
    loaded = loaded_of(target)
    return Model(
        replace(loaded.architecture, precision="float64"), loaded.params if params is None else params
    )


def trace_of(page: Page, target: str) -> dict[str, Any]:
    """Every intermediate for the tokens that the page reads."""
    return exact(target).trace(np.array(page.evaluate("glassformer.viewOf().tokens")))


def assert_close(shown: Any, wanted: Any) -> None:
    shown, wanted = np.asarray(shown, float), np.asarray(wanted, float)
    np.testing.assert_allclose(shown, wanted, rtol=0, atol=TOLERANCE * max(1.0, float(np.abs(wanted).max())))
