"""Tables of the models that ship."""

from glassformer.proofs.columns import find_allowed_tokens
from glassformer.proofs.tables import tabulate_model
from glassformer.zoo import ZOO

SHIPPED = [name for name, entry in ZOO.items() if entry.build or entry.weights]


def tables_of(model, real=False):
    layout = model.addition.written()
    return tabulate_model(
        model, find_allowed_tokens(layout, model.architecture.vocab), layout.digits + 1, real
    )
