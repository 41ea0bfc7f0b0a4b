"""Maps fit their panels."""

import numpy as np
import pytest

from tests.pictures.video.staged import staged


@pytest.mark.parametrize("width", [340, 400])
def test_maps_fit_their_panels_at_every_width(width: int) -> None:
    """Panels of one size on paper may differ by a pixel on the screen."""
    stage = staged("landscape", width=width, every=11)
    assert next(iter(stage.frames())).shape[1] == width


def test_a_coarse_map_of_a_dear_model_fits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.pictures.video.outlook.DEAR", 1)
    monkeypatch.setattr("glassformer.pictures.video.outlook.COARSE", 50)
    *_, last = staged("landscape", width=320, every=11).frames()
    assert len(np.unique(last.reshape(-1, 4), axis=0)) > 100
