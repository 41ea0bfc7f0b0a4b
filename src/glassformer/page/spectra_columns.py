"""What the numbers of a spectra table are called on a page, and how they are shown.

>>> number_of("n90").about, number_of("copying").scale
('components that hold 90% of the energy', 'signed')
"""

# ruff: noqa: RUF001  letters of formulas are meant

import re
from dataclasses import dataclass
from typing import Literal

Scale = Literal["plain", "signed", "log"]  # of the colours, and of an axis


@dataclass(frozen=True)
class Number:
    """A column that can be looked at."""

    name: str
    label: str
    about: str
    scale: Scale = "plain"


RANDOM = "as a share of what random weights of these shapes have"
ENERGY = "the energy, the sum of squared singular values"

NUMBERS = {
    number.name: number
    for number in (
        Number("eff_rank", "effective rank", "exp of the entropy of σ / Σσ: how many directions are used"),
        Number("eff_rank_relative", "effective rank / random", f"the effective rank {RANDOM}"),
        Number("eff_rank_energy", "effective rank of σ²", "the same of the squared singular values"),
        Number("eff_rank_energy_relative", "effective rank of σ² / random", f"the same {RANDOM}"),
        Number("stable_rank", "stable rank", "Σσ² / max σ²"),
        Number("stable_rank_relative", "stable rank / random", f"the stable rank {RANDOM}"),
        Number("participation_ratio", "participation ratio", "(Σσ²)² / Σσ⁴"),
        Number("participation_ratio_relative", "participation ratio / random", f"the same {RANDOM}"),
        Number("top_share", "share of the largest σ", f"what the largest singular value holds of {ENERGY}"),
        Number("asymmetry", "asymmetry", "|A − A′| / |A|: 0 symmetric, √2 in between, 2 antisymmetric"),
        Number("complex_share", "complex eigenvalues", "share of the eigenvalues that are not real"),
        Number(
            "copying", "copying", "Σ eig / Σ |eig|: 1 where a token's own direction is written back", "signed"
        ),
        Number("frobenius", "Frobenius norm", "root of the sum of squared singular values", "log"),
        Number("largest", "largest σ", "the largest singular value", "log"),
        Number("smallest", "smallest σ", "the smallest singular value", "log"),
        Number("condition", "condition", "largest / smallest singular value", "log"),
        Number("alpha", "power law α", "exponent of a power law fitted to the tail of σ²"),
        Number("alpha_tail", "tail of the power law", "how many values the fit is about"),
        Number("alpha_distance", "distance of the power law", "Kolmogorov-Smirnov distance of tail and fit"),
        Number("change_norm", "change", "|second − first| / |first|", "log"),
        Number("change_eff_rank", "effective rank of the change", "directions that second − first uses"),
        Number("change_eff_rank_relative", "effective rank of the change / random", f"the same {RANDOM}"),
        Number("change_n90", "n90 of the change", "directions that hold 90% of the change's energy"),
        Number("similarity", "directions kept", "mean squared cosine of the leading directions of both"),
        Number("eff_rank_change", "change of the effective rank", "second − first", "signed"),
        Number("eff_rank_raw", "effective rank, raw", "that of the untreated weights"),
        Number("size", "size", "the largest rank that the kernel can have"),
        Number("score_content", "score: content", "size of the score's term of both contents", "log"),
        Number("score_key_only", "score: key only", "size of the term of the query's bias", "log"),
        Number("score_query_position", "score: query", "size of the term of the key's bias", "log"),
        Number("score_position", "score: biases", "size of the term of both biases", "log"),
    )
}
PLACES = {
    "layer_idx": "layer",
    "head_idx": "head",
    "kv_head_idx": "key-value head",
    "weight_type": "type",
}
TEXTS = {
    *("weight_type", "shape", "other_shape", "treatment", "kernel", "quartile"),
    *("dtype", "precision", "tensor"),
}


def number_of(name: str) -> Number:
    """How a column is called and shown; one that nobody described has its own name."""
    if name in NUMBERS:
        return NUMBERS[name]
    if match := re.fullmatch(r"n(\d+)", name):
        return Number(name, f"{name}", f"components that hold {match[1]}% of the energy")
    if match := re.fullmatch(r"sigma_p(\d+)", name):
        return Number(name, f"σ, {match[1]}th percentile", "of the singular values", "log")
    if name.startswith("other_"):
        first = number_of(name.removeprefix("other_"))
        return Number(name, f"{first.label}, second", first.about, first.scale)
    return Number(name, PLACES.get(name, name.replace("_", " ")), "")
