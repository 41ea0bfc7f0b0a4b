"""Every figure of an analysis and of a comparison, in the order of the report."""

from glassformer.draw.spectra.picture import SpectralPicture

SPECTRA: tuple[SpectralPicture, ...] = (
    SpectralPicture(
        "S01", "heads", "effective rank of every head's QK and OV kernel, layers by heads", "heads"
    ),
    SpectralPicture(
        "S02",
        "asymmetry and copying",
        "how symmetric each QK kernel is, and how much each OV kernel copies",
        "heads",
        {"about": "character"},
    ),
    SpectralPicture(
        "S03", "head of lowest rank", "one head's eigenvalues, magnitudes and energy", "head",
        {"which": "lowest"},
    ),
    SpectralPicture(
        "S04", "head of median rank", "the same of the head in the middle", "head", {"which": "median"}
    ),
    SpectralPicture(
        "S05", "head of highest rank", "the same of the head of highest rank", "head", {"which": "highest"}
    ),
    SpectralPicture("S06", "depth", "effective rank of every weight type over the layers", "depth"),
    SpectralPicture(
        "S07", "depth against random", "the same as shares of random matrices of their shapes", "relative"
    ),
    SpectralPicture("S08", "variance explained", "energy against the share of components", "variance"),
    SpectralPicture(
        "S09",
        "components of 90 percent",
        "components that hold 90% of the energy, over the layers",
        "components",
    ),
    SpectralPicture("S10", "singular values", "every spectrum against the edge of a random one", "spectra"),
    SpectralPicture("S11", "similarity of layers", "leading directions, layer against layer", "similarity"),
    SpectralPicture("S12", "alignment", "leading directions of two types within a layer", "alignment"),
    SpectralPicture("S13", "composition", "which heads read what others write", "composition"),
    SpectralPicture("S14", "treatments", "raw ranks against treated ones, head by head", "treatments"),
    SpectralPicture("S15", "biases", "the four terms of the scores, over the layers", "biases"),
)  # fmt: skip

COMPARISON: tuple[SpectralPicture, ...] = (
    SpectralPicture(
        "C01", "depth of both", "effective rank of every weight type, both models", "comparison_depth"
    ),
    SpectralPicture("C02", "what changed", "size and rank of the change over depth", "comparison_change"),
    SpectralPicture(
        "C03", "heads that changed", "how much each head's rank moved, layers by heads", "comparison_heads"
    ),
)
