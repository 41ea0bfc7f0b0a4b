"""Parts of the figures: groups, scales, labels, random spectra."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.draw.parts.frame import TITLE, text_width
from glassformer.draw.spectra.grid import Grid, in_title, shortened
from glassformer.draw.spectra.groups import by_type, cumulative_energy
from glassformer.draw.spectra.lines import spread_apart
from glassformer.draw.spectra.maps import scale_of
from glassformer.draw.spectra.random_spectra import edge, random_head, random_values
from glassformer.spectra.compute.random import random_kernel_ranks, random_ranks
from tests.draw.spectra.synthetic import made, ranks_of


@pytest.mark.parametrize("shape", [(300, 300), (256, 2048), (1100, 200)])
def test_random_values_have_the_ranks_of_a_random_matrix(shape):
    values, expected = random_values(shape), random_ranks(shape)
    found = ranks_of(values)
    assert found.eff_rank == pytest.approx(expected.eff_rank, rel=2e-3)
    assert found.participation_ratio == pytest.approx(expected.participation_ratio, rel=2e-3)
    assert 0.98 < values[0] / edge(shape) < 1


def test_a_random_head_has_the_ranks_of_a_random_kernel():
    values, magnitudes = random_head(48, 300)
    assert ranks_of(values).eff_rank == pytest.approx(
        random_kernel_ranks((48, 300), (48, 300)).eff_rank, rel=0.02
    )
    assert np.sum(magnitudes**2) < np.sum(values**2) * (1 + 1e-9)  # Schur: equal for normal matrices only


def test_a_head_wider_than_the_model_has_the_model_s_rank():
    values, magnitudes = random_head(6, 4)
    assert len(values) == len(magnitudes) == 4


def test_shapes_of_a_type_are_never_mixed():
    analysis = made("tiny")
    odd = replace(analysis.matrices[0], shape=(4, 6))
    groups = by_type(replace(analysis, matrices=(odd, *analysis.matrices[1:])))
    assert [name for name in groups if name.startswith("W_Q")] == ["W_Q 4x4", "W_Q 4x6"]
    assert all(len({one.shape for one in group}) == 1 for group in groups.values())


def test_the_energy_of_nothing_is_no_division():
    assert cumulative_energy(np.zeros(3)).tolist() == [0, 0, 0]


def test_one_dead_head_does_not_spoil_a_scale():
    crowd = np.linspace(50, 60, 200)
    assert scale_of(np.r_[2.0, crowd]).low > 49
    assert scale_of(crowd).low == 50
    assert scale_of(np.full(4, 7.0)).low < 7 < scale_of(np.full(4, 7.0)).high
    signed = scale_of(np.array([-0.2, 0.9]), is_signed=True)
    assert (signed.low, signed.high) == (-0.9, 0.9)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_names_at_the_ends_are_apart_and_inside(wanted):
    places = spread_apart(np.sort(wanted), 8.0, 100.0)
    assert (np.diff(places) > 8.0 - 1e-9).all()
    assert places.min() >= 0
    assert places.max() <= 100 + 1e-9


@given(st.text("abcdefg._*", min_size=1, max_size=80))
def test_a_shortened_name_fits_and_keeps_its_ends(text):
    short = shortened(text, 7.5, 4.0)
    assert text_width(short, 7.5) <= 4.0
    assert short[0] == text[0]
    assert short[-1] == text[-1]
    assert shortened(f"{text}.weight", 7.5, 4.0) == short


def test_a_title_with_two_long_names_is_not_cut_off():
    name = in_title("backbone.stages.encoder_like_tower.blocks.#.temporal_mixing_block.projection_in.weight")
    assert 2 * text_width(name, TITLE, "bold") < 16.4
    assert name.endswith("projection_in")


def test_a_note_takes_free_cells():
    assert [Grid.of(count).has_room for count in (1, 2, 3, 4, 5, 6, 7)] == [False] * 4 + [True, False, True]
    assert Grid.of(7).room_below("a note", 0.6) == 0 < Grid.of(6).room_below("a note", 0.6)


def test_panels_do_not_overlap():
    for count in range(1, 13):
        grid = Grid.of(count)
        corners = {grid.corner(index) for index in range(count)}
        assert len(corners) == count
        assert max(x for x, _ in corners) + grid.left + grid.width <= 16.4
