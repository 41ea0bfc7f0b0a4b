"""The whole poster, clean in the dark and drawn without JAX."""

import subprocess
import sys

from glassformer.core.theme import THEMES
from glassformer.pictures.registry import PANELS
from tests.pictures.faults import faults
from tests.pictures.poster.adders import (
    CAPTIONS,
    MICRO,
    shown_parameters,
    subject_of,
)


def test_the_whole_poster_is_clean_in_the_dark():
    poster = PANELS[0]
    data = poster.compute(subject_of(MICRO))
    figure = poster.draw(data, THEMES["dark"])
    assert faults(figure, page=54.0) == []
    assert sum(array.size for array in shown_parameters(figure).values()) == 57
    for number, start in enumerate(CAPTIONS, 1):
        assert f"({number}) {start}" in poster.caption(data)


def test_drawing_imports_no_jax():
    code = (
        "import sys; from glassformer.pictures.measure.prepare import make_subject as make;"
        "from glassformer.pictures.registry import PANELS; from glassformer.core.theme import THEMES;"
        "from glassformer.runs.load import load_model; s = make(load_model('glass-29'), 'glass-29');"
        "PANELS[1].draw(PANELS[1].compute(s), THEMES['light']); print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
