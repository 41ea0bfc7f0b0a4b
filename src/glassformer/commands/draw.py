"""`glassformer draw`: every parameter and every step of a model as figures."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glassformer.commands.values import read_dims, read_pair
from glassformer.core.answer import Answer, Request
from glassformer.core.values import list_texts, split_list

if TYPE_CHECKING:
    from glassformer.commands.draw_figures import DrawResult


def draw(
    target: str | Path,
    *,
    step: int | None = None,
    sequences: Sequence[str] = (),
    pair: str | tuple[int, int] | None = None,
    query: str | None = None,
    dims: str | tuple[int, int] | None = None,
    only: str | Sequence[str] = (),
    formats: str | Sequence[str] = "png",
    theme: Literal["light", "dark", "print"] = "light",
    out: str | Path | None = None,
    model: str | None = None,
    show: bool = False,
) -> "DrawResult":
    """Draw figures of every parameter and every step of a model's computation.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        step (N): draw a saved training step (default: the final model)
        sequences (--sequence "4 1 +"): rules and questions: an input to show; may be repeated
        pair (A+B): adders: the sum to work through
        query (TOKEN@POSITION): rules and questions: the query that figure 10 shows
        dims (I,J): rules and questions: plot these two dimensions instead of the leading directions
        only (05,13,F1): draw only these figures (glassformer list figures)
        formats (--format png,svg,pdf): file formats (default: png)
        theme: colour theme
        out (FOLDER): where to write (default: figures/ in the run folder, or TARGET.figures/)
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer draw runs/plus_last_even                     all figures, into runs/plus_last_even/figures
        glassformer draw runs/plus_last_even --only 05,13,F1 --format png,svg,pdf --theme print
        glassformer draw runs/plus_last_even --step 500 --sequence "4 1 + 4 6 9 5 +"
        glassformer draw runs/modular --sequence "7 9 ="         a question: a whole prompt
        glassformer draw microadder-57 --pair 9999999999+1       an adder: the poster and its panels
    """
    from glassformer.commands.draw_figures import FIGURES, describe_cuts, draw_figure_set, require_style
    from glassformer.pictures.measure.prepare import make_subject
    from glassformer.runs.load import load_model

    endings, asked = split_list(formats), list_texts(sequences)
    two_numbers, two_dims = read_pair(pair), read_dims(dims)
    loaded = load_model(target, model)
    require_style(endings, theme)
    subject = make_subject(loaded, loaded.name, loaded.folder, step, asked, two_numbers, two_dims, query)
    folder = loaded.folder / FIGURES if loaded.folder else Path(f"{loaded.name}.{FIGURES}")
    folder = folder if step is None else folder / f"step_{step}"
    into = Path(out) if out is not None else folder
    result = draw_figure_set(subject, split_list(only), into, loaded.folder, endings, theme, show)
    return replace(result, notes=describe_cuts(asked, subject.context))


def answer_draw(result: "DrawResult", request: Request) -> Answer:
    """The summary for people."""
    from glassformer.core.words import format_count

    made = format_count(len(result.files), "file")
    lines = [f"{result.folder}: {made} in {result.seconds:.1f} s, with captions.md and data/"]
    lines += [f"  {id} was not drawn: {reason}" for id, reason in result.skipped.items()]
    lines += [f"  {note}" for note in result.notes]
    return Answer(asdict(result), "\n".join(lines))
