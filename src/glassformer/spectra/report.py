"""An analysis as a page of Markdown: what was read, the numbers with their places, what they do not say."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath

from glassformer.spectra.markdown import table
from glassformer.spectra.report_heads import bias_section, character_section, heads_section, treatment_section
from glassformer.spectra.report_relations import relations_section
from glassformer.spectra.results import Analysis, Change, Depth, MatrixResult
from glassformer.spectra.words import (
    counted,
    course_text,
    listed,
    rank_text,
    ratio_text,
    shape_text,
    signed_text,
)

THIRDS = ("early", "middle", "late")
MATRIX, MATRICES = "weight matrix", "weight matrices"
PICTURES = (".png", ".svg")  # that a page can show, the first kind there is


def report_text(analysis: Analysis, figures: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """The whole page; `figures` are paths from where it lies, `notes` more sentences for the user."""
    sections: tuple[Callable[[Analysis], list[str]], ...] = (
        weights_section,
        heads_section,
        character_section,
        relations_section,
        treatment_section,
        bias_section,
    )
    lines = opening(analysis, notes)
    for section in sections:
        lines += section(analysis)
    lines += [*figures_section(figures), *method_section(analysis)]
    return "\n".join(lines).rstrip() + "\n"


def opening(analysis: Analysis, notes: Sequence[str]) -> list[str]:
    """What was read, and what was not."""
    layout = analysis.layout
    raw = [one for one in analysis.matrices if one.treatment == "raw"]
    dtypes = [dtype for dtype, _ in Counter(one.dtype for one in raw).most_common()]
    stored = f", stored as {listed(dtypes)}" if dtypes else ""
    said = [
        f"Architecture {layout.architecture}: {counted(layout.layers, 'layer')}, width {layout.width}.",
        layers_sentence(analysis),
        heads_sentence(analysis),
        f"{counted(len(raw), MATRIX, MATRICES)}{stored}." if raw else "No weight matrices were asked for.",
    ]
    lines = [f"# Spectra of {analysis.name}", "", " ".join(sentence for sentence in said if sentence), ""]
    told = dict.fromkeys([*layout.notes, *notes])
    return [*lines, *(f"- {note}" for note in told), *([""] if told else [])]


def layers_sentence(analysis: Analysis) -> str:
    """Which layers, where not all were asked for."""
    seen = {one.weight.layer for one in analysis.matrices} | {one.head.layer for one in analysis.kernels}
    layers = sorted(layer for layer in seen if layer is not None)
    if not layers or len(layers) == analysis.layout.layers:
        return ""
    verb = "was" if len(layers) == 1 else "were"
    return f"{counted(len(layers), 'layer')} {verb} looked at: {listed([str(layer) for layer in layers])}."


def heads_sentence(analysis: Analysis) -> str:
    layout = analysis.layout
    if not layout.heads or not analysis.kernels:
        return "Heads were not read."
    shared = f", {layout.kv_heads} for keys and values" if layout.kv_heads != layout.heads else ""
    dims = counted(layout.head_dim, "dimension")
    return f"{counted(layout.heads, 'head')} a layer of {dims}{shared}."


def weights_section(analysis: Analysis) -> list[str]:
    """The main table: one row a type and shape."""
    raw = [one for one in analysis.matrices if one.treatment == "raw"]
    if not analysis.depth and not raw:
        return []
    rows = [weight_row(name, course, shape_of(name, raw)) for name, course in analysis.depth.items()]
    rows += [single_row(one) for one in raw if one.weight.layer is None]
    headings = ("type", "shape", "mean", "std", "of random", *THIRDS, "trend", "largest jump", "largest drop")
    return [
        "## Weights over depth",
        "",
        *table(headings, rows, left=2),
        "",
        WEIGHTS_ABOUT,
        "",
        *changes(analysis),
    ]


WEIGHTS_ABOUT = (
    "Effective rank, exp of the entropy of sigma / sum(sigma), of each matrix; mean and standard deviation "
    "over "
    "the layers (of experts, first over the experts of a layer). *Of random*: the mean of the ratio to a "
    "matrix "
    "of independent numbers of the same shape; only this column may be compared between types. A trend is "
    "what a "
    "test finds at 5%, type by type; p is not corrected for the number of types."
)


def shape_of(name: str, raw: Sequence[MatrixResult]) -> str:
    """The shape of a course's matrices: in its name where a type has several."""
    type, _, shape = name.partition(" ")
    if shape:
        return shape.replace("x", "\N{MULTIPLICATION SIGN}")
    found = [one.shape for one in raw if one.weight.type == type and one.weight.layer is not None]
    return shape_text(found[0]) if found else ""


def weight_row(name: str, course: Depth, shape: str) -> tuple[str, ...]:
    thirds = [rank_text(mean) for mean in course.thirds] if len(course.thirds) == 3 else ["", "", ""]
    numbers = (rank_text(course.mean), rank_text(course.std), ratio_text(course.relative_to_random))
    ends = (change_text(course.jump, 1), change_text(course.drop, -1))
    return (type_text(name.partition(" ")[0]), shape, *numbers, *thirds, course_text(course.trend), *ends)


def single_row(one: MatrixResult) -> tuple[str, ...]:
    """Embeddings and unembeddings, which belong to no layer."""
    rank = one.statistics.ranks.eff_rank
    ratio = ratio_text(rank / one.random.eff_rank)
    return (type_text(one.weight.type), shape_text(one.shape), rank_text(rank), "", ratio, *[""] * 6)


def type_text(type: str) -> str:
    """A type that is a pattern of names stands as code, for its stars are no emphasis."""
    return f"`{type}`" if "*" in type else type


def change_text(change: Change | None, sign: int) -> str:
    """The largest step in one direction; none where no step goes there."""
    is_there = change is not None and sign * change.by > 0
    return f"{signed_text(change.by)} (to layer {change.layer})" if change and is_there else "none"


def changes(analysis: Analysis) -> list[str]:
    """Where levels change, in sentences."""
    found = {name: course for name, course in analysis.depth.items() if course.change_points}
    lines = [
        f"- {type_text(name)}: {listed([rank_text(mean) for mean in course.segments])}, with a new level "
        "from layer "
        f"{listed([str(layer) for layer in course.change_points])} on."
        for name, course in found.items()
    ]
    return ["Change points (means of the segments):", "", *lines, ""] if lines else []


def figures_section(figures: Sequence[str]) -> list[str]:
    """Every figure once, in a kind that a page can show."""
    kinds = [kind for kind in PICTURES if any(path.endswith(kind) for path in figures)]
    shown = [path for path in figures if kinds and path.endswith(kinds[0])]
    lines = [f"![{figure_name(path)}]({path})" for path in shown]
    return ["## Figures", "", *[text for line in lines for text in (line, "")]] if lines else []


def figure_name(path: str) -> str:
    """
    >>> figure_name("figures/S03_head_of_lowest_rank_L0_h8.png")
    'head of lowest rank L0 h8'
    """
    return PurePath(path).stem.partition("_")[2].replace("_", " ")


def method_section(analysis: Analysis) -> list[str]:
    """How it was computed, and what the numbers do not say."""
    said = [precision_text(analysis)]
    if analysis.kernels:
        said.append(
            "A head's kernels (QK = W_Q' W_K, OV = W_O W_V) are as wide as the model but of the head's "
            "rank: their "
            "singular values and eigenvalues come from float64 problems of the head's size."
        )
    said += [
        "Each task was checked: the squared singular values add up to the squared Frobenius norm of the "
        "weights"
        + (", and the eigenvalues of a kernel to its trace" if analysis.kernels else "")
        + ". A failed check is an error, so all of them passed.",
        "No mean is taken over matrices of different shapes: a larger matrix has a larger rank, learned or "
        "not.",
        "Effective rank here is that of sigma; tables give that of sigma squared too, which is lower. "
        "Compare like "
        "with like.",
        "A rank counts directions that weights use. It does not say which of them text ever excites, nor "
        "how much a head or a matrix matters.",
    ]
    return ["## How it was computed, and what it does not say", "", *(f"- {line}" for line in said if line)]


def precision_text(analysis: Analysis) -> str:
    counts = Counter(one.precision for one in analysis.matrices if one.treatment == "raw")
    if not counts:
        return ""
    parts = [
        f"{count:,} by {name}" if len(counts) > 1 else f"by {name}" for name, count in counts.most_common()
    ]
    return f"Singular values of the {counted(sum(counts.values()), MATRIX, MATRICES)}: {listed(parts)}."
