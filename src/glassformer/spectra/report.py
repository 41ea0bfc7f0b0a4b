"""An analysis as a page of Markdown: what was read, the numbers with their places, what they do not say."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath

from glassformer.spectra.markdown import table, type_text
from glassformer.spectra.report_heads import bias_section, character_section, heads_section, treatment_section
from glassformer.spectra.report_relations import relations_section
from glassformer.spectra.report_short import short_section
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
    sections: dict[Callable[[Analysis], list[str]], tuple[str, ...]] = {
        short_section: (),
        weights_section: ("S06", "S07", "S08", "S09", "S10"),
        heads_section: ("S01", "S03", "S04", "S05"),
        character_section: ("S02",),
        relations_section: ("S11", "S12", "S13"),
        treatment_section: ("S14",),
        bias_section: ("S15",),
    }
    lines, left = opening(analysis, notes), shown_once(figures)
    for section, ids in sections.items():
        if said := section(analysis):
            here = [path for path in left if PurePath(path).name.startswith(ids)] if ids else []
            left = [path for path in left if path not in here]
            lines += [*said, *figure_lines(here)]
    lines += [*figures_section(left), *method_section(analysis, figures)]
    return "\n".join(lines).rstrip() + "\n"


def opening(analysis: Analysis, notes: Sequence[str]) -> list[str]:
    """What was read, and what was not."""
    layout = analysis.layout
    raw = [one for one in analysis.matrices if one.treatment == "raw"]
    dtypes = [dtype for dtype, _ in Counter(one.dtype for one in raw).most_common()]
    stored = f", stored as {listed(dtypes)}" if dtypes else ""
    said = [
        f"Architecture {layout.architecture}: {counted(layout.layers, 'layer')}{width_text(layout.width)}.",
        layers_sentence(analysis),
        heads_sentence(analysis),
        f"{counted(len(raw), MATRIX, MATRICES)}{stored}." if raw else "No weight matrices were asked for.",
    ]
    lines = [f"# Spectra of {analysis.name}", "", " ".join(sentence for sentence in said if sentence), ""]
    told = dict.fromkeys([*layout.notes, *notes])
    return [*lines, *(f"- {note}" for note in told), *([""] if told else [])]


def width_text(width: int) -> str:
    """Of the residual stream; nothing where an unknown architecture does not tell."""
    return f", width {width}" if width else ""


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
    is_tested = any(course.trend.p_value == course.trend.p_value for course in analysis.depth.values())
    return [
        "## Weights over depth",
        "",
        *table(headings, rows, left=2, words=("trend",)),
        "",
        WEIGHTS_ABOUT + (f" {TRENDS_ABOUT}" if is_tested else ""),
        "",
        *changes(analysis),
    ]


WEIGHTS_ABOUT = (
    "*Mean* and *std* over the layers of the effective rank, exp of the entropy of sigma / sum(sigma): r "
    "for r equal singular values, less the more unequal they are (of experts, first the mean of a "
    "layer's). *Of random*: the rank over that of a matrix of independent normal numbers of the same "
    "shape, mean over the layers. 1 is a spectrum as broad as that of noise; below 1 some directions "
    "stand out. A rank itself grows with the shape, so only this column may be compared between types. "
    "*Early*, *middle*, *late*: means of a third of the layers each."
)
TRENDS_ABOUT = (
    "*Trend*: what the thirds do and what a test finds, rising or falling by Mann-Kendall, a U by two "
    "lines of opposite slopes. p is the chance of an order at least as clear if depth did not matter; "
    "from 0.05 on a trend is called not significant. It is per type, not corrected for their number: "
    "about one in 20 types without a trend has a p below 0.05. Neighbouring layers that resemble each "
    "other make p too small."
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
    rank = one.eff_rank
    ratio = ratio_text(rank / one.random.eff_rank)
    return (type_text(one.weight.type), shape_text(one.shape), rank_text(rank), "", ratio, *[""] * 6)


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
    """Those that belong to no other section."""
    lines = figure_lines(shown_once(figures))
    return ["## Figures", "", *lines] if lines else []


def shown_once(figures: Sequence[str]) -> list[str]:
    """Every figure once, in a kind that a page can show."""
    kinds = [kind for kind in PICTURES if any(path.endswith(kind) for path in figures)]
    return [path for path in figures if kinds and path.endswith(kinds[0])]


def figure_lines(paths: Sequence[str]) -> list[str]:
    return [text for path in paths for text in (f"![{figure_name(path)}]({path})", "")]


def figure_name(path: str) -> str:
    """
    >>> figure_name("figures/S03_head_of_lowest_rank_L0_h8.png")
    'head of lowest rank L0 h8'
    """
    return PurePath(path).stem.partition("_")[2].replace("_", " ")


def method_section(analysis: Analysis, figures: Sequence[str] = ()) -> list[str]:
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
    if figures:
        captions = PurePath(figures[0]).with_name("captions.md").as_posix()
        said.append(f"What each figure shows, with its numbers: [{captions}]({captions}).")
    return ["## How it was computed, and what it does not say", "", *(f"- {line}" for line in said if line)]


def precision_text(analysis: Analysis) -> str:
    counts = Counter(one.precision for one in analysis.matrices if one.treatment == "raw")
    if not counts:
        return ""
    parts = [
        f"{count:,} by {name}" if len(counts) > 1 else f"by {name}" for name, count in counts.most_common()
    ]
    return f"Singular values of the {counted(sum(counts.values()), MATRIX, MATRICES)}: {listed(parts)}."
