"""An adder as the community's board takes it: one file with `build_model()` and `add(model, a, b)`.

The board asks for a model that reads tokens and gives logits, and for decoding that any language model could
use: each token is the one with the largest logit, fed back as it was written. Nothing outside the model adds.
"""

from glassformer.core.errors import UserError
from glassformer.exports.subject import ExportSubject, clean_docstring_text, format_export_header
from glassformer.exports.torch_file import format_torch_model
from glassformer.exports.tricks import list_layout_tricks, list_tricks
from glassformer.tasks import Layout
from glassformer.tasks.board import BOARD_DIGITS, is_board_task

_BUILDING = '''

def build_model():
    """The model, and what the board's table says of it."""
    metadata = {{
        "name": "{name}",
        "author": "",  # yours
        "params": sum(one.numel() for one in Model().parameters()),
        "architecture": "{architecture}",
        "tricks": [
{tricks}
        ],
    }}
    return Model().eval(), metadata
'''
_ADDING = '''

def prompt(a: int, b: int) -> list[int]:
    """Both numbers as tokens{order}: {sample}."""
    first, second = (f"{{number:0{digits}d}}"{turn} for number in (a, b))
    return [{parts}]


@torch.inference_mode()
def add(model: nn.Module, a: int, b: int) -> int:
    """What the model writes after the prompt, token by token; -1 where a token is no digit."""
    tokens = prompt(a, b)
    for _ in range({answer}):
        logits = model(torch.tensor([tokens[-POSITIONS:]]))
        tokens.append(int(logits[0, -1].argmax()))
    written = tokens[-{answer}:]{turn_answer}
    is_number = all(token < 10 for token in written)
    return int("".join(map(str, written))) if is_number else -1
'''
_ADDING_ANY_LENGTH = '''

def prompt(a: int, b: int, digits: int) -> list[int]:
    """Both numbers as tokens{order}: {sample}."""
    first, second = (f"{{number:0{{digits}}d}}"{turn} for number in (a, b))
    return [{parts}]


@torch.inference_mode()
def add(model: nn.Module, a: int, b: int) -> int:
    """What the model writes after the prompt, digits + 1 tokens; -1 where a token is no digit."""
    digits = max({digits}, len(str(a)), len(str(b)))
    tokens, written = prompt(a, b, digits), []
    for _ in range(-1, digits):
        logits = model(torch.tensor([[*tokens, *written]]), digits)
        written.append(int(logits[0, -1].argmax()))
    is_number = all(token < 10 for token in written)
    return int("".join(map(str, written{turn_answer}))) if is_number else -1
'''


def format_adderboard_file(subject: ExportSubject) -> str:
    """The whole file."""
    if subject.loaded.task.family != "addition":
        made = f"{subject.said} was made for {subject.loaded.task.name}"
        raise UserError(f"the board is for adders: {made} (--to torch)")
    task = subject.loaded.addition
    if not is_board_task(task):
        raise UserError(
            f"the board adds numbers of {BOARD_DIGITS} digits, and {subject.said} those of "
            f"{task.digits}{task.name_base()}"
        )
    extra = "A submission to AdderBoard; it needs PyTorch alone. Put your name into the metadata."
    call = f"`add(model, a, b)` takes n from the longer number; it is at least {BOARD_DIGITS}."
    return (
        format_export_header(subject, "adderboard", extra, call)
        + "\n\n"
        + format_torch_model(subject)
        + _format_decoding(subject, task.written())
    )


def _format_decoding(subject: ExportSubject, layout: Layout) -> str:
    """`build_model`, `add` and the prompt of the layout."""
    numbers_turn = "" if layout.numbers_highest_first else "[::-1]"
    tricks = [*list_layout_tricks(layout), *list_tricks(subject.loaded.architecture)]
    adding = _ADDING_ANY_LENGTH if subject.is_any_length else _ADDING
    return (_BUILDING + adding).format(
        name=clean_docstring_text(subject.loaded.name),
        architecture=_describe_board_architecture(subject),
        tricks="\n".join(f'            "{clean_docstring_text(trick)}",' for trick in tricks),
        digits=layout.digits,
        answer=layout.digits + 1,
        turn=numbers_turn,
        turn_answer="" if layout.answer_highest_first else "[::-1]",
        order="" if layout.numbers_highest_first else ", units first",
        sample=" ".join(_spell_prompt(layout)),
        parts=", ".join(_list_prompt_elements(layout)),
    )


def _list_prompt_elements(layout: Layout) -> list[str]:
    """The elements of the prompt's list: marks as tokens, numbers as they come."""

    def marks(given: tuple[str, ...]) -> list[str]:
        return [str(layout.labels.index(mark) if mark in layout.labels else 0) for mark in given]

    first, second = "*map(int, first)", "*map(int, second)"
    return [*marks(layout.opening), first, *marks(layout.plus), second, *marks(layout.equals)]


def _spell_prompt(layout: Layout) -> list[str]:
    return [*layout.opening, "a...", *layout.plus, "b...", *layout.equals]


def _describe_board_architecture(subject: ExportSubject) -> str:
    """Layers, width and heads, as the board's table has them."""
    model = subject.loaded.architecture
    heads = max((layer.attention.heads for layer in model.layers if layer.attention), default=0)
    return f"{len(model.layers)}L decoder, d={model.width}, {heads}h"
