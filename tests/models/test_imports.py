"""Reading, counting and drawing start without JAX."""

import subprocess
import sys
from pathlib import Path

import glassformer.models

MODULES = sorted(path.stem for path in Path(glassformer.models.__file__).parent.glob("[a-z]*.py"))


def test_only_the_jax_operations_import_jax():
    names = [
        f"glassformer.models.{module}"
        for module in MODULES
        if module not in ("ops_jax", "ops_rows", "ops_lanes")
    ]
    code = f"import sys, {', '.join(names)}; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
