"""A certificate that was made here is valid on processors that have other instructions."""

import os
import subprocess
import sys

import pytest

import glassformer
from glassformer.zoo import ZOO

FEATURES = ("", "X86_V4 AVX512_ICL", "X86_V3 X86_V4 AVX512_ICL")
SHIPPED = [name for name, entry in ZOO.items() if entry.build or entry.weights]
CHECK = """
import sys
from glassformer.checker.certificate import check_certificate
print(*(check_certificate(path).reason for path in sys.argv[1:]), sep="\\n")
"""


def check_with(features, files):
    """What the checker says of each file, in a NumPy without some instructions of the processor."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHECK, *map(str, files)],
        env=os.environ | {"NPY_DISABLE_CPU_FEATURES": features},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def require_valid_everywhere(names, folder):
    files = {name: folder / f"{name}.json" for name in names}
    verdicts = {name: glassformer.prove(name, out=file).verdict for name, file in files.items()}
    for features in FEATURES:
        said = dict(zip(files, check_with(features, files.values()), strict=True))
        assert said == {name: f"every claim holds: {verdict}" for name, verdict in verdicts.items()}


def test_certificates_are_valid_with_other_instructions(tmp_path):
    require_valid_everywhere(["glass-29"], tmp_path)


@pytest.mark.slow
def test_those_of_the_whole_zoo_are(tmp_path):
    require_valid_everywhere(SHIPPED, tmp_path)
