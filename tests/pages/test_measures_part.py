"""No share stands without of how many."""

from glassformer.pages.measures_part import make_measures_part
from glassformer.tasks.rules_recall import Lucky7


def test_no_share_stands_without_of_how_many():
    of = {"value": 1.0, "low": 0.99, "high": 1.0, "positions": 105_641}
    result = {"measures": {"argmax_accuracy": of, "argmax_accuracy_all": of | {"positions": 108_449}}}
    labels = [one["label"] for one in make_measures_part(Lucky7(), result)]
    assert labels == ["of 105,641 positions", "of all 108,449 positions"]
    same = {"measures": {"argmax_accuracy": of, "argmax_accuracy_all": of}}
    assert len(make_measures_part(Lucky7(), same)) == 1
