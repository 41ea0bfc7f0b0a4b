"""Every verb: its function, which says its options, and what tells its result to people and programs.

A new verb is a file in commands/ with both, a line here and one in glassformer/__init__.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from glassformer.commands.add import add, answer_add
from glassformer.commands.check import answer_check, check
from glassformer.commands.count import answer_count, count
from glassformer.commands.draw import answer_draw, draw
from glassformer.commands.export import answer_export, export
from glassformer.commands.list import answer_list, list_items
from glassformer.commands.page import answer_page, page
from glassformer.commands.prove import answer_prove, answer_prove_population, prove, prove_population
from glassformer.commands.prove_bits import answer_prove_bits, prove_bits
from glassformer.commands.prune import answer_prune, prune
from glassformer.commands.run import answer_run, run, train
from glassformer.commands.sweep import answer_sweep, sweep
from glassformer.commands.test import answer_test, test
from glassformer.commands.video import answer_video, video
from glassformer.core.answer import Answer, Request
from glassformer.lens.command.spectra import answer_spectra, spectra


@dataclass(frozen=True)
class Verb:
    """One command."""

    function: Callable[..., Any]
    answer: Callable[[Any, Request], Answer]
    options_of: Callable[..., Any] | None = None  # the function that says its options, where it is another
    variants: Mapping[str, "Verb"] = field(default_factory=dict)  # flag to what is called instead

    @property
    def takes_settings(self) -> bool:
        """Whether any setting of a configuration is an option too."""
        return "options" in self.function.__annotations__

    @property
    def may_be_quiet(self) -> bool:
        return "show" in self.function.__annotations__


VERBS = {
    "run": Verb(run, answer_run),
    "train": Verb(train, answer_run, options_of=run),
    "sweep": Verb(sweep, answer_sweep),
    "test": Verb(test, answer_test),
    "add": Verb(add, answer_add),
    "prove": Verb(
        prove,
        answer_prove,
        variants={
            "population": Verb(prove_population, answer_prove_population),
            "bits": Verb(prove_bits, answer_prove_bits),
        },
    ),
    "prune": Verb(prune, answer_prune),
    "check": Verb(check, answer_check),
    "draw": Verb(draw, answer_draw),
    "video": Verb(video, answer_video),
    "page": Verb(page, answer_page),
    "spectra": Verb(spectra, answer_spectra),
    "export": Verb(export, answer_export),
    "count": Verb(count, answer_count),
    "list": Verb(list_items, answer_list),
}
RESUMABLE = ("run", "train", "spectra", "sweep")  # leave what the same command resumes from
