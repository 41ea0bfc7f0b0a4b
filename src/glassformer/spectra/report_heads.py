"""What the report says of heads: ranks and their places, copying, asymmetry, treatments, biases."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from glassformer.spectra.markdown import table
from glassformer.spectra.results import Analysis, Kernel, KernelResult
from glassformer.spectra.words import (
    counted,
    listed,
    place_text,
    rank_text,
    ratio_text,
    signed_text,
    sized,
    treatment_place,
)

MOST = 10  # heads that a list names
TERMS = {
    "content": "content, norm of A",
    "key_only": "key only, norm of K'b_q",
    "query_position": "query only, norm of Q'b_k",
    "position": "constant, b_q'b_k",
}


TREATMENTS = {
    "folded": "*Folded*: gains of the norms multiplied into the weights; a norm's division depends on the "
    "token and is not applied.",
    "rope": "*rope:N*: the kernel between a query and the key N places before it.",
}


def heads_section(analysis: Analysis) -> list[str]:
    """QK and OV: how ranks are spread, and who is at the ends."""
    kinds = {kernel: raw_kernels(analysis, kernel) for kernel in ("QK", "OV")}
    kinds = {kernel: found for kernel, found in kinds.items() if found}
    if not kinds:
        return []
    headings = ("kernel", "of at most", "mean", "std", "min", "25%", "50%", "75%", "max", "of random")
    lines = [
        "## Heads: effective rank",
        "",
        *table(headings, [spread_row(*item) for item in kinds.items()]),
        "",
    ]
    for kernel, found in kinds.items():
        lines += end_lines(kernel, found)
    return lines


def raw_kernels(analysis: Analysis, kernel: Kernel | str, treatment: str = "raw") -> list[KernelResult]:
    return [one for one in analysis.kernels if one.kernel == kernel and one.treatment == treatment]


def where(one: KernelResult) -> str:
    return place_text(one.head.layer, one.head.index)


def spread_row(kernel: str, found: Sequence[KernelResult]) -> tuple[str, ...]:
    ranks = np.array([one.eff_rank for one in found])
    low, high = found[int(ranks.argmin())], found[int(ranks.argmax())]
    quartiles = [rank_text(value) for value in np.percentile(ranks, (25, 50, 75))]
    ratio = float(np.mean([one.relative_rank for one in found]))
    return (
        kernel,
        str(max(one.size for one in found)),
        rank_text(float(ranks.mean())),
        rank_text(float(ranks.std())),
        f"{rank_text(low.eff_rank)} ({where(low)})",
        *quartiles,
        f"{rank_text(high.eff_rank)} ({where(high)})",
        ratio_text(ratio),
    )


def end_lines(kernel: str, found: Sequence[KernelResult]) -> list[str]:
    """The lowest and the highest heads side by side, and where the lowest quarter sits."""
    ranked = sorted(found, key=lambda one: one.eff_rank)
    if rank_text(ranked[0].eff_rank) == rank_text(ranked[-1].eff_rank):
        return []
    count = min(MOST, len(ranked) // 2)
    ends = zip(ranked[:count], ranked[::-1][:count], strict=True)
    rows = [
        (f"{rank_text(low.eff_rank)}", where(low), f"{rank_text(high.eff_rank)}", where(high))
        for low, high in ends
    ]
    headings = (f"{kernel}, lowest", "head", "highest", "head")
    return [*table(headings, rows, left=4), "", *quarter_lines(kernel, ranked)]


def quarter_lines(kernel: str, ranked: Sequence[KernelResult]) -> list[str]:
    """Which layers the lowest and the highest quarter of the heads come from."""
    quarter = len(ranked) // 4
    if quarter < 2 or len({one.head.layer for one in ranked}) < 2:
        return []
    parts = []
    for name, group in (("lowest", ranked[:quarter]), ("highest", ranked[-quarter:])):
        layers = Counter(one.head.layer for one in group).most_common(3)
        most = listed([f"layer {layer} ({count})" for layer, count in layers])
        parts.append(f"the {name} quarter ({counted(quarter, 'head')}) comes most often from {most}")
    return [f"Of the {kernel} kernels {parts[0]}; {parts[1]}.", ""]


def character_section(analysis: Analysis) -> list[str]:
    """What kind of kernels they are."""
    copying, scores = raw_kernels(analysis, "OV"), raw_kernels(analysis, "QK")
    lines: list[str] = []
    if copying:
        ranked = sorted(copying, key=lambda one: -one.copying)
        count = min(MOST, max(1, len(ranked) // 2))
        mean = float(np.mean([one.copying for one in copying]))
        ends = f" Highest: {named(ranked[:count], lambda one: one.copying)}." + lowest_copying(ranked, count)
        is_same = ratio_text(ranked[0].copying) == ratio_text(ranked[-1].copying)
        lines += [
            "- Copying score of OV, sum(eig) / sum|eig| (1 where all eigenvalues are positive, near 0 for a "
            f"random head): mean {ratio_text(mean)}.{'' if is_same else ends}"
        ]
    if scores:
        ranked = sorted(scores, key=lambda one: one.asymmetry)
        mean = float(np.mean([one.asymmetry for one in scores]))
        share = float(np.mean([one.complex_share for one in scores]))
        has_ends = len(ranked) > 3 and ratio_text(ranked[0].asymmetry) != ratio_text(ranked[-1].asymmetry)
        ends = f" Most symmetric: {named(ranked[:3], lambda one: one.asymmetry)}." if has_ends else ""
        lines += [
            "- Asymmetry of QK, |A - A'| / |A| (0 symmetric, 1.414 for a random head, 2 antisymmetric): "
            "mean "
            f"{ratio_text(mean)}; {share:.0%} of the eigenvalues are complex.{ends}"
        ]
    return ["## Heads: copying and asymmetry", "", *lines, ""] if lines else []


def lowest_copying(ranked: Sequence[KernelResult], count: int) -> str:
    """Those that write the opposite of what they read."""
    negative = [one for one in ranked[::-1][: min(3, count)] if one.copying < 0]
    return f" Lowest: {named(negative, lambda one: one.copying)}." if negative and len(ranked) > 1 else ""


def named(heads: Sequence[KernelResult], number: Callable[[KernelResult], float]) -> str:
    return listed([f"{where(one)} ({ratio_text(number(one))})" for one in heads])


def treatment_section(analysis: Analysis) -> list[str]:
    """Means raw and treated, and the heads that change most."""
    names = sorted({one.treatment for one in analysis.kernels} - {"raw"}, key=treatment_place)
    rows = []
    for kernel in ("QK", "OV"):
        raw = {(one.head.layer, one.head.index): one.eff_rank for one in raw_kernels(analysis, kernel)}
        for name in names:
            found = raw_kernels(analysis, kernel, name)
            if found:
                rows.append(treatment_row(kernel, name, found, raw))
    headings = ("kernel", "treatment", "mean raw", "mean treated", "largest fall", "largest rise")
    about = " ".join(said for word, said in TREATMENTS.items() if any(word in name for name in names))
    return ["## Treatments", "", *table(headings, rows, left=2), "", about, ""] if rows else []


def treatment_row(
    kernel: str, name: str, found: Sequence[KernelResult], raw: dict[tuple[int, int], float]
) -> tuple[str, ...]:
    before = np.array([raw.get((one.head.layer, one.head.index), np.nan) for one in found])
    after = np.array([one.eff_rank for one in found])
    steps = after - before
    ends = [
        f"{signed_text(float(steps[place]))} ({where(found[place])})" if sign * steps[place] > 0 else "none"
        for sign, place in ((-1, int(np.nanargmin(steps))), (1, int(np.nanargmax(steps))))
    ]
    return (kernel, name, rank_text(float(np.nanmean(before))), rank_text(float(after.mean())), *ends)


def bias_section(analysis: Analysis) -> list[str]:
    """The four terms of the scores where queries or keys have biases."""
    found = [one for one in raw_kernels(analysis, "QK") if one.biases is not None]
    if not found:
        return []
    rows = []
    for term, name in TERMS.items():
        values = np.array([getattr(one.biases, term) for one in found])
        largest = found[int(values.argmax())]
        rows.append(
            (name, sized(float(np.median(values))), f"{sized(float(values.max()))} ({where(largest)})")
        )
    about = (
        "A score is x'Ay + b_q'Ky + x'Q'b_k + b_q'b_k. The sizes bound the terms for inputs of length 1. "
        "Biases are kept "
        "apart from the kernels: as one more column of the weights they would look like a kernel of rank 1."
    )
    return [
        "## Biases of queries and keys",
        "",
        *table(("term", "median head", "largest"), rows),
        "",
        about,
        "",
    ]
