"""Pixels and points of the landscape."""

import numpy as np
from matplotlib.axes import Axes

from glassformer.core.theme import mix_colours, pick_token_colour, split_channels
from glassformer.pictures.video.maps import find_pixel_box
from glassformer.pictures.video.scenes import landscape
from glassformer.pictures.video.stage import Stage
from tests.pictures.conftest import subject_of
from tests.pictures.video.staged import LIGHT, WIDTH


def panel_called(stage: Stage, title: str) -> Axes:
    return next(
        axes for axes in stage.body.figure.axes if title in (axes.get_title("left"), axes.get_title())
    )


def test_a_pixel_of_the_landscape_is_the_heads_answer_there() -> None:
    subject = subject_of("plus_last_even")
    data = landscape.compute(subject, [0, 11])
    stage = landscape.perform(data, LIGHT, WIDTH)
    *_, last = stage.frames()
    axes = panel_called(stage, "most probable token")
    box, random = find_pixel_box(axes), np.random.default_rng(0)
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    stored = subject.past.history.at(11)
    tints = np.array(
        [
            split_channels(mix_colours(pick_token_colour(token), LIGHT.paper, LIGHT.tint))
            for token in subject.tokens
        ]
    )
    hits = 0
    for row, column in random.integers(0, box.bottom - box.top, (200, 2)):
        x = x0 + (column + 0.5) / (box.right - box.left) * (x1 - x0)
        y = y1 - (row + 0.5) / (box.bottom - box.top) * (y1 - y0)
        answer = (stored["head.weight"] @ [x, y] + stored["head.bias"]).argmax()
        hits += (np.abs(last[box.top + row, box.left + column, :3] - tints[answer]).max() <= 1).item()
    assert hits > 160  # the others are borders and dots


def test_all_points_are_inside_at_all_steps() -> None:
    subject = subject_of("plus_last_even")
    data = landscape.compute(subject, range(12))
    stage = landscape.perform(data, LIGHT, WIDTH)
    axes = panel_called(stage, "most probable token")
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    assert ((data["points"] > low) & (data["points"] < high)).all()
