"""A certificate's file, checked, and about the model that it, or the user, names."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from glassformer.checker.certificate import check_certificate
from glassformer.checker.claims import hash_model
from glassformer.checker.parsing import read_certificate_file
from glassformer.checker.result import CheckResult
from glassformer.core.errors import UserError
from glassformer.models.lengths import is_any_length
from glassformer.runs.load import LoadedModel, load_model
from glassformer.zoo import ZOO


def check_file(file: str, target: str | None = None, model: str | None = None) -> CheckResult:
    """Whether every claim of the file holds, and it is about the model that it, or `target`, names."""
    content = read_certificate_file(Path(file))
    named = _require_same_model(Path(file), content, target, model)
    found = check_certificate(content)
    return replace(found, same_as=named) if found.valid else found


def _require_same_model(
    path: Path, content: Mapping[str, object], target: str | None, model: str | None
) -> str | None:
    """The model it must be about: the target, the run it lies in or the zoo's; none where none is named."""
    about = content.get("model")
    said = about.get("sha256") if isinstance(about, dict) else None
    named = target or _neighbour(path) or _zoo_name(about)
    if named is None:
        return None
    loaded = _fit_length(load_model(named, model), content.get("task"))
    found = hash_model(loaded.architecture, loaded.params)
    if said != found:
        raise UserError(f"{path} is the certificate of another model: its weights are not those of {named}")
    return named


def _fit_length(loaded: LoadedModel, task: object) -> LoadedModel:
    """An adder that there is for numbers of every length, as it is for numbers of the certificate's."""
    digits = task.get("digits") if isinstance(task, dict) else None
    fits = loaded.formulas or is_any_length(loaded.architecture, loaded.task)
    return loaded.with_digits(digits) if fits and type(digits) is int else loaded


def _neighbour(path: Path) -> str | None:
    """The run whose folder a certificate lies in."""
    is_run = (path.parent / "run.toml").exists() and (path.parent / "params.safetensors").exists()
    return str(path.parent.resolve()) if is_run else None


def _zoo_name(about: object) -> str | None:
    """The zoo's model that a certificate says it is about, where the package has its weights."""
    origin = about.get("origin") if isinstance(about, dict) else None
    if not isinstance(origin, str) or origin not in ZOO:
        return None
    return origin if ZOO[origin].build or ZOO[origin].weights else None
