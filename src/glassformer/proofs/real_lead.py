"""Whether a wrong token leads in real numbers: what refutes where nothing is rounded.

A model that is run rounds, and may be wrong for that alone. The same pass over numbers with bounds tells
whether some other token than the right one is certain to lead without any rounding.
"""

import numpy as np
from jaxtyping import Bool, Int

from glassformer.models.forward import forward
from glassformer.models.model import Model
from glassformer.models.ops_bounded import BoundedOps
from glassformer.proofs.tables import make_table_pass

_ROWS = 256  # at a time, for the sake of memory


def is_wrong_in_real(
    model: Model, tokens: Int[np.ndarray, "pos row"], right: Int[np.ndarray, " row"]
) -> Bool[np.ndarray, " row"]:
    """Of each row of tokens, whether another one than the right is certain to come next."""
    passing = make_table_pass(model, BoundedOps(model.architecture.precision, real=True))
    found = np.zeros(len(right), bool)
    with np.errstate(all="ignore"):
        for start in range(0, len(right), _ROWS):
            rows = np.arange(start, min(start + _ROWS, len(right)))
            logits = forward(model.architecture, *passing, tokens[:, rows], last=1)[:, 0]  # tok row
            lead = (logits - logits[right[rows], np.arange(len(rows))]).range()[0]
            found[rows] = (lead > 0).any(0)
    return found
