"""Every proved model is a file that commands take."""

import numpy as np

from glassformer.runs.load import load_model
from glassformer.sweeps.models import save_proved_models, write_sweep_certificates
from glassformer.sweeps.reading import make_sweep
from glassformer.sweeps.unit import UnitResult
from tests.sweeps.small import row, work


def known_adder(unit):
    """Both seeds are glass-29 as it is shipped."""
    rows = [row(seed, True, seed == 1, 0.5) for seed in (0, 1)]
    params = {name: np.stack([array, array]) for name, array in load_model("glass-29").params.items()}
    return UnitResult(rows, params, 1.0, {})


def test_every_proved_model_is_a_file_that_commands_take(tmp_path):
    sweep = make_sweep("glass-29", numbers={"seeds": 2})
    (path,) = save_proved_models(tmp_path / "s", work(tmp_path / "s", known_adder, sweep))
    assert path == tmp_path / "s" / "models" / "glass-29-seed1.safetensors"
    loaded = load_model(path)
    assert loaded.add(57, 68) == 125
    assert all(
        np.array_equal(loaded.params[name], array) for name, array in load_model("glass-29").params.items()
    )
    (certificate,) = write_sweep_certificates([path], 20.0)
    assert certificate.name == "glass-29-seed1.certificate.json"
    assert '"proved"' in certificate.read_text()
