"""Spectra are thinned until they fit."""

import numpy as np

from glassformer.lens.page.curves import LEVELS, StoredSpectra, choose_detail_level, describe_detail_level


def test_spectra_are_thinned_until_they_fit_and_the_page_says_so():
    heads = [{"values": np.ones(128), "eigenvalues": np.ones((128, 2))} for _ in range(400)]
    whole = StoredSpectra(heads, [*np.repeat(np.arange(40), 10).tolist()], [{"values": np.ones(4096)}] * 50)
    rooms = [1e9, 3e6, 1.2e6, 4e5, 1.0]
    levels = [choose_detail_level([whole], room) for room in rooms]
    assert levels[0] == LEVELS[0] and describe_detail_level(levels[0]) is None
    assert levels[1] == LEVELS[1] and "float32" in describe_detail_level(levels[1])
    assert levels[2].points and levels[2].every == 1 and levels[3].every > 1
    assert levels[4] == LEVELS[-1] and "left out" in describe_detail_level(levels[4])
    for level, room in zip(levels, rooms, strict=True):
        assert whole.at(level).size(level.dtype) <= room
