"""Everything that a page knows of a model, as plain data: assets/types.js says what each field is.

What a model has not (a training, other seeds) is left out, and `missing` says in a sentence how to get it.
"""

from pathlib import Path
from typing import Any

from glassformer.draw.poster.sums import about_of
from glassformer.page.arithmetic import arithmetic_words
from glassformer.page.common_part import common_part
from glassformer.page.families import family_of
from glassformer.page.measure_words import is_number
from glassformer.page.measures_part import measures_part
from glassformer.page.model_part import model_part
from glassformer.page.pack import packed_dict
from glassformer.page.population_part import population_part
from glassformer.page.proof_part import proof_part
from glassformer.page.story import story_of
from glassformer.page.table_file import read_table
from glassformer.page.task_part import task_part, token_part
from glassformer.page.training_part import training_part
from glassformer.page.words import typed
from glassformer.proof.certificate import model_hash
from glassformer.runs.atomic import plain
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.load import Loaded
from glassformer.zoo import ZOO

SECONDS = 10.0  # that a proof for a page may take
Content = dict[str, Any]


def payload_of(loaded: Loaded, folder: Path | None = None, seconds: float = SECONDS) -> Content:
    """The data of one page; `folder` is the model's run folder, where it has one."""
    result = own_result(loaded, folder)
    proof, family = proof_part(loaded, folder, seconds), family_of(loaded.task)
    tests = family.draw_tests(loaded.task, loaded.architecture)
    training, population, missing = past_parts(loaded, folder, result, proof["verdict"])
    content = {
        "family": loaded.task.family,
        "name": loaded.name,
        "target": typed(loaded.folder or Path(loaded.origin)),
        "about": about_of(loaded.name, folder),
        **common_part(),
        "tokens": token_part(loaded.task, loaded.architecture.vocab),
        "model": model_part(loaded, loaded.task),
        "task": task_part(loaded.task),
        "weights": packed_dict(loaded.params),
        "training": training,
        "population": population,
        "proof": proof,
        "measures": measures_part(loaded.task, result),
        "start": start_part(loaded, proof),
        "test": family.pack_tests(tests),
        "arithmetic": arithmetic_words(loaded, tests, [one["input"] for one in proof["worst"]]),
        "story": [],
        "missing": missing,
    }
    done: Content = plain({**content, "story": story_of(loaded, content, family.tell_story)})
    return done


def own_result(loaded: Loaded, folder: Path | None) -> Content:
    """What the run's result says, unless it says that it is of other weights: those were changed since."""
    result, _ = read_table(folder / "result.json") if folder else ({}, None)
    proof = result.get("proof")
    named = proof.get("sha256") if isinstance(proof, dict) else None
    is_other = bool(named) and named != model_hash(loaded.architecture, loaded.params)
    return {} if is_other else result


def past_parts(
    loaded: Loaded, folder: Path | None, result: Content, verdict: str
) -> tuple[Content | None, Content | None, dict[str, str]]:
    """Training and population, and the sentences that stand for those that are missing."""
    if folder is None:
        sentence = no_past(loaded)
        return None, None, {"training": sentence, "population": sentence}
    measures = result.get("measures")
    floor = measures.get("entropy_floor") if isinstance(measures, dict) else None
    training, no_training = training_part(loaded, folder, floor if is_number(floor) else None)
    population, no_population = population_part(loaded, folder, result, verdict)
    missing = {"training": no_training, "population": no_population}
    return training, population, {part: why for part, why in missing.items() if why}


def no_past(loaded: Loaded) -> str:
    """Why a model that is no run has no training, and how to get one that has."""
    name = loaded.origin
    if name in ZOO and ZOO[name].build:
        return "The numbers of this model were chosen by hand: it has no training and no other seeds."
    if name in ZOO and name in CONFIGURATIONS:
        return f"A model of the zoo has no training: `glassformer run {name}` trains one, with checkpoints."
    return "A file of weights has no training: the page of a run folder has, and `glassformer run` makes one."


def start_part(loaded: Loaded, proof: Content) -> dict[str, str]:
    """The first input: where the model fails, or where it comes nearest to failing."""
    if wrong := proof["counterexample"]:
        return {"input": wrong["input"], "why": "an input that the model gets wrong"}
    if hardest := proof["hardest"]:
        return {"input": hardest["input"], "why": "the smallest margin that the proof found"}
    if proof["worst"]:
        return {"input": proof["worst"][0]["input"], "why": "the smallest margin of those tried"}
    return family_of(loaded.task).first_start(loaded.task)
