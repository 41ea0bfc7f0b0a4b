"""A panel on a page of its own, and all of them on the poster, three to a row.

Nine panels make 54 by 38.2 cm, the shape of an A2 sheet; each further row makes it 11.6 cm higher:

>>> round(_measure_sheet_height(9), 9), round(_measure_sheet_height(10), 9)
(38.2, 49.8)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from glassformer.core.theme import Theme, mix_colours, pick_text_colour
from glassformer.core.words import choose_plural, format_count, format_power, format_significant
from glassformer.models.constants import count_constants, count_fixed_nonzero
from glassformer.models.forward import list_all_parameters, list_parameters
from glassformer.models.lengths import is_any_length
from glassformer.pictures.parts.frame import TITLE, Frame, make_sheet, measure_text_width, wrap_text
from glassformer.pictures.picture import Data, Picture
from glassformer.pictures.poster.style import (
    CONTENT,
    add_canvas,
    cut_text,
    draw_badge,
    draw_round_box,
    make_panel_look,
    write_centred_text,
)
from glassformer.proofs.verdict_words import NumberFormats, describe_badge

if TYPE_CHECKING:
    from glassformer.pictures.poster.sums import Sums

_COLUMNS = 3
_WIDE = 54.0  # cm, as all below
_CARD, _CARD_HEIGHT = 17.0, 11.0
_EDGE, _GAP, _HEAD = 0.75, 0.6, 3.3
_BELOW = 0.7  # under the last row
_INSIDE = 0.3  # from a card's side to what is in it
_TITLE_TOP = 0.26  # of a card's title
_TITLE_SIZES = (12.0, 11.5, 11.0, 10.5, 10.0, TITLE)  # points
_ABOVE = 1.4  # from a card's top to its content: two lines of title


@dataclass(frozen=True)
class Headline:
    """What stands over the panels."""

    name: str
    about: str
    facts: list[tuple[str, str]]  # a number, and what it counts
    task: str
    verdict: str
    verdict_words: Sequence[str]  # the verdict, and what it is of


def draw_panel_alone(panel: Picture, data: Data, theme: Theme) -> Figure:
    with rc_context(make_panel_look(theme)):
        paper = make_sheet(theme, CONTENT, panel.functions.title(data))
        panel.functions.draw(paper, data)
    return paper.figure


def draw_whole_poster(panels: Sequence[Picture], data: Data, theme: Theme) -> Figure:
    """Rows of three under the headline, as many as the panels need."""
    high = _measure_sheet_height(len(panels))
    with rc_context(make_panel_look(theme)):
        figure = Figure(figsize=(_WIDE / 2.54, high / 2.54), facecolor=_choose_ground_colour(theme))
        FigureCanvasAgg(figure)
        whole = Frame(figure, theme, 0, 0, _WIDE, high)
        back = add_canvas(whole, 0, 0, _WIDE, high)
        _draw_headline(back, data["headline"], theme)
        for index, panel in enumerate(panels):
            row, column = divmod(index, _COLUMNS)
            left = _EDGE + column * (_CARD + (_WIDE - 2 * _EDGE - _COLUMNS * _CARD) / (_COLUMNS - 1))
            top = _HEAD + row * (_CARD_HEIGHT + _GAP)
            card = whole.part(left, top, _CARD, _CARD_HEIGHT)
            _draw_panel_card(back, card, index + 1, panel, data[panel.id])
    return figure


def _measure_sheet_height(panels: int) -> float:
    rows = ceil(panels / _COLUMNS)
    return _HEAD + rows * _CARD_HEIGHT + (rows - 1) * _GAP + _BELOW


def _choose_ground_colour(theme: Theme) -> str:
    """Behind the cards."""
    return mix_colours(theme.faint, theme.paper, 0.4)


def _draw_panel_card(back: Axes, card: Frame, number: int, panel: Picture, data: Data) -> None:
    theme = card.theme
    draw_round_box(
        back, card.left, card.top, card.width, card.height, theme.paper, theme.faint, 0.25, 0.8, zorder=1
    )
    draw_badge(back, card.left + 0.75, card.top + 0.72, 0.36, str(number), theme.accent, 13)
    title, room = panel.functions.title(data), (card.width - 1.35 - _INSIDE) * 0.97
    card.write(1.35, _TITLE_TOP, title, _choose_title_size(title, room), room, weight="bold")
    panel.functions.draw(card.part(_INSIDE, _ABOVE, card.width - 2 * _INSIDE, CONTENT), data)


def _choose_title_size(title: str, room: float) -> float:
    """As large as two lines allow: a sheet is often seen small.

    >>> _choose_title_size("All 8 parameters in 8 arrays", 15.0), _choose_title_size("word " * 40, 15.0)
    (12.0, 9.5)
    """
    fits = (size for size in _TITLE_SIZES if len(wrap_text(title, room, size, "bold")) <= 2)
    return next(fits, TITLE)


def make_headline(sums: "Sums") -> Headline:
    """Name, counts and verdict."""
    shape, params = sums.architecture, sums.model.params
    unique = sum(parameter.free for parameter in list_parameters(shape).values())
    not_zero = sum(int((array != 0).sum()) for array in params.values()) - count_fixed_nonzero(shape)
    stored = sum(parameter.size for parameter in list_all_parameters(shape).values())
    heads = len(sums.heads)
    findings = sums.findings
    return Headline(
        name=sums.name + ("" if sums.step is None else f", step {sums.step:,}"),
        about=sums.about.replace("`", ""),
        facts=[
            (f"{unique:,}", "parameters"),
            (f"{not_zero:,}", "of them not zero"),
            (f"{stored:,}", "with ties written out"),
            (f"{count_constants(shape):,}", "constants in formulas"),
            (f"{len(shape.layers)} · {heads}", f"{choose_plural(len(shape.layers), 'layer')} · "
             f"{choose_plural(heads, 'head')}"),
            (f"{shape.width}", "dimensions of the stream"),
        ],
        task=f"adds two numbers of {_name_length(sums)}{sums.task.name_base()}, digit "
        f"by digit, in {shape.precision}; layout {sums.layout.name}",
        verdict=findings.verdict,
        verdict_words=describe_badge(
            findings,
            sums.task,
            format_power(2 * sums.task.digits, sums.task.base),
            NumberFormats(format_significant),
        ),
    )  # fmt: skip


def _draw_headline(back: Axes, head: Headline, theme: Theme) -> None:
    """The name on the left, counts, and the verdict on the right."""
    end = _draw_headline_facts(back, head, _draw_verdict_badge(back, head, theme), theme)
    left, room = _EDGE + 0.1, end - _EDGE - 0.5
    lines = ((1.6, head.name, 38.0, "bold"), (2.35, head.about, 11.0, "normal"))
    for y, text, size, weight in lines:
        while measure_text_width(text, size, weight) > room and size > 9.5:
            size -= 0.5
        write_centred_text(
            back, left, y, cut_text(text, room, size, weight), size, weight=weight, ha="left", va="baseline"
        )
    down = 2.9 if head.about else 2.45
    write_centred_text(
        back, left, down, cut_text(head.task, room, 9.5), 9.5, color=theme.muted, ha="left", va="baseline"
    )


def _draw_verdict_badge(back: Axes, head: Headline, theme: Theme) -> float:
    """A badge in the verdict's colour; returns its left edge."""
    colour = {"proved": theme.good, "refuted": theme.bad}.get(head.verdict, theme.muted)
    first, second = head.verdict_words[0], cut_text(head.verdict_words[1], 9.0, 9.5)
    wide = max(measure_text_width(first, 17, "bold"), measure_text_width(second, 9.5)) + 1.2
    edge, ink = _WIDE - _EDGE, pick_text_colour(colour)
    draw_round_box(back, edge - wide, 0.7, wide, 2.0, colour, radius=0.3)
    write_centred_text(back, edge - wide / 2, 1.5, first, 17, weight="bold", color=ink, va="baseline")
    write_centred_text(back, edge - wide / 2, 2.2, second, 9.5, color=ink, va="baseline")
    return edge - wide


def _draw_headline_facts(back: Axes, head: Headline, edge: float, theme: Theme) -> float:
    """Numbers with what they count, side by side up to an edge; returns the left one."""
    right = edge - 0.7
    for number, label in reversed(head.facts):
        room = max(measure_text_width(number, 24, "bold"), measure_text_width(label, 8.5)) + 0.9
        write_centred_text(
            back, right - room / 2, 1.65, number, 24, weight="bold", color=theme.accent, va="baseline"
        )
        write_centred_text(back, right - room / 2, 2.25, label, 8.5, color=theme.muted, va="baseline")
        right -= room
    return right


def _name_length(sums: "Sums") -> str:
    """How long numbers may be; a drawing has to choose one length."""
    drawn = format_count(sums.task.digits, "digit")
    return f"any length (drawn: {drawn})" if is_any_length(sums.architecture, sums.task) else drawn
