"""What the report says of heads: ranks and where they are, copying, asymmetry, treatments, biases."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from glassformer.core.words import format_count, join_words
from glassformer.lens.markdown import format_markdown_table
from glassformer.lens.results import Analysis, Kernel, KernelResult
from glassformer.lens.words import (
    format_head_location,
    format_rank,
    format_ratio,
    format_signed_rank,
    format_sized_number,
    order_treatment,
)

_MOST = 10  # heads that a list names
_TERMS = {
    "content": "content, norm of A",
    "key_only": "key only, norm of K'b_q",
    "query_position": "query only, norm of Q'b_k",
    "position": "constant, b_q'b_k",
}


_TREATMENTS = {
    "folded": "*Folded*: gains of the norms multiplied into the weights; a norm's division depends on the "
    "token and is not applied.",
    "rope": "*rope:N*: the kernel between a query and the key N positions before it.",
}


def make_heads_section(analysis: Analysis) -> list[str]:
    """QK and OV: how ranks are spread, and who is at the ends."""
    kinds = {kernel: _choose_kernels(analysis, kernel) for kernel in ("QK", "OV")}
    kinds = {kernel: found for kernel, found in kinds.items() if found}
    if not kinds:
        return []
    headings = ("kernel", "of at most", "mean", "std", "min", "25%", "50%", "75%", "max", "of random")
    lines = [
        "## Heads: effective rank",
        "",
        *format_markdown_table(headings, [_make_spread_row(*item) for item in kinds.items()]),
        "",
    ]
    for kernel, found in kinds.items():
        lines += _describe_end_heads(kernel, found)
    return lines


def _choose_kernels(analysis: Analysis, kernel: Kernel | str, treatment: str = "raw") -> list[KernelResult]:
    return [one for one in analysis.kernels if one.kernel == kernel and one.treatment == treatment]


def _format_kernel_location(one: KernelResult) -> str:
    return format_head_location(one.head.layer, one.head.index)


def _make_spread_row(kernel: str, found: Sequence[KernelResult]) -> tuple[str, ...]:
    ranks = np.array([one.eff_rank for one in found])
    low, high = found[int(ranks.argmin())], found[int(ranks.argmax())]
    quartiles = [format_rank(value) for value in np.percentile(ranks, (25, 50, 75))]
    ratio = float(np.mean([one.relative_rank for one in found]))
    return (
        kernel,
        str(max(one.size for one in found)),
        format_rank(float(ranks.mean())),
        format_rank(float(ranks.std())),
        f"{format_rank(low.eff_rank)} ({_format_kernel_location(low)})",
        *quartiles,
        f"{format_rank(high.eff_rank)} ({_format_kernel_location(high)})",
        format_ratio(ratio),
    )


def _describe_end_heads(kernel: str, found: Sequence[KernelResult]) -> list[str]:
    """The lowest and the highest heads side by side, and where the lowest quarter sits."""
    ranked = sorted(found, key=lambda one: one.eff_rank)
    if format_rank(ranked[0].eff_rank) == format_rank(ranked[-1].eff_rank):
        return []
    count = min(_MOST, len(ranked) // 2)
    ends = zip(ranked[:count], ranked[::-1][:count], strict=True)
    rows = [
        (
            f"{format_rank(low.eff_rank)}",
            _format_kernel_location(low),
            f"{format_rank(high.eff_rank)}",
            _format_kernel_location(high),
        )
        for low, high in ends
    ]
    headings = (f"{kernel}, lowest", "head", "highest", "head")
    return [*format_markdown_table(headings, rows, left=4), "", *_describe_rank_quarters(kernel, ranked)]


def _describe_rank_quarters(kernel: str, ranked: Sequence[KernelResult]) -> list[str]:
    """Which layers the lowest and the highest quarter of the heads come from."""
    quarter = len(ranked) // 4
    if quarter < 2 or len({one.head.layer for one in ranked}) < 2:
        return []
    parts = []
    for name, group in (("lowest", ranked[:quarter]), ("highest", ranked[-quarter:])):
        layers = Counter(one.head.layer for one in group).most_common(3)
        most = join_words([f"layer {layer} ({count})" for layer, count in layers])
        parts.append(f"the {name} quarter ({format_count(quarter, 'head')}) comes most often from {most}")
    return [f"Of the {kernel} kernels {parts[0]}; {parts[1]}.", ""]


def make_character_section(analysis: Analysis) -> list[str]:
    """What kind of kernels they are."""
    copying, scores = _choose_kernels(analysis, "OV"), _choose_kernels(analysis, "QK")
    lines: list[str] = []
    if copying:
        ranked = sorted(copying, key=lambda one: -one.copying)
        count = min(_MOST, max(1, len(ranked) // 2))
        mean = float(np.mean([one.copying for one in copying]))
        ends = (
            f" Highest: {_list_named_heads(ranked[:count], lambda one: one.copying)}."
            + _describe_lowest_copying(ranked, count)
        )
        is_same = format_ratio(ranked[0].copying) == format_ratio(ranked[-1].copying)
        lines += [
            "- Copying score of OV, sum(eig) / sum|eig| (1 where all eigenvalues are positive, near 0 for a "
            f"random head): mean {format_ratio(mean)}.{'' if is_same else ends}"
        ]
    if scores:
        ranked = sorted(scores, key=lambda one: one.asymmetry)
        mean = float(np.mean([one.asymmetry for one in scores]))
        share = float(np.mean([one.complex_share for one in scores]))
        has_ends = len(ranked) > 3 and format_ratio(ranked[0].asymmetry) != format_ratio(ranked[-1].asymmetry)
        ends = (
            f" Most symmetric: {_list_named_heads(ranked[:3], lambda one: one.asymmetry)}."
            if has_ends
            else ""
        )
        lines += [
            "- Asymmetry of QK, |A - A'| / |A| (0 symmetric, 1.414 for a random head, 2 antisymmetric): mean "
            f"{format_ratio(mean)}; {share:.0%} of the eigenvalues are complex.{ends}"
        ]
    return ["## Heads: copying and asymmetry", "", *lines, ""] if lines else []


def _describe_lowest_copying(ranked: Sequence[KernelResult], count: int) -> str:
    """Those that write the opposite of what they read."""
    negative = [one for one in ranked[::-1][: min(3, count)] if one.copying < 0]
    return (
        f" Lowest: {_list_named_heads(negative, lambda one: one.copying)}."
        if negative and len(ranked) > 1
        else ""
    )


def _list_named_heads(heads: Sequence[KernelResult], number: Callable[[KernelResult], float]) -> str:
    return join_words([f"{_format_kernel_location(one)} ({format_ratio(number(one))})" for one in heads])


def make_treatment_section(analysis: Analysis) -> list[str]:
    """Means raw and treated, and the heads that change most."""
    names = sorted({one.treatment for one in analysis.kernels} - {"raw"}, key=order_treatment)
    rows = []
    for kernel in ("QK", "OV"):
        raw = {(one.head.layer, one.head.index): one.eff_rank for one in _choose_kernels(analysis, kernel)}
        for name in names:
            found = _choose_kernels(analysis, kernel, name)
            if found:
                rows.append(_make_treatment_row(kernel, name, found, raw))
    headings = ("kernel", "treatment", "mean raw", "mean treated", "largest fall", "largest rise")
    about = " ".join(said for word, said in _TREATMENTS.items() if any(word in name for name in names))
    return (
        ["## Treatments", "", *format_markdown_table(headings, rows, left=2), "", about, ""] if rows else []
    )


def _make_treatment_row(
    kernel: str, name: str, found: Sequence[KernelResult], raw: dict[tuple[int, int], float]
) -> tuple[str, ...]:
    before = np.array([raw.get((one.head.layer, one.head.index), np.nan) for one in found])
    after = np.array([one.eff_rank for one in found])
    steps = after - before
    ends = [
        f"{format_signed_rank(float(steps[place]))} ({_format_kernel_location(found[place])})"
        if sign * steps[place] > 0
        else "none"
        for sign, place in ((-1, int(np.nanargmin(steps))), (1, int(np.nanargmax(steps))))
    ]
    return (kernel, name, format_rank(float(np.nanmean(before))), format_rank(float(after.mean())), *ends)


def make_bias_section(analysis: Analysis) -> list[str]:
    """The four terms of the scores where queries or keys have biases."""
    found = [one for one in _choose_kernels(analysis, "QK") if one.biases is not None]
    if not found:
        return []
    rows = []
    for term, name in _TERMS.items():
        values = np.array([getattr(one.biases, term) for one in found])
        largest = found[int(values.argmax())]
        rows.append(
            (
                name,
                format_sized_number(float(np.median(values))),
                f"{format_sized_number(float(values.max()))} ({_format_kernel_location(largest)})",
            )
        )
    about = (
        "A score is x'Ay + b_q'Ky + x'Q'b_k + b_q'b_k. The sizes bound the terms for inputs of length 1. "
        "Biases are kept "
        "apart from the kernels: as one more column of the weights they would look like a kernel of rank 1."
    )
    return [
        "## Biases of queries and keys",
        "",
        *format_markdown_table(("term", "median head", "largest"), rows),
        "",
        about,
        "",
    ]
