"""The first lines of the report: what stands out, each with its number and its layer."""

from glassformer.core.words import join_words
from glassformer.lens.markdown import format_weight_type
from glassformer.lens.report_relations import make_strongest_rows
from glassformer.lens.results import Analysis, Kernel
from glassformer.lens.words import format_head_location, format_rank, format_ratio, format_signed_rank

_FOUND = ("rising", "falling", "U-shape", "inverted U")
_MOST_NAMES = 8  # types that a sentence names


def make_short_section(analysis: Analysis) -> list[str]:
    """At most six sentences."""
    said = [
        _describe_kernel_ranks(analysis, "QK"),
        _describe_kernel_ranks(analysis, "OV"),
        _describe_random_distance(analysis),
        _describe_depth_trends(analysis),
        _describe_largest_step(analysis),
        _describe_strongest_composition(analysis),
    ]
    lines = [f"- {sentence}" for sentence in said if sentence]
    return ["## In short", "", *lines, ""] if lines else []


def _describe_kernel_ranks(analysis: Analysis, kernel: Kernel) -> str:
    """How many directions the heads use."""
    found = [one for one in analysis.kernels if one.kernel == kernel and one.treatment == "raw"]
    if not found:
        return ""
    ranks = [one.eff_rank for one in found]
    shares = [rank / one.random.eff_rank for rank, one in zip(ranks, found, strict=True)]
    low, high = (found[ranks.index(end)].head for end in (min(ranks), max(ranks)))
    mean, share = format_rank(sum(ranks) / len(ranks)), format_ratio(sum(shares) / len(shares))
    ends = (
        f", from {format_rank(min(ranks))} ({format_head_location(low.layer, low.index)}) to "
        f"{format_rank(max(ranks))} ({format_head_location(high.layer, high.index)})"
        if format_rank(min(ranks)) != format_rank(max(ranks))
        else ""
    )
    size = max(one.size for one in found)
    of_all = "on average " if len(found) > 1 else ""
    return f"{kernel} kernels use {mean} of {size} directions {of_all}({share} of a random head's){ends}."


def _describe_random_distance(analysis: Analysis) -> str:
    """Which weights are farthest from a random matrix, and which nearest."""
    shares = {name: course.relative_to_random for name, course in analysis.depth.items()}
    if len(shares) < 2 or format_ratio(min(shares.values())) == format_ratio(max(shares.values())):
        return ""
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    return (
        f"Against random matrices of their shapes {format_weight_type(low)} has the lowest effective rank "
        f"({format_ratio(shares[low])}), {format_weight_type(high)} the highest ("
        f"{format_ratio(shares[high])})."
    )


def _describe_depth_trends(analysis: Analysis) -> str:
    """What tests find over depth."""
    tested = {name: course.trend for name, course in analysis.depth.items()}
    tested = {name: trend for name, trend in tested.items() if trend.tested != "too few layers"}
    if not tested:
        return ""
    parts = []
    for label in (*_FOUND, "none"):
        names = [format_weight_type(name) for name, trend in tested.items() if trend.tested == label]
        word = "no significant trend" if label == "none" else label
        if names:
            which = join_words(names) if len(names) <= _MOST_NAMES else f"{len(names)} types"
            parts.append(f"{word}: {which}")
    return f"Effective rank over depth: {'; '.join(parts)}."


def _describe_largest_step(analysis: Analysis) -> str:
    """The largest step from a layer to the next, as a share of its type's mean."""
    steps = [
        (abs(change.by) / course.mean, name, change)
        for name, course in analysis.depth.items()
        for change in (course.jump, course.drop)
        if change is not None and course.mean > 0
    ]
    if not steps or not max(steps, key=lambda step: step[0])[0]:
        return ""
    share, name, change = max(steps, key=lambda step: step[0])
    return (
        f"The largest step between two layers: {format_weight_type(name)} {format_signed_rank(change.by)} to "
        f"layer {change.layer}, {share:.1%} of its mean."
    )


def _describe_strongest_composition(analysis: Analysis) -> str:
    """The pair of heads that compose most."""
    rows = make_strongest_rows(analysis.relations, 1) if analysis.relations else []
    if not rows:
        return ""
    writer, reader, score, times = rows[0]
    return f"The strongest composition: {reader} read {writer}, score {score}, {times} times chance."
