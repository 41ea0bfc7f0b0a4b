"""The tokens and their colours, at a fixed place beside the maps: regions that move need no moving names."""

from collections.abc import Sequence
from math import ceil

from matplotlib.patches import FancyBboxPatch

from glassformer.core.theme import pick_text_colour, pick_token_colour
from glassformer.pictures.parts.frame import SMALL, Frame

LEGEND = 0.5  # cm, its width
_NAME = 0.24  # cm, the height of a token's name


def draw_token_legend(frame: Frame, tokens: Sequence[str]) -> None:
    """A column of cells over the height of a frame, the first token at the top."""
    axes = frame.axes(0, 0, frame.width, frame.height, xlim=(0, 1), ylim=(len(tokens) - 0.5, -0.5))
    axes.axis("off")
    every = ceil(len(tokens) * _NAME / frame.height)  # a name needs the room of so many cells
    for row, token in enumerate(tokens):
        colour = pick_token_colour(token)
        axes.add_patch(
            FancyBboxPatch(
                (0.04, row - 0.47), 0.92, 0.94, boxstyle="round,pad=0,rounding_size=0.1", facecolor=colour,
                mutation_aspect=frame.width / (frame.height / len(tokens)), linewidth=0,
            )
        )  # fmt: skip
        if row % every:
            continue
        axes.text(
            0.5, row, token, ha="center", va="center_baseline", fontsize=SMALL, weight="bold",
            color=pick_text_colour(colour),
        )  # fmt: skip
