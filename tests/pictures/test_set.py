"""The whole set: every figure of every model is sound, and together they draw every parameter."""

import subprocess
import sys

import numpy as np
import pytest

from glassformer.core.theme import THEMES
from glassformer.pictures.parts.matrices import PARAMETER
from glassformer.pictures.registry import FIGURES
from tests.pictures.conftest import NAMES, subject_of
from tests.pictures.faults import faults
from tests.selection import each

IDS = [picture.id for picture in FIGURES]


@pytest.mark.parametrize(("id", "name"), each(5, [(id, name) for id in IDS for name in NAMES]))
def test_no_figure_has_a_fault(id, name):
    picture = FIGURES[IDS.index(id)]
    data = picture.compute(subject_of(name))
    assert faults(picture.draw(data, THEMES["light"])) == []
    assert len(picture.caption(data)) > 60
    assert "nan" not in picture.caption(data)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["dark", "print"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("picture", FIGURES, ids=IDS)
def test_no_figure_has_a_fault_in_other_themes(picture, name, theme):
    assert faults(picture.draw(picture.compute(subject_of(name)), THEMES[theme])) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_set_draws_every_parameter(name):
    """Every stored number, once or more, as it is stored: in all the whole count of the model."""
    subject = subject_of(name)
    drawn: dict[str, np.ndarray] = {}
    for picture in FIGURES:
        if picture.id in ("05", "08", "F2", "F4"):
            figure = picture.draw(picture.compute(subject), THEMES["light"])
            for image in (image for axes in figure.axes for image in axes.images):
                if (image.get_gid() or "").startswith(PARAMETER):
                    drawn[image.get_gid().removeprefix(PARAMETER)] = np.asarray(image.get_array())
    params = subject.model.params
    assert set(drawn) == set(params)
    assert sum(array.size for array in drawn.values()) == sum(array.size for array in params.values())
    for part, array in params.items():
        np.testing.assert_allclose(np.sort(drawn[part], axis=None), np.sort(array, axis=None), rtol=1e-6)


def test_numbers_are_unique_and_in_order():
    assert len(set(IDS)) == len(IDS)
    assert IDS[:18] == [f"{number:02d}" for number in range(1, 19)]
    assert len({picture.file for picture in FIGURES}) == len(IDS)


def test_drawing_starts_without_jax():
    modules = sorted({f"glassformer.pictures.figures.{picture.module}" for picture in FIGURES})
    code = (
        f"import sys, {', '.join(modules)}, glassformer.commands.draw_figures, glassformer.commands.video\n"
    )
    code += "print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_listing_needs_no_matplotlib():
    code = "import sys; from glassformer.cli.program import main; main(['list', 'figures'])\n"
    code += "print('matplotlib' in sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "False\n"
    assert "F1" in done.stdout


def test_no_figure_of_these_imports_jax() -> None:
    modules = "architecture, learning_curve, training_data, generated, embeddings, embedding_scatter"
    code = f"""
import sys
from tests.pictures.conftest import subject_of
from glassformer.core.theme import THEMES
from glassformer.pictures.figures import {modules}
subject = subject_of("plus_last_even")
for module in ({modules}):
    data = module.compute(subject)
    module.draw(data, THEMES["light"]), module.caption(data)
sys.exit("jax" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
