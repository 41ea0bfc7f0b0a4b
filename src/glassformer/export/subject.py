"""What is exported: a model's steps and numbers, and what is known of it, as the head of a file says it."""

import json
import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.check.claims import model_hash
from glassformer.check.reading import ARITHMETICS
from glassformer.errors import UserError
from glassformer.export.fixed import Fixed, fixed_arrays
from glassformer.export.literals import LINE
from glassformer.export.simplify import Steps, simplify
from glassformer.model.count import constants
from glassformer.model.forward import parameters
from glassformer.model.program import trace_whole
from glassformer.runs.load import Loaded
from glassformer.runs.text_files import read_json
from glassformer.tasks import Addition
from glassformer.zoo import ZOO
from glassformer.zoo.entry import VERDICTS

VERDICT_WORDS = ("proved", "refuted", "undecided", "not_applicable")
MOST_MARGIN = 1e300  # beyond it a text has no room


@dataclass(frozen=True)
class Subject:
    """A model to be written down; `said` is the target as the user gave it."""

    loaded: Loaded
    said: str

    @property
    def precision(self) -> str:
        return self.loaded.architecture.precision

    @property
    def places(self) -> int:
        return self.loaded.architecture.context

    @cached_property
    def steps(self) -> Steps:
        return simplify(trace_whole(self.loaded.architecture, self.places))

    @cached_property
    def fixed(self) -> dict[int, Fixed]:
        return fixed_arrays(self.steps, self.precision)

    @property
    def learned(self) -> dict[str, np.ndarray]:
        """Every array that training may move; what is tied is stored once, under the name of its source."""
        return self.stored(is_learned=True)

    def stored(self, is_learned: bool) -> dict[str, np.ndarray]:
        """Where entries are fixed the free ones alone, in a row."""
        every, params = parameters(self.loaded.architecture).items(), self.loaded.params
        return {
            name: np.ravel(params[name])[one.free_places] if one.fixed else params[name]
            for name, one in every
            if one.learned == is_learned and one.free
        }

    @cached_property
    def sha256(self) -> str:
        return model_hash(self.loaded.architecture, self.loaded.params)

    @cached_property
    def counts(self) -> dict[str, int]:
        """As `glassformer count` has them."""
        every = parameters(self.loaded.architecture).values()
        return {
            "unique": sum(one.free for one in every),
            "learned": sum(one.free for one in every if one.learned),
            "constants": constants(self.loaded.architecture),
        }

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """What `glassformer prove` said of these very numbers; {} where nothing is written down."""
        sources = [*zoo_verdicts(), *filter(is_verdict, run_verdicts(self.loaded.folder))]
        return next((found for found in sources if found.get("sha256") == self.sha256), {})

    def about(self) -> str:
        """One line: what the model does."""
        task = self.loaded.task
        if isinstance(task, Addition):
            return f"adds two numbers of {task.digits} digits, writing its sum token by token"
        return f"made for the rule {task.name}"


def zoo_verdicts() -> list[dict[str, Any]]:
    """What the zoo says of its own models."""
    return list(json.loads(VERDICTS.read_text(encoding="utf-8")).values())


def run_verdicts(folder: Path | None) -> list[dict[str, Any]]:
    """What the files of a run say: its certificate, and the proof at its end."""
    if folder is None:
        return []
    certificate, result = read_table(folder / "certificate.json"), read_table(folder / "result.json")
    about, proof = certificate.get("model"), result.get("proof")
    signed = certificate | {"sha256": about.get("sha256")} if isinstance(about, dict) else {}
    return [signed, proof if isinstance(proof, dict) else {}]


def is_verdict(found: dict[str, Any]) -> bool:
    """Whether what a folder says has the form of a verdict; it is repeated, and not believed."""
    inputs, margin = found.get("inputs"), found.get("smallest_margin")
    is_count = isinstance(inputs, str) and inputs.isascii() and inputs.isdigit() and len(inputs) < 1_000
    is_margin = margin is None or (isinstance(margin, float | int) and abs(margin) < MOST_MARGIN)
    return (
        found.get("verdict") in VERDICT_WORDS
        and found.get("arithmetic") in ARITHMETICS
        and is_count
        and is_margin
    )


def read_table(path: Path) -> dict[str, Any]:
    """A JSON object; {} where there is none that can be read."""
    try:
        return read_json(path)
    except UserError:
        return {}


def header(subject: Subject, kind: str, extra: str = "") -> str:
    """The docstring of an exported file."""
    counts, architecture = subject.counts, subject.loaded.architecture
    learned = f"{counts['unique']} stored numbers, {counts['learned']} of them learned"
    paragraphs = [
        f"{learned}, and {counts['constants']} constants in its formulas, as `glassformer count` says them. "
        f"Parameters are in {subject.precision}; SHA-256 of architecture and numbers: {subject.sha256}",
        verdict_words(subject),
        f"Axes are `dim pos batch` inside the pass. At most {architecture.context} places, "
        f"tokens 0 to {architecture.vocab - 1}. {extra}".strip(),
        f"Written by: glassformer export {subject.said} --to {kind}",
    ]
    body = "\n\n".join(textwrap.fill(plain(one), LINE, break_on_hyphens=False) for one in paragraphs)
    return f'"""{plain(f"{subject.loaded.name}: {subject.about()}.")}\n\n{body}\n"""'


def verdict_words(subject: Subject) -> str:
    """What is proved of the model, and that a file of another arithmetic rounds otherwise."""
    found = subject.verdict
    if not found:
        return "No proof of these numbers is written down (glassformer prove makes one)."
    inputs, arithmetic = int(found["inputs"]), found["arithmetic"]
    words = {
        "proved": f"Proved right on all {inputs:,} inputs in {arithmetic}",
        "refuted": f"Refuted: not right on all {inputs:,} inputs, in {arithmetic}",
    }.get(found["verdict"], f"Verdict of `glassformer prove`: {found['verdict']}")
    margin = found.get("smallest_margin")
    if found["verdict"] == "proved" and margin is not None:
        words += f", with a margin of at least {margin:.3g} between the right token and the next"
    said = "" if subject.said in ZOO else " by its run's files (glassformer check verifies a certificate)"
    return f"{words}. That is said of glassformer's own pass{said}; this file rounds in an order of its own."


def plain(text: str) -> str:
    """A text as it may stand in one of Python, whatever a file is called or says."""
    return "".join(letter if letter.isprintable() and letter not in '"\\' else "_" for letter in text)
