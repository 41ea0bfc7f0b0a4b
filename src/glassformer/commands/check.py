"""`glassformer check`: verify a certificate with code that shares nothing with the search for the proof."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.check.certificate import Checked
from glassformer.check.claims import model_hash
from glassformer.errors import UserError
from glassformer.runs.load import load
from glassformer.zoo import ZOO

NOT_VALID = 1


def check(file: str | Path, target: str | None = None, model: str | None = None) -> Checked:
    """Whether every claim of the file holds, and it is about the model that it, or `target`, names."""
    from glassformer.check.certificate import check as check_claims

    content = read(Path(file))
    require_same_model(Path(file), content, target, model)
    return check_claims(content)


def check_file(file: str, target: str | None, model: str | None) -> tuple[dict[str, Any], str, int]:
    found = check(file, target, model)
    words = f"{file}: {'valid' if found.valid else 'NOT valid'}; {found.reason} ({found.seconds:.1f} s)"
    return asdict(found), words, 0 if found.valid else NOT_VALID


def read(path: Path) -> dict[str, Any]:
    """The JSON object of a file; one sentence for anything else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"there is no file {path}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON, or was cut off ({error})") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} is no certificate: a JSON object is expected")
    return content


def require_same_model(path: Path, content: dict[str, Any], target: str | None, model: str | None) -> None:
    """The certificate must be about the target; without one, about the run it lies in or the zoo's model."""
    about = content.get("model")
    said = about.get("sha256") if isinstance(about, dict) else None
    named = target or neighbour(path) or zoo_name(about)
    if named is None:
        return
    loaded = load(named, model)
    found = model_hash(loaded.architecture, loaded.params)
    if said != found:
        raise UserError(f"{path} is the certificate of another model: its weights are not those of {named}")


def neighbour(path: Path) -> str | None:
    """The run whose folder a certificate lies in."""
    is_run = (path.parent / "run.toml").exists() and (path.parent / "params.safetensors").exists()
    return str(path.parent.resolve()) if is_run else None


def zoo_name(about: Any) -> str | None:
    """The zoo's model that a certificate says it is about, where the package has its numbers."""
    origin = about.get("origin") if isinstance(about, dict) else None
    return origin if origin in ZOO and (ZOO[origin].build or ZOO[origin].weights) else None
