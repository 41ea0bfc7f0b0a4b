"""Colours: the same for the same token everywhere, and told apart by eyes that lack one kind of cone."""

from itertools import combinations

import numpy as np
import pytest

from glassformer.core.theme import (
    INTEGERS,
    SIGN,
    THEMES,
    compute_luminance,
    pick_token_colour,
    scale_token_colours,
    split_channels,
)

# How colours look without one kind of cone: Machado, Oliveira and Fernandes (2009), severity 1, linear RGB.
VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]]
    ),
}


def oklab(colour, vision):
    share = np.array(split_channels(colour)) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    linear = np.clip(VISION[vision] @ linear, 0, 1)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    turn = np.array(
        [
            [0.2104542553, 0.793617785, -0.0040720468],
            [1.9779984951, -2.428592205, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.808675766],
        ]
    )
    return turn @ np.cbrt(cones @ linear)


@pytest.mark.parametrize(
    ("vision", "tens", "all_of_them"),
    [
        ("full", 0.09, 0.07),
        ("protanopia", 0.07, 0.04),
        ("deuteranopia", 0.07, 0.04),
        ("tritanopia", 0.06, 0.03),
    ],
)
def test_tokens_are_told_apart(vision, tens, all_of_them):
    """In OKLab 0.02 is a just noticeable difference."""

    def nearest(colours):
        return min(np.linalg.norm(oklab(a, vision) - oklab(b, vision)) for a, b in combinations(colours, 2))

    assert nearest([*INTEGERS[:11], SIGN]) > tens
    assert nearest([*INTEGERS, SIGN]) > all_of_them


def test_even_is_cool_and_odd_is_warm():
    for value, colour in enumerate(INTEGERS):
        red, _, blue = split_channels(colour)
        assert (blue > red) == (value % 2 == 0), colour


def test_integers_have_their_own_colours_and_signs_are_grey():
    assert len(set(INTEGERS)) == len(INTEGERS) == 21
    assert [pick_token_colour(str(value)) for value in range(21)] == list(INTEGERS)
    assert pick_token_colour("+") == pick_token_colour("=") == pick_token_colour("<bos>") == SIGN


@pytest.mark.parametrize("name", THEMES)
def test_texts_have_contrast(name):
    """WCAG AA asks for 4.5 to 1."""
    theme = THEMES[name]
    for colour in (theme.ink, theme.muted, theme.good, theme.bad, theme.accent):
        light, dark = sorted((compute_luminance(colour), compute_luminance(theme.paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def test_many_integers_are_on_a_scale():
    few, many = ([str(number) for number in range(count)] for count in (len(INTEGERS), 64))
    with scale_token_colours(few):
        assert pick_token_colour("3") == INTEGERS[3]
    with scale_token_colours(many):
        assert len({pick_token_colour(token) for token in many}) == 64
    assert pick_token_colour("3") == INTEGERS[3]
