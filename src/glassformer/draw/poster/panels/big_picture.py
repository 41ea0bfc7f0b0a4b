"""The way of the data: tokens, the stream of vectors, what each part reads from it and adds to it."""

from matplotlib.axes import Axes

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import Frame, text_width
from glassformer.draw.picture import Data
from glassformer.draw.poster.flow import Block, blocks
from glassformer.draw.poster.style import (
    SIZE,
    STAGES,
    box,
    canvas,
    cell,
    fit,
    paragraph,
    place_colour,
    say,
    shown,
    stage_colour,
    stage_of,
)
from glassformer.draw.poster.sums import Sums
from glassformer.draw.poster.words import counted, listed, lowered
from glassformer.draw.theme import mixed, readable_on
from glassformer.model.count import constants
from glassformer.model.forward import parameters

STREAM, BOX_TOP, FLOW = 0.6, 1.5, 5.75  # cm within the flow's canvas
BUDGET = 7.45  # cm below the panel's top


def compute(subject: Subject) -> Data:
    shape, has_columns = subject.model.architecture, subject.inputs.has_columns
    sizes = {name: parameter.free for name, parameter in parameters(shape).items()}
    stages = {stage: sum(size for name, size in sizes.items() if stage_of(name) == stage) for stage in STAGES}
    return (worked_sum(subject.sums) if has_columns else answered_string(subject)) | {
        "width": shape.width,
        "blocks": blocks(shape, sizes, "digits" if has_columns else "tokens"),
        "stages": stages,
        "total": sum(sizes.values()),
        "ties": tuple(f"{tie.name} = {tie.to}" for tie in shape.ties),
        "constants": constants(shape),
    }


def worked_sum(sums: Sums) -> Data:
    """The pair and its sum, as the model reads and writes them."""
    return {
        "tokens": tuple(sums.token_name(int(token)) for token in sums.tokens),
        "labels": sums.layout.position_labels(),
        "prompt": sums.layout.prompt_length,
        "pair": sums.pair,
    }


def answered_string(subject: Subject) -> Data:
    """The first input that is followed, and the model's answer to it."""
    labels = subject.labels(0)
    answer = subject.tokens[int(subject.trace(0)["logits"][-1].argmax())]
    names = tuple(f"p{place}" for place in range(len(labels)))
    return {
        "tokens": (*labels, answer),
        "labels": (*names, answer),  # the answer is written, and has no position yet
        "prompt": len(labels),
        "stage_names": {"digits": "tokens"},
        "does": "answer a prompt" if subject.automaton.length else "say which token comes next",
    }


def title(data: Data) -> str:
    stages = {named_stage(data, stage): count for stage, count in data["stages"].items()}
    steps = len(data["tokens"]) - data["prompt"]
    does = f"write the {steps} digits of a sum, one after the other" if "pair" in data else data["does"]
    return f"{counted(data['total'], 'number')} {does}; {largest_words(stages)}"


def named_stage(data: Data, stage: str) -> str:
    """What a stage is called: tokens are digits only where a task adds."""
    return str(data.get("stage_names", {}).get(stage, stage))


def largest_words(stages: dict[str, int]) -> str:
    """The stages with the most numbers: a share that leads need not be more than half.

    >>> largest_words({"digits": 3, "attention": 23}), largest_words({"digits": 2, "head": 2})
    ('the largest part, 23, is attention', 'the largest parts, 2 each, are digits and the head')
    """
    most = max(stages.values())
    names = ["the head" if stage == "head" else stage for stage, count in stages.items() if count == most]
    if len(names) == 1:
        return f"the largest part, {most:,}, is {names[0]}"
    return f"the largest parts, {most:,} each, are {listed(names)}"


def draw(frame: Frame, data: Data) -> None:
    draw_tokens(canvas(frame, 0, 0, frame.width, 1.6), frame, data)
    draw_flow(canvas(frame, 0, 1.65, frame.width, FLOW), frame, data)
    draw_budget(canvas(frame, 0, BUDGET, frame.width, frame.height - BUDGET), frame, data)


def draw_tokens(axes: Axes, frame: Frame, data: Data) -> None:
    """The problem and the answer as the model sees and writes them."""
    theme, count = frame.theme, len(data["tokens"])
    wide = min(frame.width / count, 1.0)
    for place, (token, label) in enumerate(zip(data["tokens"], data["labels"], strict=True)):
        x = (place + 0.5) * wide
        edge = theme.good if place >= data["prompt"] else "none"
        cell(axes, x, 0.72, wide - 0.05, 0.5, shown(token), theme, edge)
        if label != token and not label.isdigit():
            say(axes, x, 0.22, lowered(label), color=place_colour(label, theme))
    answer = wide * data["prompt"]
    problem = "read: {} + {} =".format(*data["pair"]) if "pair" in data else "read"
    say(axes, 0.05, 1.25, fit(problem, answer - 0.1), color=theme.muted, ha="left")
    say(axes, answer + 0.05, 1.25, "written by the model", color=theme.good, ha="left")


def draw_flow(axes: Axes, frame: Frame, data: Data) -> None:
    theme, found = frame.theme, data["blocks"]
    gap = 0.45 if len(found) <= 4 else 0.25
    wide = (frame.width - gap * (len(found) - 1)) / len(found)
    axes.plot([wide / 2, frame.width - wide / 2], [STREAM] * 2, color=theme.faint, linewidth=7, zorder=1,
              solid_capstyle="butt")  # fmt: skip
    note = f"the stream: {counted(data['width'], 'number')} a place"
    say(axes, frame.width / 2, 0.15, note, color=theme.muted)
    line = min(0.5, (FLOW - BOX_TOP - 1.3) / max(len(block.rows) for block in found))
    for index, block in enumerate(found):
        draw_block(axes, frame, block, index * (wide + gap), wide, line, is_first=index == 0)


def draw_block(
    axes: Axes, frame: Frame, block: Block, left: float, wide: float, line: float, is_first: bool
) -> None:
    theme = frame.theme
    colour = stage_colour(block.stage, theme)
    number, name = f"{block.numbers:,}", {"weight": "bold", "ha": "left", "color": theme.ink}
    beside = text_width(block.title, 9, "bold") + text_width(number, 15, "bold") < wide - 0.4
    title_size = 9.0 if beside else 7.5
    first = 0.85 if beside else 1.15  # the title stands below the number where both are too wide
    high = first + 0.1 + line * len(block.rows)
    box(axes, left, BOX_TOP, wide, high, mixed(colour, theme.paper, 0.1), colour)
    say(
        axes,
        left + 0.15,
        BOX_TOP + (0.42 if beside else 0.82),
        fit(block.title, wide - 0.25, title_size, "bold"),
        title_size,
        **name,
    )
    say(axes, left + wide - 0.15, BOX_TOP + 0.4, number, 15, ha="right", weight="bold", color=colour)
    for row, (text, count) in enumerate(block.rows):
        y = BOX_TOP + first + 0.08 + row * line
        say(axes, left + 0.15, y, fit(text, wide - (0.75 if count else 0.3)), ha="left", color=theme.ink)
        say(axes, left + wide - 0.15, y, count, ha="right", color=theme.muted)
    draw_arrows(axes, frame, block, left, wide, colour, is_first)


def draw_arrows(
    axes: Axes, frame: Frame, block: Block, left: float, wide: float, colour: str, is_first: bool
) -> None:
    """Down from the stream, through the norm; up again where something is added."""
    theme = frame.theme
    down = left + wide * (0.5 if block.kind == "ends" else 0.3)
    up = left + wide * (0.5 if block.kind == "ends" else 0.78)
    if not is_first:
        point(axes, down, STREAM, down, BOX_TOP, colour)
        axes.plot([down], [STREAM], marker="o", markersize=4, color=colour, zorder=5)
        if block.norm:
            box(
                axes,
                down - 0.62,
                0.84,
                1.24,
                0.36,
                mixed(theme.muted, theme.paper, 0.18),
                theme.muted,
                0.18,
                0.6,
                6,
            )
            say(axes, down, 1.02, block.norm, color=theme.ink, zorder=7)
    if block.kind != "ends" or is_first:
        point(axes, up, BOX_TOP, up, STREAM + 0.2, colour)
        sign = {"adds": "+", "replaces": "="}.get(block.kind, "")
        axes.plot([up], [STREAM], marker="o", markersize=9, color=colour, zorder=5)
        say(axes, up, STREAM, sign, 8, color=readable_on(colour), weight="bold", zorder=6)


def point(axes: Axes, x0: float, y0: float, x1: float, y1: float, colour: str) -> None:
    style = {
        "arrowstyle": "-|>,head_width=0.14,head_length=0.28",
        "color": colour,
        "lw": 1.1,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", xy=(x1, y1), xytext=(x0, y0), arrowprops=style, zorder=4)


def draw_budget(axes: Axes, frame: Frame, data: Data) -> None:
    """Where the numbers are, as one bar; below it what is shared and what no file holds."""
    theme, x = frame.theme, 0.0
    used = {stage: count for stage, count in data["stages"].items() if count}
    label_x = 0.0
    for stage, count in used.items():
        wide = frame.width * count / data["total"]
        colour = stage_colour(stage, theme)
        box(axes, x + 0.02, 0.1, wide - 0.04, 0.42, colour, radius=0.06)
        if wide > 0.5:
            say(axes, x + wide / 2, 0.31, str(count), weight="bold", color=readable_on(colour), zorder=3)
        x += wide
        text = f"{named_stage(data, stage)} {count}"
        box(axes, label_x, 0.72, 0.2, 0.2, colour, radius=0.04)
        say(axes, label_x + 0.28, 0.82, text, ha="left", color=theme.ink)
        label_x += text_width(text, SIZE) + 0.75
    words = f"Tied: {listed(data['ties'])}." if data["ties"] else "No parameter is tied to another."
    words += f" Formulas hold {counted(data['constants'], 'constant')} more that no file stores."
    paragraph(frame, 0, BUDGET + 1.05, frame.width, [words])


def caption(data: Data) -> str:
    problem = "{} + {}".format(*data["pair"]) if "pair" in data else " ".join(data["tokens"][:-1])
    return (
        f"The way of the data for {problem}. Each box names how its weights are made and how many numbers "
        f"they store; together they are {data['total']}. Parts read from the stream, through a norm where "
        "there is one, and add to it what they compute."
    )
