"""The labels of a spectra table's columns on a page, and how they are shown.

>>> find_page_column("n90").about, find_page_column("copying").scale
('components that hold 90% of the energy', 'signed')
"""

# ruff: noqa: RUF001  letters of formulas are meant
import re
from dataclasses import dataclass
from typing import Literal

_Scale = Literal["plain", "signed", "log"]  # of the colours, and of an axis


@dataclass(frozen=True)
class _PageColumn:
    """A column that a page can show."""

    name: str
    label: str
    about: str
    scale: _Scale = "plain"


_RANDOM = "relative to random weights of the same shapes"
_ENERGY = "the energy (sum of squared singular values)"

_NUMBERS = {
    number.name: number
    for number in (
        _PageColumn(
            "eff_rank", "effective rank", "exp of the entropy of σ / Σσ: how many directions are used"
        ),
        _PageColumn("eff_rank_relative", "effective rank / random", f"the effective rank {_RANDOM}"),
        _PageColumn("eff_rank_energy", "effective rank of σ²", "the same of the squared singular values"),
        _PageColumn("eff_rank_energy_relative", "effective rank of σ² / random", f"the same {_RANDOM}"),
        _PageColumn("stable_rank", "stable rank", "Σσ² / max σ²"),
        _PageColumn("stable_rank_relative", "stable rank / random", f"the stable rank {_RANDOM}"),
        _PageColumn("participation_ratio", "participation ratio", "(Σσ²)² / Σσ⁴"),
        _PageColumn("participation_ratio_relative", "participation ratio / random", f"the same {_RANDOM}"),
        _PageColumn(
            "top_share", "share of the largest σ", f"the largest singular value's share of {_ENERGY}"
        ),
        _PageColumn("asymmetry", "asymmetry", "|A − A′| / |A|: 0 symmetric, √2 in between, 2 antisymmetric"),
        _PageColumn("complex_share", "complex eigenvalues", "share of the eigenvalues that are not real"),
        _PageColumn(
            "copying", "copying", "Σ eig / Σ |eig|: 1 where a token's own direction is written back", "signed"
        ),
        _PageColumn("frobenius", "Frobenius norm", "root of the sum of squared singular values", "log"),
        _PageColumn("largest", "largest σ", "the largest singular value", "log"),
        _PageColumn("smallest", "smallest σ", "the smallest singular value", "log"),
        _PageColumn("condition", "condition", "largest / smallest singular value", "log"),
        _PageColumn("alpha", "power law α", "exponent of a power law fitted to the tail of σ²"),
        _PageColumn("alpha_tail", "tail of the power law", "how many values the fit uses"),
        _PageColumn(
            "alpha_distance", "distance of the power law", "Kolmogorov-Smirnov distance of tail and fit"
        ),
        _PageColumn("change_norm", "change", "|second − first| / |first|", "log"),
        _PageColumn("change_eff_rank", "effective rank of the change", "effective rank of second − first"),
        _PageColumn(
            "change_eff_rank_relative", "effective rank of the change / random", f"the same {_RANDOM}"
        ),
        _PageColumn("change_n90", "n90 of the change", "components that hold 90% of the change's energy"),
        _PageColumn(
            "similarity", "directions kept", "mean squared cosine of both models' leading directions"
        ),
        _PageColumn("eff_rank_change", "change of the effective rank", "second − first", "signed"),
        _PageColumn("eff_rank_raw", "effective rank, raw", "that of the untreated weights"),
        _PageColumn("size", "size", "the largest rank that the kernel can have"),
        _PageColumn("score_content", "score: content", "size of the score's term from query and key", "log"),
        _PageColumn(
            "score_key_only",
            "score: key only",
            "size of the score's term from the query bias and the key",
            "log",
        ),
        _PageColumn(
            "score_query_position",
            "score: query",
            "size of the score's term from the query and the key bias",
            "log",
        ),
        _PageColumn("score_position", "score: biases", "size of the score's term from both biases", "log"),
    )
}
_PLACES = {
    "layer_idx": "layer",
    "head_idx": "head",
    "kv_head_idx": "key-value head",
    "weight_type": "type",
}
TEXTS = {
    *("weight_type", "shape", "other_shape", "treatment", "kernel", "quartile"),
    *("dtype", "precision", "tensor"),
}


def find_page_column(name: str) -> _PageColumn:
    """How a column is labelled and shown; one without a description has its own name."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    if match := re.fullmatch(r"n(\d+)", name):
        return _PageColumn(name, f"{name}", f"components that hold {match[1]}% of the energy")
    if match := re.fullmatch(r"sigma_p(\d+)", name):
        return _PageColumn(name, f"σ, {match[1]}th percentile", "of the singular values", "log")
    if name.startswith("other_"):
        first = find_page_column(name.removeprefix("other_"))
        return _PageColumn(name, f"{first.label}, second", first.about, first.scale)
    return _PageColumn(name, _PLACES.get(name, name.replace("_", " ")), "")
