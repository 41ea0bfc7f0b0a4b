"""The disk gives back the same bits, and damage is seen."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from glassformer.lens.records import DAMAGE, read_record, write_record
from tests.lens.planned import planned


def same_bits(one, other):
    """Equal down to the sign of a NaN, through dataclasses and tuples."""
    if is_dataclass(one):
        return all(same_bits(getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same_bits, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_bits(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray | float):
        return (
            np.asarray(one).dtype == np.asarray(other).dtype
            and np.asarray(one).tobytes() == np.asarray(other).tobytes()
        )
    return one == other


def test_records_give_the_same_bits_back(tmp_path):
    checkpoint, layout, units = planned("folded,rope:3", layers=(0, 1))
    for unit in units:
        records = unit.work(checkpoint, layout)
        assert tuple(record.id for record in records) == unit.ids
        for record in records:
            write_record(tmp_path, record)
            fresh, stored = unit.restore(record), unit.restore(read_record(tmp_path, record.id))
            assert fresh
            assert same_bits(fresh, stored)


def test_damage_is_seen(tmp_path):
    checkpoint, layout, units = planned(layers=(0,))
    (record,) = units[0].work(checkpoint, layout)
    write_record(tmp_path, record)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for broken in (whole[:-1], whole[:40], b"", whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]):
        file.write_bytes(broken)
        with pytest.raises(DAMAGE):
            read_record(tmp_path, record.id)
