"""What every part of a model says of itself: the numbers that someone wrote into its formula.

A part lists them all by name, 0 and 1 among them; which of them count is one rule (`models/constants.py`).

>>> class Halving(Part):
...     def list_constants(self, dims):
...         return {"factor": 0.5, "offset": 0.0}
>>> Halving().list_constants(8)
{'factor': 0.5, 'offset': 0.0}
"""

from collections.abc import Mapping, Sequence


class Part:
    """A piece of a model; as it stands here its formula holds no number."""

    def list_constants(self, dims: int) -> Mapping[str, float | Sequence[float]]:
        """Every number of the formula that is neither stored nor follows from sizes, by its name.

        Several of one kind, such as frequencies, stand under one name. A number that does nothing in so many
        dimensions (of the table, or of a head) is not one of the formula.
        """
        return {}

    def name_fixed_number(self, key: str, value: float) -> str | None:
        """What the formula would call this parameter with the number written in; none: it would not count."""
        return key
