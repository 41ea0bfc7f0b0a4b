"""How the data flow: tokens, the stream of vectors, what each part reads from it and adds to it."""

from matplotlib.axes import Axes

from glassformer.core.theme import mix_colours, pick_text_colour
from glassformer.core.words import choose_plural, format_count, join_words, lower_digits
from glassformer.models.constants import count_constants
from glassformer.models.forward import list_parameters
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import Frame, measure_text_width
from glassformer.pictures.picture import Data
from glassformer.pictures.poster.flow import FlowBlock, list_flow_blocks
from glassformer.pictures.poster.style import (
    SIZE,
    STAGES,
    add_canvas,
    choose_position_colour,
    choose_stage_colour,
    cut_text,
    draw_round_box,
    draw_token_cell,
    find_parameter_stage,
    format_cell_token,
    is_end_digit,
    write_centred_text,
    write_paragraph,
)
from glassformer.pictures.poster.sums import Sums

_STREAM, _BOX_TOP, _FLOW = 0.6, 1.5, 5.75  # cm within the flow's canvas
_NAMED = 0.36  # cm a position, from which each has its name above it
_BUDGET = 7.45  # cm below the panel's top


def compute(subject: Subject) -> Data:
    shape, has_columns = subject.model.architecture, subject.inputs.has_columns
    sizes = {name: parameter.free for name, parameter in list_parameters(shape).items()}
    stages = {
        stage: sum(size for name, size in sizes.items() if find_parameter_stage(name) == stage)
        for stage in STAGES
    }
    return (_make_worked_sum(subject.sums) if has_columns else _make_answered_string(subject)) | {
        "width": shape.width,
        "blocks": list_flow_blocks(shape, sizes, "digits" if has_columns else "tokens"),
        "stages": stages,
        "total": sum(sizes.values()),
        "ties": tuple(f"{tie.name} = {tie.to}" for tie in shape.ties),
        "constants": count_constants(shape),
    }


def _make_worked_sum(sums: Sums) -> Data:
    """The pair and its sum, as the model reads and writes them."""
    return {
        "tokens": tuple(sums.token_name(int(token)) for token in sums.tokens),
        "labels": sums.layout.position_labels(),
        "prompt": sums.layout.prompt_length,
        "pair": sums.pair,
    }


def _make_answered_string(subject: Subject) -> Data:
    """The first input that is followed, and the model's answer to it."""
    labels = subject.labels(0)
    answer = subject.tokens[int(subject.trace(0)["logits"][-1].argmax())]
    names = tuple(f"p{place}" for place in range(len(labels)))
    return {
        "tokens": (*labels, answer),
        "labels": (*names, answer),  # the answer is written, and has no position yet
        "prompt": len(labels),
        "stage_names": {"digits": "tokens"},
        "does": "answer a prompt" if subject.automaton.length else "predict the next token",
    }


def title(data: Data) -> str:
    stages = {_name_stage(data, stage): count for stage, count in data["stages"].items()}
    does = "write a sum digit by digit" if "pair" in data else data["does"]
    return f"{format_count(data['total'], 'parameter')} {does}; {_describe_largest_stages(stages)}"


def _name_stage(data: Data, stage: str) -> str:
    """What a stage is called: tokens are digits only where a task adds."""
    return str(({"places": "positions"} | data.get("stage_names", {})).get(stage, stage))


def _describe_largest_stages(stages: dict[str, int]) -> str:
    """The stages with the most parameters: a share that leads need not be more than half.

    >>> _describe_largest_stages({"digits": 3, "attention": 23})
    '23 of them are attention'
    >>> _describe_largest_stages({"digits": 2, "head": 2})
    'digits and the head have 2 each'
    """
    most = max(stages.values())
    names = ["the head" if stage == "head" else stage for stage, count in stages.items() if count == most]
    if len(names) == 1:
        return f"{most:,} of them {choose_plural(most, 'is', 'are')} {names[0]}"
    return f"{join_words(names)} have {most:,} each"


def draw(frame: Frame, data: Data) -> None:
    _draw_problem_tokens(add_canvas(frame, 0, 0, frame.width, 1.6), frame, data)
    _draw_flow(add_canvas(frame, 0, 1.65, frame.width, _FLOW), frame, data)
    _draw_budget(add_canvas(frame, 0, _BUDGET, frame.width, frame.height - _BUDGET), frame, data)


def _draw_problem_tokens(axes: Axes, frame: Frame, data: Data) -> None:
    """The problem and the answer as the model sees and writes them."""
    theme, count = frame.theme, len(data["tokens"])
    wide = min(frame.width / count, 1.0)
    for place, (token, label) in enumerate(zip(data["tokens"], data["labels"], strict=True)):
        x = (place + 0.5) * wide
        edge = theme.good if place >= data["prompt"] else "none"
        draw_token_cell(axes, x, 0.72, wide - 0.05, 0.5, format_cell_token(token), theme, edge)
        has_room = wide >= _NAMED or is_end_digit(label, data["labels"], place)
        if has_room and label != token and not label.isdigit():
            write_centred_text(axes, x, 0.22, lower_digits(label), color=choose_position_colour(label, theme))
    answer = wide * data["prompt"]
    problem = "read: {} + {} =".format(*data["pair"]) if "pair" in data else "read"
    write_centred_text(axes, 0.05, 1.25, cut_text(problem, answer - 0.1), color=theme.muted, ha="left")
    write_centred_text(axes, answer + 0.05, 1.25, "written by the model", color=theme.good, ha="left")


def _draw_flow(axes: Axes, frame: Frame, data: Data) -> None:
    theme, found = frame.theme, data["blocks"]
    gap = 0.45 if len(found) <= 4 else 0.25
    wide = (frame.width - gap * (len(found) - 1)) / len(found)
    axes.plot([wide / 2, frame.width - wide / 2], [_STREAM] * 2, color=theme.faint, linewidth=7, zorder=1,
              solid_capstyle="butt")  # fmt: skip
    note = f"the residual stream: {format_count(data['width'], 'dimension')} per position"
    write_centred_text(axes, frame.width / 2, 0.15, note, color=theme.muted)
    line = min(0.5, (_FLOW - _BOX_TOP - 1.3) / max(len(block.rows) for block in found))
    for index, block in enumerate(found):
        _draw_flow_block(axes, frame, block, index * (wide + gap), wide, line, is_first=index == 0)


def _draw_flow_block(
    axes: Axes, frame: Frame, block: FlowBlock, left: float, wide: float, line: float, is_first: bool
) -> None:
    theme = frame.theme
    colour = choose_stage_colour(block.stage, theme)
    number, name = f"{block.numbers:,}", {"weight": "bold", "ha": "left", "color": theme.ink}
    beside = measure_text_width(block.title, 9, "bold") + measure_text_width(number, 15, "bold") < wide - 0.4
    title_size = 9.0 if beside else 7.5
    first = 0.85 if beside else 1.15  # the title stands below the number where both are too wide
    high = first + 0.1 + line * len(block.rows)
    draw_round_box(axes, left, _BOX_TOP, wide, high, mix_colours(colour, theme.paper, 0.1), colour)
    write_centred_text(
        axes,
        left + 0.15,
        _BOX_TOP + (0.42 if beside else 0.82),
        cut_text(block.title, wide - 0.25, title_size, "bold"),
        title_size,
        **name,
    )
    write_centred_text(
        axes, left + wide - 0.15, _BOX_TOP + 0.4, number, 15, ha="right", weight="bold", color=colour
    )
    for row, (text, count) in enumerate(block.rows):
        y = _BOX_TOP + first + 0.08 + row * line
        write_centred_text(
            axes, left + 0.15, y, cut_text(text, wide - (0.75 if count else 0.3)), ha="left", color=theme.ink
        )
        write_centred_text(axes, left + wide - 0.15, y, count, ha="right", color=theme.muted)
    _draw_block_arrows(axes, frame, block, left, wide, colour, is_first)


def _draw_block_arrows(
    axes: Axes, frame: Frame, block: FlowBlock, left: float, wide: float, colour: str, is_first: bool
) -> None:
    """Down from the stream, through the norm; up again where something is added."""
    theme = frame.theme
    down = left + wide * (0.5 if block.kind == "ends" else 0.3)
    up = left + wide * (0.5 if block.kind == "ends" else 0.78)
    if not is_first:
        _draw_stream_arrow(axes, down, _STREAM, down, _BOX_TOP, colour)
        axes.plot([down], [_STREAM], marker="o", markersize=4, color=colour, zorder=5)
        if block.norm:
            draw_round_box(
                axes,
                down - 0.62,
                0.84,
                1.24,
                0.36,
                mix_colours(theme.muted, theme.paper, 0.18),
                theme.muted,
                0.18,
                0.6,
                6,
            )
            write_centred_text(axes, down, 1.02, block.norm, color=theme.ink, zorder=7)
    if block.kind != "ends" or is_first:
        _draw_stream_arrow(axes, up, _BOX_TOP, up, _STREAM + 0.2, colour)
        sign = {"adds": "+", "replaces": "="}.get(block.kind, "")
        axes.plot([up], [_STREAM], marker="o", markersize=9, color=colour, zorder=5)
        write_centred_text(
            axes, up, _STREAM, sign, 8, color=pick_text_colour(colour), weight="bold", zorder=6
        )


def _draw_stream_arrow(axes: Axes, x0: float, y0: float, x1: float, y1: float, colour: str) -> None:
    style = {
        "arrowstyle": "-|>,head_width=0.14,head_length=0.28",
        "color": colour,
        "lw": 1.1,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", xy=(x1, y1), xytext=(x0, y0), arrowprops=style, zorder=4)


def _draw_budget(axes: Axes, frame: Frame, data: Data) -> None:
    """The parameters of each stage as one bar; below it ties and constants."""
    theme, x = frame.theme, 0.0
    used = {stage: count for stage, count in data["stages"].items() if count}
    label_x = 0.0
    for stage, count in used.items():
        wide = frame.width * count / data["total"]
        colour = choose_stage_colour(stage, theme)
        draw_round_box(axes, x + 0.02, 0.1, wide - 0.04, 0.42, colour, radius=0.06)
        if wide > 0.5:
            write_centred_text(
                axes, x + wide / 2, 0.31, str(count), weight="bold", color=pick_text_colour(colour), zorder=3
            )
        x += wide
        text = f"{_name_stage(data, stage)} {count}"
        draw_round_box(axes, label_x, 0.72, 0.2, 0.2, colour, radius=0.04)
        write_centred_text(axes, label_x + 0.28, 0.82, text, ha="left", color=theme.ink)
        label_x += measure_text_width(text, SIZE) + 0.75
    words = f"Tied: {join_words(data['ties'])}." if data["ties"] else "No parameter is tied to another."
    words += f" Formulas hold {format_count(data['constants'], 'more constant')} that no file stores."
    write_paragraph(frame, 0, _BUDGET + 1.05, frame.width, [words])


def caption(data: Data) -> str:
    problem = "{} + {}".format(*data["pair"]) if "pair" in data else " ".join(data["tokens"][:-1])
    return (
        f"How the data flow for {problem}. Each box names how its weights are made and how many parameters "
        f"they have, {data['total']} in all. Each part reads the residual stream, through a norm where there "
        "is one, and adds its output to it."
    )
