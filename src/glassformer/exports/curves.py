"""Positions on a spiral or a circle as the formula that they come from, instead of a table of their numbers.

>>> _format_slots((0, 1, 2, "zero", 0, 1, 2, 9.5))
'[*range(3), None, *range(3), 9.5]'
"""

from collections.abc import Sequence

import numpy as np

from glassformer.models.architecture import Architecture
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.position import CirclePosition, Position, SpiralPosition


def format_curve(model: Architecture, array: np.ndarray) -> str | None:
    """The call of `spiral` or `circle` that makes this array `dim pos 1`; none for any other array."""
    place, dims = model.position, model.position_dims or model.width
    call = _format_call(place, model.context, dims)
    if call is None or array.shape != (dims, model.context, 1):
        return None
    table = place.table(NumpyOps(model.precision), {}, "", model.context, dims)
    return call if np.array_equal(np.asarray(table).T, array[:, :, 0]) else None


def _format_call(place: Position, context: int, dims: int) -> str | None:
    """None where something is learned, or the formula has another form."""
    if isinstance(place, CirclePosition):
        return _format_circle(place, context, dims)
    if isinstance(place, SpiralPosition) and not place.parameters("", context, dims) and dims <= 3:
        return _format_spiral(place, context, dims)
    return None


def _format_circle(place: CirclePosition, context: int, dims: int) -> str:
    plain = CirclePosition()
    keys = ("amplitude", "at", "loud", "loud_amplitude")
    chosen = {key: getattr(place, key) for key in keys if getattr(place, key) != getattr(plain, key)}
    words = "".join(f", {key}={value!r}" for key, value in chosen.items())
    return f"circle({context}, {dims}, period={place.period}{words})"


def _format_spiral(place: SpiralPosition, context: int, dims: int) -> str:
    slots = _format_slots(place.slots or tuple(range(context)))
    curve = {"period": place.period, "amplitude": place.amplitude, "phase": place.phase}
    curve |= {"slope": place.slope, "offset": place.offset} if dims == 3 else {}
    words = ", ".join(f"{key}={value!r}" for key, value in curve.items() if value)
    return f"spiral({slots}, {words}){'' if dims == 3 else '[:2]'}"


def _format_slots(slots: Sequence[float | str]) -> str:
    """A list in Python: runs 0, 1, .. as ranges, places that are off the curve as None."""
    words: list[str] = []
    run = 0
    for slot, following in zip(slots, [*slots[1:], None], strict=True):
        if slot == run:
            run += 1
            if following != run:
                words.append(f"*range({run})" if run > 1 else "0")
                run = 0
        else:
            words.append("None" if isinstance(slot, str) else repr(float(slot)))
            run = 0
    return f"[{', '.join(words)}]"
