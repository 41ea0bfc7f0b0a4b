"""A panel on a page of its own, and all nine on the poster: 54 by 38.2 cm, the shape of an A2 sheet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from glassformer.draw.parts.frame import TITLE, Frame, sheet, text_width
from glassformer.draw.picture import Data, Picture
from glassformer.draw.poster.style import CONTENT, badge, box, canvas, fit, panel_look, say
from glassformer.draw.poster.words import counted, power, short
from glassformer.draw.theme import Theme, mixed, readable_on
from glassformer.model.count import constants, fixed_constants
from glassformer.model.forward import all_parameters, parameters
from glassformer.proof.verdict_words import Numbers, badge_lines

if TYPE_CHECKING:
    from glassformer.draw.poster.sums import Sums

WIDE, HIGH = 54.0, 38.2  # cm
CARD, CARD_HEIGHT = 17.0, 11.0
EDGE, GAP, HEAD = 0.75, 0.6, 3.3
INSIDE = 0.3  # from a card's side to what is in it
ABOVE = 1.4  # from a card's top to its content: two lines of title


def panel_alone(panel: Picture, data: Data, theme: Theme) -> Figure:
    with rc_context(panel_look(theme)):
        paper = sheet(theme, CONTENT, panel.functions.title(data))
        panel.functions.draw(paper, data)
    return paper.figure


def whole_poster(panels: Sequence[Picture], data: Data, theme: Theme) -> Figure:
    """Three rows of three, under the headline."""
    with rc_context(panel_look(theme)):
        figure = Figure(figsize=(WIDE / 2.54, HIGH / 2.54), facecolor=ground(theme))
        FigureCanvasAgg(figure)
        whole = Frame(figure, theme, 0, 0, WIDE, HIGH)
        back = canvas(whole, 0, 0, WIDE, HIGH)
        draw_headline(back, data["headline"], theme)
        for index, panel in enumerate(panels):
            row, column = divmod(index, 3)
            left = EDGE + column * (CARD + (WIDE - 2 * EDGE - 3 * CARD) / 2)
            top = HEAD + row * (CARD_HEIGHT + GAP)
            card = whole.part(left, top, CARD, CARD_HEIGHT)
            draw_card(back, card, index + 1, panel, data[panel.id])
    return figure


def ground(theme: Theme) -> str:
    """Behind the cards."""
    return mixed(theme.faint, theme.paper, 0.4)


def draw_card(back: Axes, card: Frame, number: int, panel: Picture, data: Data) -> None:
    theme = card.theme
    box(back, card.left, card.top, card.width, card.height, theme.paper, theme.faint, 0.25, 0.8, zorder=1)
    badge(back, card.left + 0.75, card.top + 0.72, 0.36, str(number), theme.accent, 13)
    title = panel.functions.title(data)
    card.write(1.35, 0.32, title, TITLE, (card.width - 1.35 - INSIDE) * 0.97, weight="bold")
    panel.functions.draw(card.part(INSIDE, ABOVE, card.width - 2 * INSIDE, CONTENT), data)


def headline(sums: "Sums") -> Data:
    """Name, counts and verdict."""
    shape, params = sums.architecture, sums.model.params
    unique = sum(parameter.free for parameter in parameters(shape).values())
    not_zero = sum(int((array != 0).sum()) for array in params.values()) - fixed_constants(shape)
    stored = sum(parameter.size for parameter in all_parameters(shape).values())
    heads = len(sums.heads)
    findings = sums.findings
    return {
        "name": sums.name + ("" if sums.step is None else f", step {sums.step:,}"),
        "about": sums.about.replace("`", ""),
        "facts": [
            (f"{unique:,}", "parameters"),
            (f"{not_zero:,}", "of them not zero"),
            (f"{stored:,}", "with ties written out"),
            (f"{constants(shape):,}", "constants in formulas"),
            (f"{len(shape.layers)} · {heads}", f"{'layer' if len(shape.layers) == 1 else 'layers'} · "
             f"{'head' if heads == 1 else 'heads'}"),
            (f"{shape.width}", "dimensions of the stream"),
        ],
        "task": f"adds two numbers of {counted(sums.task.digits, 'digit')}, one answer digit after the "
        "other, "
        f"in {shape.precision}; layout {sums.layout.name}",
        "verdict": findings.verdict,
        "verdict_words": badge_lines(findings, sums.task, power(len(findings.inputs) - 1), Numbers(short)),
    }  # fmt: skip


def draw_headline(back: Axes, data: Any, theme: Theme) -> None:
    """The name on the left, counts, and the verdict on the right."""
    end = draw_facts(back, data, draw_verdict(back, data, theme), theme)
    left, room = EDGE + 0.1, end - EDGE - 0.5
    lines = ((1.6, data["name"], 38.0, "bold"), (2.35, data["about"], 11.0, "normal"))
    for y, text, size, weight in lines:
        while text_width(text, size, weight) > room and size > 9.5:
            size -= 0.5
        say(back, left, y, fit(text, room, size, weight), size, weight=weight, ha="left", va="baseline")
    down = 2.9 if data["about"] else 2.45
    say(back, left, down, fit(data["task"], room, 9.5), 9.5, color=theme.muted, ha="left", va="baseline")


def draw_verdict(back: Axes, data: Any, theme: Theme) -> float:
    """A badge in the verdict's colour; returns its left edge."""
    colour = {"proved": theme.good, "refuted": theme.bad}.get(data["verdict"], theme.muted)
    first, second = data["verdict_words"][0], fit(data["verdict_words"][1], 9.0, 9.5)
    wide = max(text_width(first, 17, "bold"), text_width(second, 9.5)) + 1.2
    edge, ink = WIDE - EDGE, readable_on(colour)
    box(back, edge - wide, 0.7, wide, 2.0, colour, radius=0.3)
    say(back, edge - wide / 2, 1.5, first, 17, weight="bold", color=ink, va="baseline")
    say(back, edge - wide / 2, 2.2, second, 9.5, color=ink, va="baseline")
    return edge - wide


def draw_facts(back: Axes, data: Any, edge: float, theme: Theme) -> float:
    """Numbers with what they count, side by side up to an edge; returns the left one."""
    right = edge - 0.7
    for number, label in reversed(data["facts"]):
        room = max(text_width(number, 24, "bold"), text_width(label, 8.5)) + 0.9
        say(back, right - room / 2, 1.65, number, 24, weight="bold", color=theme.accent, va="baseline")
        say(back, right - room / 2, 2.25, label, 8.5, color=theme.muted, va="baseline")
        right -= room
    return right
