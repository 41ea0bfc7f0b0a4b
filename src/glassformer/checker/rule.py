"""The check of a certificate of a rule's or a question's model: a context where it fails, run and judged.

That such a model is right everywhere, or how often it is not, has no certificate; only a failure has.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.checker.claims import check_digest
from glassformer.checker.fields import read_field, require_finite_number, require_integer
from glassformer.checker.reading import read_certificate_params
from glassformer.core.errors import UserError
from glassformer.models.architecture import Architecture
from glassformer.models.model import Model
from glassformer.runs.tree import from_tree
from glassformer.tasks import Strings, Task
from glassformer.tasks.automaton import Automaton, tabulate_automaton
from glassformer.tasks.knowledge import list_window_starts
from glassformer.tasks.strings import require_strings

_CLOSE = 1e-4  # of the largest logit: how near a stated margin must be


def check_rule_certificate(tree: Mapping[str, object]) -> str:
    """The verdict, where every context of the certificate breaks the rule as it says."""
    stored = read_field(tree, "model", dict)
    architecture = from_tree(Architecture, read_field(stored, "architecture", dict), "model.architecture")
    model = Model(architecture, read_certificate_params(architecture, read_field(stored, "params", dict)))
    rule = require_strings(from_tree(Task, read_field(tree, "task", dict), "task"), "the certificate")
    check_digest(tree, architecture.precision, model.params)
    if read_field(tree, "verdict", str) != "refuted":
        raise ClaimError("of rule models only refutations have certificates")
    vocab, context = len(rule.tokens()), architecture.context
    if architecture.vocab != vocab:
        raise ClaimError(f"the model has {architecture.vocab} tokens, but the rule has {vocab}")
    if read_field(tree, "arithmetic", str) not in (architecture.precision, "real"):
        raise ClaimError(f"the certificate is about {tree['arithmetic']}, the model {architecture.precision}")
    inputs = count_inputs(tabulate_automaton(rule), context)
    if read_field(tree, "inputs", str) != str(inputs):
        raise ClaimError(f"there are {inputs} {rule.words.input}s, not {tree['inputs']}")
    _check_context(model, rule, read_field(tree, "counterexample", dict))
    for one in read_field(tree, "worst", list):
        _check_context(model, rule, read_field({"worst": one}, "worst", dict))
    return "refuted"


def count_inputs(automaton: Automaton, context: int) -> int:
    """Contexts of all lengths; of a question the prompts, counted by the states that they lead to."""
    if not automaton.length:
        return sum(len(automaton.tokens) ** length for length in range(1, context + 1))
    ways = {automaton.start: 1}
    for _ in range(automaton.length - 1):
        further = Counter[int]()
        for state, count in ways.items():
            for token in np.flatnonzero(automaton.probability[state]):
                further[int(automaton.next[state, token])] += count
        ways = further
    return sum(ways.values())


def _check_context(model: Model, rule: Strings, said: Mapping[str, object]) -> None:
    """One context: what must follow it, and what the model says."""
    automaton, text = tabulate_automaton(rule), read_field(said, "context", str)
    tokens = automaton.ids(text)
    if not 1 <= len(tokens) == require_integer(said.get("length"), "length") <= model.architecture.context:
        raise UserError(f"a context of the certificate is not as long as it says: {text!r}")
    wanted = _list_demanded_labels(automaton, tokens, is_whole=len(tokens) == model.architecture.context)
    got = rule.tokens()[int(model.logits(tokens[:, None], last=1)[:, 0, 0].argmax())]
    if got != said.get("got"):
        raise ClaimError(f"after {text} the model says {got}, not {said.get('got')}")
    if sorted(wanted) != sorted(map(str, read_field(said, "expected", list))):
        raise ClaimError(f"after {text} must come {' or '.join(wanted) or 'anything'}, not as claimed")
    _check_context_margin(model, automaton, tokens, wanted, said)


def _check_context_margin(
    model: Model, automaton: Automaton, tokens: np.ndarray, wanted: list[str], said: Mapping[str, object]
) -> None:
    """No allowed token leads alone, by as much as is said; a tie is said to be one."""
    logits = model.logits(tokens[:, None], last=1)[:, 0, 0].astype(np.float64)
    allowed = np.array([label in wanted for label in automaton.tokens])
    with np.errstate(invalid="ignore"):
        margin = logits[allowed].max(initial=-np.inf) - logits[~allowed].max(initial=-np.inf)
    text = read_field(said, "context", str)
    if not wanted or margin > 0 or (said.get("got") in wanted) != (said.get("tie") is True):
        raise ClaimError(f"after {text} the model is right, or the tie is not said to be one")
    claimed = said.get("margin", margin)
    if claimed is not None and np.isfinite(margin):
        close = _CLOSE * (1 + float(np.abs(logits).max()))  # the batch decides the last bits
        if abs(require_finite_number(claimed, "margin") - margin) > close:
            raise ClaimError(f"after {text} the margin is {margin:.6g}, not {claimed:.6g}")


def _list_demanded_labels(automaton: Automaton, tokens: np.ndarray, is_whole: bool) -> list[str]:
    """The labels that may follow, whatever came before; none where the context does not tell."""
    states = list_window_starts(automaton) if is_whole else np.array([automaton.start])
    for token in tokens:
        states = np.unique(automaton.next[states, token])
    allowed = automaton.allowed[states]
    if not automaton.constrained[states].all() or (allowed != allowed[0]).any():
        return []
    return [automaton.tokens[token] for token in np.flatnonzero(allowed[0])]
