"""Contexts that a certificate names: the counterexample, and the context with the smallest margin.

Each is run and judged anew; the pass gives the same bits everywhere, so a stated margin must be exact.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from glassformer.checker.bounds import ClaimError
from glassformer.checker.fields import (
    read_field,
    require_finite_number,
    require_integer,
    require_known_fields,
    require_list,
)
from glassformer.checker.rule_contexts import RuleContexts
from glassformer.checker.rule_rows import measure_context_margins
from glassformer.core.errors import UserError
from glassformer.models.model import Model

_EXAMPLE = ("context", "expected", "got", "length", "tie")


def read_context(contexts: RuleContexts, text: object) -> np.ndarray:
    """Its tokens, `pos 1`."""
    tokens = contexts.automaton.ids(read_field({"context": text}, "context", str))
    if not 1 <= len(tokens) <= contexts.context:
        raise UserError(f"a context of the certificate has {len(tokens)} tokens: {str(text)[:60]!r}")
    return tokens[:, None]


def check_context(model: Model, contexts: RuleContexts, said: Mapping[str, Any]) -> np.ndarray:
    """One context that breaks the rule: what must follow it, and what the model says; its tokens."""
    require_known_fields(said, _EXAMPLE, "a counterexample")
    tokens, text = read_context(contexts, said["context"]), said["context"]
    if require_integer(said["length"], "length") != len(tokens):
        raise UserError(f"a context of the certificate is not as long as it says: {text!r}")
    labels, demand = contexts.automaton.tokens, int(contexts.demands(tokens)[0])
    wanted = [labels[token] for token in np.flatnonzero(contexts.allowed[demand])] if demand else []
    got = labels[int(model.logits(tokens, last=1)[:, 0, 0].argmax())]
    if got != said["got"]:
        raise ClaimError(f"after {text} the model says {got}, not {str(said['got'])[:60]}")
    if wanted != require_list(said["expected"], len(wanted), "expected"):
        raise ClaimError(f"after {text} must come {' or '.join(wanted) or 'anything'}, not as claimed")
    margin = measure_context_margins(model, tokens, contexts.allowed[demand][:, None])[0]
    if not wanted or margin > 0 or said["tie"] is not (got in wanted):
        raise ClaimError(f"after {text} the model is right, or the tie is not said to be one")
    return tokens


def check_hardest_context(tree: Mapping[str, Any], model: Model, contexts: RuleContexts) -> float | None:
    """The margin of the hardest context that is known, as it comes out; none where none is named."""
    if tree["hardest"] is None and tree["smallest_margin"] is None:
        return None
    tokens, text = read_context(contexts, tree["hardest"]), tree["hardest"]
    claimed = require_finite_number(tree["smallest_margin"], "smallest_margin")
    demand = int(contexts.demands(tokens)[0])
    margin = float(measure_context_margins(model, tokens, contexts.allowed[demand][:, None])[0])
    if not demand or margin != claimed:
        raise ClaimError(f"after {text} the margin is {margin:.17g}, not {claimed:.17g}")
    is_refuted = tree["verdict"] == "refuted"
    if claimed <= 0 and not is_refuted:
        raise ClaimError(f"after {text} the margin is {claimed:.6g}, but the verdict is {tree['verdict']}")
    return claimed
