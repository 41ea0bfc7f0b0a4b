"""Which attention layer is the mix: the one that leaves the logits best known, where there are several.

A second layer that writes little is best enclosed, and the first one followed token by token; where the first
one only prepares the tokens it is the other way round.
"""

import numpy as np
from jaxtyping import Bool

from glassformer.core.errors import UserError
from glassformer.models.model import Model
from glassformer.proofs.readout import MixBoxes, bound_box_logits
from glassformer.proofs.tables import ModelTables, NotProvableError, list_attention_layers, tabulate_model


def tabulate_best_mix(
    model: Model,
    allowed: Bool[np.ndarray, "pos tok"],
    asking: int,
    real: bool = False,
    any_backend: bool = False,
) -> ModelTables:
    """The tables about the last layer that attends, or about another where more than one mixes."""
    last, *others = reversed(list_attention_layers(model.architecture))
    found, reason = list[ModelTables](), list[NotProvableError]()
    for mixing in (last, *others):
        try:
            tables = tabulate_model(model, allowed, asking, real, any_backend, mixing)
        except NotProvableError as error:
            reason.append(error)
            continue
        except UserError as error:  # it overflows; of several layers the bounds alone may
            if not others:
                raise
            reason.append(NotProvableError(f"not provable by this method: of what it bounds, {error}"))
            continue
        if not tables.is_enclosed:
            return tables
        found.append(tables)
    if not found:
        raise reason[0]
    return min(found, key=lambda tables: _measure_looseness(tables, allowed))


def _measure_looseness(tables: ModelTables, allowed: Bool[np.ndarray, "pos tok"]) -> float:
    """How far logits may be from their centres, as a rule, where the mix is known."""
    query, token = np.nonzero(allowed[tables.positions.start :])
    mix = np.zeros((len(query), tables.coordinates))
    right = np.zeros((len(query), tables.model.architecture.vocab), bool)
    logits = bound_box_logits(tables.in_real_numbers, MixBoxes(query, token, right, mix, mix))
    return float(np.median(np.nan_to_num(logits.reach, nan=np.inf)))
