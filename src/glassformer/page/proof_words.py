"""A verdict in one honest sentence: which inputs, in what arithmetic, by what margin; or where it fails."""

from collections.abc import Mapping
from typing import Any

from glassformer.page.words import grouped, many, percent, short
from glassformer.runs.load import Loaded
from glassformer.tasks import Rule

Content = Mapping[str, Any]


def proof_sentence(proof: Content, loaded: Loaded) -> str:
    """Proved, refuted, undecided, or out of the method's reach."""
    return {
        "proved": proved_words,
        "refuted": refuted_words,
        "undecided": undecided_words,
        "not_applicable": open_words,
    }[proof["verdict"]](proof, loaded)


def inputs_words(proof: Content, loaded: Loaded) -> str:
    """What all inputs are."""
    count = many(proof["inputs"])
    if isinstance(loaded.task, Rule):
        return f"{count} contexts of 1 to {loaded.architecture.context} tokens"
    return f"{count} pairs of numbers of up to {loaded.task.digits} digits"


def proved_words(proof: Content, loaded: Loaded) -> str:
    """A context that demands nothing is right whatever the model says."""
    right = "right wherever the rule demands something, in" if isinstance(loaded.task, Rule) else "right on"
    margin = proof["smallest_margin"]
    rest = f"; the smallest margin is {short(margin)}" if margin is not None else ""
    return f"Proved: {right} all {inputs_words(proof, loaded)}, in {proof['arithmetic']}{rest}."


def refuted_words(proof: Content, loaded: Loaded) -> str:
    """The input that fails, and how many do, where that is known."""
    return f"Refuted: {failure_words(proof['counterexample'], loaded)}.{share_words(proof)}"


def failure_words(example: Content | None, loaded: Loaded) -> str:
    if example is None:
        return "some inputs are answered wrongly"
    if not isinstance(loaded.task, Rule):
        a, _, b = example["input"].partition("+")
        return f"{a} + {b} = {example['expected']}, but the model writes {example['got']}"
    said = f"the model says {example['got']}"
    if example["margin"] == 0:
        said = "a token that may not come has the largest logit too"
    return f"after {example['input']} the rule demands {example['expected']}, but {said}"


def share_words(proof: Content) -> str:
    """How many full windows break the rule, and whether any of the rule's own do."""
    error = proof["error"]
    if not error:
        return ""
    of = f"of all {grouped(error['contexts'])} full windows break the rule"
    low, high = error.get("count_low"), error.get("count_high")
    count = f"Exactly {grouped(low)}" if low is not None and low == high else between(error)
    lawful = "; none that itself follows the rule does" if error.get("lawful") == "proved" else ""
    return f" {count} {of}{lawful}."


def between(error: Content) -> str:
    return f"Between {percent(error['low'])} and {percent(error['high'])}"


def undecided_words(proof: Content, loaded: Loaded) -> str:
    classes = proof["classes"]
    left = f"{grouped(classes['undecided'])} of {grouped(classes['total'])} classes of inputs are left"
    reason = proof["reason"] or left
    return f"Undecided over {inputs_words(proof, loaded)}: {reason}. No input that was tried fails."


def open_words(proof: Content, loaded: Loaded) -> str:
    return f"No proof: {proof['reason'].rstrip('.')}. No input that was tried fails."
