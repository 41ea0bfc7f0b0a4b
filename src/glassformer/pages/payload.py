"""All data of a model's page; assets/types.js says what each field is.

What a model lacks (training, other seeds) is left out; `missing` says how to get it.
"""

from pathlib import Path
from typing import Any

from glassformer.core.atomic import replace_nonfinite
from glassformer.pages.arithmetic import describe_arithmetic
from glassformer.pages.common_part import make_common_part
from glassformer.pages.families import find_family
from glassformer.pages.measure_words import is_plain_number
from glassformer.pages.measures_part import make_measures_part
from glassformer.pages.model_part import make_model_part
from glassformer.pages.pack import pack_arrays
from glassformer.pages.paths import quote_path
from glassformer.pages.population_part import make_population_part
from glassformer.pages.proof_part import find_page_verdict, make_proof_part
from glassformer.pages.story import make_story
from glassformer.pages.table_file import read_table
from glassformer.pages.task_part import list_token_parts, make_task_part
from glassformer.pages.training_part import make_training_part
from glassformer.pictures.poster.sums import find_model_summary
from glassformer.proofs.certificate import hash_model
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import LoadedModel
from glassformer.zoo import ZOO

_SECONDS = 10.0  # that a proof for a page may take
_Content = dict[str, Any]


def make_page_payload(
    loaded: LoadedModel, folder: Path | None = None, seconds: float = _SECONDS, digits: int | None = None
) -> _Content:
    """The data of one page; `folder` is the model's run folder, where it has one.

    `digits`: of the page's numbers, for an adder that takes every length; none: its own.
    """
    result = _read_own_result(loaded, folder)
    verdict, loaded = find_page_verdict(loaded, folder, seconds, digits)
    proof, family = make_proof_part(loaded, verdict), find_family(loaded.task)
    tests = family.draw_tests(loaded.task, loaded.architecture)
    training, population, missing = _make_past_parts(loaded, folder, result, proof["verdict"])
    content = {
        "family": loaded.task.family,
        "name": loaded.name,
        "target": quote_path(loaded.folder or Path(loaded.origin)),
        "about": find_model_summary(loaded.name, folder),
        **make_common_part(),
        "tokens": list_token_parts(loaded.task, loaded.architecture.vocab),
        "model": make_model_part(loaded, loaded.task),
        "task": make_task_part(loaded.task),
        "weights": pack_arrays(loaded.params),
        "training": training,
        "population": population,
        "proof": proof,
        "measures": make_measures_part(loaded.task, result),
        "start": _make_start_part(loaded, proof),
        "test": family.pack_tests(tests),
        "arithmetic": describe_arithmetic(loaded, tests, [one["input"] for one in proof["worst"]]),
        "story": [],
        "missing": missing,
    }
    done: _Content = replace_nonfinite({**content, "story": make_story(loaded, content, family.tell_story)})
    return done


def _read_own_result(loaded: LoadedModel, folder: Path | None) -> _Content:
    """The run's result, unless it is of other weights, which were changed since."""
    result, _ = read_table(folder / "result.json") if folder else ({}, None)
    proof = result.get("proof")
    named = proof.get("sha256") if isinstance(proof, dict) else None
    is_other = bool(named) and named != hash_model(loaded.architecture, loaded.params)
    return {} if is_other else result


def _make_past_parts(
    loaded: LoadedModel, folder: Path | None, result: _Content, verdict: str
) -> tuple[_Content | None, _Content | None, dict[str, str]]:
    """Training and population, and a sentence for each that is missing."""
    if folder is None:
        sentence = _describe_missing_past(loaded)
        return None, None, {"training": sentence, "population": sentence}
    measures = result.get("measures")
    floor = measures.get("entropy_floor") if isinstance(measures, dict) else None
    training, no_training = make_training_part(loaded, folder, floor if is_plain_number(floor) else None)
    population, no_population = make_population_part(loaded, folder, result, verdict)
    missing = {"training": no_training, "population": no_population}
    return training, population, {part: why for part, why in missing.items() if why}


def _describe_missing_past(loaded: LoadedModel) -> str:
    """Why a model without a run folder has no training, and how to get one."""
    name = loaded.origin
    if name in ZOO and ZOO[name].build:
        return "The parameters of this model were set by hand: it has no training and no other seeds."
    if name in ZOO and name in CONFIGURATIONS:
        return f"The zoo has no training history: `glassformer run {name}` trains this model."
    return "A weights file has no training history: `glassformer run` makes a run folder, which has one."


def _make_start_part(loaded: LoadedModel, proof: _Content) -> dict[str, str]:
    """The first input: one that the model gets wrong, or the one with the smallest margin."""
    if wrong := proof["counterexample"]:
        return {"input": wrong["input"], "why": "an input that the model gets wrong"}
    if hardest := proof["hardest"]:
        return {"input": hardest["input"], "why": "the smallest margin that the proof found"}
    if proof["worst"]:
        return {"input": proof["worst"][0]["input"], "why": "the smallest margin of the inputs tried"}
    return find_family(loaded.task).first_start(loaded.task)
