"""An analysis as a page of Markdown: what was read, what was found and where, what it does not say."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PurePath

from glassformer.core.words import choose_plural, format_count, join_words
from glassformer.lens.markdown import format_markdown_table, format_weight_type
from glassformer.lens.report_heads import (
    make_bias_section,
    make_character_section,
    make_heads_section,
    make_treatment_section,
)
from glassformer.lens.report_relations import make_relations_section
from glassformer.lens.report_short import make_short_section
from glassformer.lens.results import Analysis, DepthCourse, LayerChange, MatrixResult
from glassformer.lens.words import (
    describe_course,
    format_rank,
    format_ratio,
    format_shape,
    format_signed_rank,
)

_THIRDS = ("early", "middle", "late")
_MATRIX, _MATRICES = "weight matrix", "weight matrices"
_PICTURES = (".png", ".svg")  # that a page can show, the first kind there is


def format_analysis_report(analysis: Analysis, figures: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """The whole page; `figures` are paths from where it lies, `notes` more sentences for the user."""
    sections: dict[Callable[[Analysis], list[str]], tuple[str, ...]] = {
        make_short_section: (),
        _make_weights_section: ("S06", "S07", "S08", "S09", "S10"),
        make_heads_section: ("S01", "S03", "S04", "S05"),
        make_character_section: ("S02",),
        make_relations_section: ("S11", "S12", "S13"),
        make_treatment_section: ("S14",),
        make_bias_section: ("S15",),
    }
    lines, left = _describe_read_model(analysis, notes), _choose_shown_figures(figures)
    for section, ids in sections.items():
        if said := section(analysis):
            here = [path for path in left if PurePath(path).name.startswith(ids)] if ids else []
            left = [path for path in left if path not in here]
            lines += [*said, *_make_figure_links(here)]
    lines += [*make_figures_section(left), *_make_method_section(analysis, figures)]
    return "\n".join(lines).rstrip() + "\n"


def _describe_read_model(analysis: Analysis, notes: Sequence[str]) -> list[str]:
    """What was read, and what was not."""
    layout = analysis.layout
    raw = [one for one in analysis.matrices if one.treatment == "raw"]
    dtypes = [dtype for dtype, _ in Counter(one.dtype for one in raw).most_common()]
    stored = f", stored as {join_words(dtypes)}" if dtypes else ""
    said = [
        f"Architecture {layout.architecture}: {format_count(layout.layers, 'layer')}"
        f"{describe_width(layout.width)}.",
        _describe_chosen_layers(analysis),
        _describe_read_heads(analysis),
        f"{format_count(len(raw), _MATRIX, _MATRICES)}{stored}."
        if raw
        else "No weight matrices were asked for.",
    ]
    lines = [f"# Spectra of {analysis.name}", "", " ".join(sentence for sentence in said if sentence), ""]
    told = dict.fromkeys([*layout.notes, *notes])
    return [*lines, *(f"- {note}" for note in told), *([""] if told else [])]


def describe_width(width: int) -> str:
    """Of the residual stream; nothing where an unknown architecture does not tell."""
    return f", width {width}" if width else ""


def _describe_chosen_layers(analysis: Analysis) -> str:
    """Which layers, where not all were asked for."""
    seen = {one.weight.layer for one in analysis.matrices} | {one.head.layer for one in analysis.kernels}
    layers = sorted(layer for layer in seen if layer is not None)
    if not layers or len(layers) == analysis.layout.layers:
        return ""
    verb = choose_plural(len(layers), "was", "were")
    return (
        f"{format_count(len(layers), 'layer')} {verb} looked at: "
        f"{join_words([str(layer) for layer in layers])}."
    )


def _describe_read_heads(analysis: Analysis) -> str:
    layout = analysis.layout
    if not layout.heads or not analysis.kernels:
        return "Heads were not read."
    shared = f", {layout.kv_heads} for keys and values" if layout.kv_heads != layout.heads else ""
    dims = format_count(layout.head_dim, "dimension")
    return f"{format_count(layout.heads, 'head')} per layer with {dims} each{shared}."


def _make_weights_section(analysis: Analysis) -> list[str]:
    """The main table: one row per type and shape."""
    raw = [one for one in analysis.matrices if one.treatment == "raw"]
    if not analysis.depth and not raw:
        return []
    rows = [
        _make_course_row(name, course, _find_course_shape(name, raw))
        for name, course in analysis.depth.items()
    ]
    rows += [_make_single_row(one) for one in raw if one.weight.layer is None]
    headings = (
        "type",
        "shape",
        "mean",
        "std",
        "of random",
        *_THIRDS,
        "trend",
        "largest jump",
        "largest drop",
    )
    is_tested = any(course.trend.p_value == course.trend.p_value for course in analysis.depth.values())
    return [
        "## Weights over depth",
        "",
        *format_markdown_table(headings, rows, left=2, words=("trend",)),
        "",
        _WEIGHTS_ABOUT + (f" {_TRENDS_ABOUT}" if is_tested else ""),
        "",
        *_describe_level_changes(analysis),
    ]


_WEIGHTS_ABOUT = (
    "*Mean* and *std* over the layers of the effective rank, exp of the entropy of sigma / sum(sigma): r "
    "for r equal singular values, lower the more unequal they are (of experts, first the mean of a "
    "layer's). *Of random*: the rank over that of a matrix of independent normal numbers of the same "
    "shape, mean over the layers. 1 is a spectrum as broad as that of noise; below 1 some directions "
    "stand out. A rank itself grows with the shape, so only this column may be compared between types. "
    "*Early*, *middle*, *late*: means of a third of the layers each."
)
_TRENDS_ABOUT = (
    "*Trend*: what the thirds do and what a test finds, rising or falling by Mann-Kendall, a U by two "
    "lines of opposite slopes. p is the chance of an order at least as clear if depth did not matter; "
    "from 0.05 on a trend is called not significant. It is per type, not corrected for their number: "
    "about one in 20 types without a trend has a p below 0.05. Neighbouring layers that resemble each "
    "other make p too small."
)


def _find_course_shape(name: str, raw: Sequence[MatrixResult]) -> str:
    """The shape of a course's matrices: in its name where a type has several."""
    type, _, shape = name.partition(" ")
    if shape:
        return shape.replace("x", "\N{MULTIPLICATION SIGN}")
    found = [one.shape for one in raw if one.weight.type == type and one.weight.layer is not None]
    return format_shape(found[0]) if found else ""


def _make_course_row(name: str, course: DepthCourse, shape: str) -> tuple[str, ...]:
    thirds = [format_rank(mean) for mean in course.thirds] if len(course.thirds) == 3 else ["", "", ""]
    numbers = (format_rank(course.mean), format_rank(course.std), format_ratio(course.relative_to_random))
    ends = (_format_largest_step(course.jump, 1), _format_largest_step(course.drop, -1))
    return (
        format_weight_type(name.partition(" ")[0]),
        shape,
        *numbers,
        *thirds,
        describe_course(course.trend),
        *ends,
    )


def _make_single_row(one: MatrixResult) -> tuple[str, ...]:
    """Embeddings and unembeddings, which belong to no layer."""
    rank = one.eff_rank
    ratio = format_ratio(rank / one.random.eff_rank)
    return (
        format_weight_type(one.weight.type),
        format_shape(one.shape),
        format_rank(rank),
        "",
        ratio,
        *[""] * 6,
    )


def _format_largest_step(change: LayerChange | None, sign: int) -> str:
    """The largest step in one direction; none where no step goes there."""
    is_there = change is not None and sign * change.by > 0
    return f"{format_signed_rank(change.by)} (to layer {change.layer})" if change and is_there else "none"


def _describe_level_changes(analysis: Analysis) -> list[str]:
    """Where levels change, in sentences."""
    found = {name: course for name, course in analysis.depth.items() if course.change_points}
    lines = [
        f"- {format_weight_type(name)}: {join_words([format_rank(mean) for mean in course.segments])}, with "
        f"a new level from layer {join_words([str(layer) for layer in course.change_points])} on."
        for name, course in found.items()
    ]
    return ["Change points (means of the segments):", "", *lines, ""] if lines else []


def make_figures_section(figures: Sequence[str]) -> list[str]:
    """Those that belong to no other section."""
    lines = _make_figure_links(_choose_shown_figures(figures))
    return ["## Figures", "", *lines] if lines else []


def _choose_shown_figures(figures: Sequence[str]) -> list[str]:
    """Every figure once, in a kind that a page can show."""
    kinds = [kind for kind in _PICTURES if any(path.endswith(kind) for path in figures)]
    return [path for path in figures if kinds and path.endswith(kinds[0])]


def _make_figure_links(paths: Sequence[str]) -> list[str]:
    return [text for path in paths for text in (f"![{_format_figure_name(path)}]({path})", "")]


def _format_figure_name(path: str) -> str:
    """
    >>> _format_figure_name("figures/S03_head_of_lowest_rank_L0_h8.png")
    'head of lowest rank L0 h8'
    """
    return PurePath(path).stem.partition("_")[2].replace("_", " ")


def _make_method_section(analysis: Analysis, figures: Sequence[str] = ()) -> list[str]:
    """How it was computed, and what the numbers do not say."""
    said = [_describe_used_precision(analysis)]
    if analysis.kernels:
        said.append(
            "A head's kernels (QK = W_Q' W_K, OV = W_O W_V) are as wide as the model but of the head's rank: "
            "their singular values and eigenvalues come from float64 problems of the head's size."
        )
    said += [
        "Each task was checked: the squared singular values add up to the squared Frobenius norm of the "
        "weights"
        + (", and the eigenvalues of a kernel to its trace" if analysis.kernels else "")
        + ". A failed check is an error, so all of them passed.",
        "No mean is taken over matrices of different shapes: a larger matrix has a larger rank, learned or "
        "not.",
        "Effective rank here is that of sigma; tables give that of sigma squared too, which is "
        "lower. Compare like with like.",
        "A rank counts directions that weights use. It does not say which of them text ever excites, nor "
        "how much a head or a matrix matters.",
    ]
    if figures:
        captions = PurePath(figures[0]).with_name("captions.md").as_posix()
        said.append(f"What each figure shows, with its numbers: [{captions}]({captions}).")
    return ["## How it was computed, and what it does not say", "", *(f"- {line}" for line in said if line)]


def _describe_used_precision(analysis: Analysis) -> str:
    counts = Counter(one.precision for one in analysis.matrices if one.treatment == "raw")
    if not counts:
        return ""
    parts = [
        f"{count:,} by {name}" if len(counts) > 1 else f"by {name}" for name, count in counts.most_common()
    ]
    return (
        "Singular values of the "
        f"{format_count(sum(counts.values()), _MATRIX, _MATRICES)}: {join_words(parts)}."
    )
