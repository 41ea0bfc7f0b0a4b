"""Parts of the figures: groups, scales, labels, random spectra."""

from hypothesis import given
from hypothesis import strategies as st

from glassformer.lens.figures.grid import PanelGrid, shorten_name, shorten_title_name
from glassformer.pictures.parts.frame import TITLE, measure_text_width


@given(st.text("abcdefg._*", min_size=1, max_size=80))
def test_a_shortened_name_fits_and_keeps_its_ends(text):
    short = shorten_name(text, 7.5, 4.0)
    assert measure_text_width(short, 7.5) <= 4.0
    assert short[0] == text[0]
    assert short[-1] == text[-1]
    assert shorten_name(f"{text}.weight", 7.5, 4.0) == short


def test_a_title_with_two_long_names_is_not_cut_off():
    name = shorten_title_name(
        "backbone.stages.encoder_like_tower.blocks.#.temporal_mixing_block.projection_in.weight"
    )
    assert 2 * measure_text_width(name, TITLE, "bold") < 16.4
    assert name.endswith("projection_in")


def test_a_note_takes_free_cells():
    assert [PanelGrid.of(count).has_room for count in (1, 2, 3, 4, 5, 6, 7)] == [False] * 4 + [
        True,
        False,
        True,
    ]
    assert PanelGrid.of(7).room_below("a note", 0.6) == 0 < PanelGrid.of(6).room_below("a note", 0.6)


def test_panels_do_not_overlap():
    for count in range(1, 13):
        grid = PanelGrid.of(count)
        corners = {grid.corner(index) for index in range(count)}
        assert len(corners) == count
        assert max(x for x, _ in corners) + grid.left + grid.width <= 16.4
