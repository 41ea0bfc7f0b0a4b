"""The first lines of the report: what stands out, each with its number and its place."""

from glassformer.spectra.markdown import type_text
from glassformer.spectra.report_relations import strongest_rows
from glassformer.spectra.results import Analysis, Kernel
from glassformer.spectra.words import listed, place_text, rank_text, ratio_text, signed_text

FOUND = ("rising", "falling", "U-shape", "inverted U")
MOST_NAMES = 8  # types that a sentence names


def short_section(analysis: Analysis) -> list[str]:
    """At most six sentences."""
    said = [
        rank_sentence(analysis, "QK"),
        rank_sentence(analysis, "OV"),
        random_sentence(analysis),
        trend_sentence(analysis),
        step_sentence(analysis),
        composition_sentence(analysis),
    ]
    lines = [f"- {sentence}" for sentence in said if sentence]
    return ["## In short", "", *lines, ""] if lines else []


def rank_sentence(analysis: Analysis, kernel: Kernel) -> str:
    """How many directions the heads use."""
    found = [one for one in analysis.kernels if one.kernel == kernel and one.treatment == "raw"]
    if not found:
        return ""
    ranks = [one.eff_rank for one in found]
    shares = [rank / one.random.eff_rank for rank, one in zip(ranks, found, strict=True)]
    low, high = (found[ranks.index(end)].head for end in (min(ranks), max(ranks)))
    mean, share = rank_text(sum(ranks) / len(ranks)), ratio_text(sum(shares) / len(shares))
    ends = (
        f", from {rank_text(min(ranks))} ({place_text(low.layer, low.index)}) to {rank_text(max(ranks))} "
        f"({place_text(high.layer, high.index)})"
        if rank_text(min(ranks)) != rank_text(max(ranks))
        else ""
    )
    size = max(one.size for one in found)
    of_all = "on average " if len(found) > 1 else ""
    return f"{kernel} kernels use {mean} of {size} directions {of_all}({share} of a random head's){ends}."


def random_sentence(analysis: Analysis) -> str:
    """Which weights are farthest from a random matrix, and which nearest."""
    shares = {name: course.relative_to_random for name, course in analysis.depth.items()}
    if len(shares) < 2 or ratio_text(min(shares.values())) == ratio_text(max(shares.values())):
        return ""
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    return (
        f"Against random matrices of their shapes {type_text(low)} has the lowest effective rank "
        f"({ratio_text(shares[low])}), {type_text(high)} the highest ({ratio_text(shares[high])})."
    )


def trend_sentence(analysis: Analysis) -> str:
    """What tests find over depth."""
    tested = {name: course.trend for name, course in analysis.depth.items()}
    tested = {name: trend for name, trend in tested.items() if trend.tested != "too few layers"}
    if not tested:
        return ""
    parts = []
    for label in (*FOUND, "none"):
        names = [type_text(name) for name, trend in tested.items() if trend.tested == label]
        word = "no significant trend" if label == "none" else label
        if names:
            which = listed(names) if len(names) <= MOST_NAMES else f"{len(names)} types"
            parts.append(f"{word}: {which}")
    return f"Effective rank over depth: {'; '.join(parts)}."


def step_sentence(analysis: Analysis) -> str:
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
        f"The largest step between two layers: {type_text(name)} {signed_text(change.by)} to layer "
        f"{change.layer}, {share:.1%} of its mean."
    )


def composition_sentence(analysis: Analysis) -> str:
    """The pair of heads that compose most."""
    rows = strongest_rows(analysis.relations, 1) if analysis.relations else []
    if not rows:
        return ""
    writer, reader, score, times = rows[0]
    return f"The strongest composition: {reader} read {writer}, score {score}, {times} times chance."
