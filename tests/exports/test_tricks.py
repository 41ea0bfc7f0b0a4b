"""Tricks that a board's file has to name: mirror, fixed value direction, ties, and every chosen number."""

import pytest

from glassformer.exports.adderboard_file import format_adderboard_file
from glassformer.exports.subject import ExportSubject
from glassformer.exports.tricks import list_tricks
from glassformer.models.constants import list_constants
from glassformer.runs.load import load_model
from glassformer.zoo import ZOO

GLASS_8 = [
    "attn.v: pattern (-1 1)",  # the value's direction
    "attn.out: pattern (b / -b)",  # the mirror, in five places
    "ff.up: pattern (p -p / -p p)",
    "ff.down: pattern (u v / v u)",
    "head weight: pattern (u v / v u)",
    "chosen, not learned: token.middle = 0.125",
    "attn.q: pattern (u -v 0 / v u 0 / 0 0 1)",  # the turn, and a ramp of factor 1
    "chosen, not learned: position.period = 11",  # the circle of eleven
    "chosen, not learned: position.slot = 10",
    "chosen, not learned: norm.gain = 4",
    "tied: ff.down.u = head.u",
]


def test_glass_8_hides_none():
    assert set(GLASS_8) <= set(list_tricks(ZOO["glass-8"].architecture))


@pytest.mark.parametrize("name", ZOO)
def test_every_chosen_number_and_every_tie_is_named(name):
    model = ZOO[name].architecture
    said = "\n".join(list_tricks(model))
    assert all(f"{one.name} = {one.value:.6g}" in said for one in list_constants(model))
    assert all(f"tied: {tie.name} = {tie.to}" in said for tie in model.ties)


def test_what_the_layout_gives_away_is_said():
    text = format_adderboard_file(ExportSubject(load_model("any-8"), "any-8"))
    assert '"layout: every number between a mark and one more 0",' in text
    assert '"layout: the pass is told how many digits each number has",' in text


def test_the_file_has_all_of_them():
    text = format_adderboard_file(ExportSubject(load_model("glass-8"), "glass-8"))
    assert all(f'"{trick}",' in text for trick in list_tricks(ZOO["glass-8"].architecture))
