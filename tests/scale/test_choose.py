"""The words of a command make an engine; a wrong one is one sentence, and nothing heavy is loaded for any."""

import subprocess
import sys

import pytest

from glassformer.core.errors import UserError
from glassformer.scale.choose import make_engine
from glassformer.scale.cluster import RayEngine
from glassformer.scale.here import LocalEngine
from glassformer.scale.processes import ProcessEngine


def test_every_word_has_its_place():
    assert make_engine() == LocalEngine(1)
    assert make_engine("here", 3) == LocalEngine(3)
    assert make_engine("processes", 3, gpus_per_unit=0.5) == ProcessEngine(3, 0.5)
    assert make_engine("ray", 3, "auto", 1) == RayEngine("auto", 3, 1)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("rya",), "no engine called 'rya'; did you mean 'ray'? (see docs/clusters.md)"),
        (("here", -1), "--workers must be at least 1, or 0 for as many as there is room for, but it is -1"),
        (("processes", 0, "auto"), "--address is for --engine ray, but the engine is 'processes'"),
        (("ray", 0, None, -1), "GPUs per unit must be 0 or more, but it is -1"),
    ],
)
def test_a_wrong_word_is_one_sentence(words, sentence):
    with pytest.raises(UserError) as caught:
        make_engine(*words)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "code",
    [
        "from glassformer.cli.program import main; main(['--help'])",
        "from glassformer.cli.program import main; main([])",
        "from glassformer.scale.choose import make_engine; make_engine('ray'); make_engine('processes')",
    ],
)
def test_nothing_heavy_is_loaded(code):
    check = "import sys; sys.exit(', '.join({'ray', 'jax', 'numpy'} & {*sys.modules}) or 0)"
    quiet = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): "
    ran = subprocess.run(
        [sys.executable, "-c", f"{quiet}{code}\n{check}"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
