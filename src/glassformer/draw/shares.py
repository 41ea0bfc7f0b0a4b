"""Measured shares in words: as many digits as a small error needs, and never 0% or 100% for nearly that.

>>> percent(0.25), percent(0.00045), percent(0.0), percent(0.99996)
('25.0%', '0.045%', '0%', '99.9960%')
"""

from math import floor, log10

from glassformer.verify.share import Share


def percent(share: float) -> str:
    """One decimal; two leading digits of what is less than 1%, or is missing from 100%."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    small = min(share, 1 - share)
    decimals = 1 if small >= 0.01 else 1 - floor(log10(100 * small))
    return f"{100 * share:.{decimals}f}%"


def share_text(share: Share) -> str:
    """The share with its interval."""
    return f"{percent(share.value)} (95% interval {percent(share.low)} to {percent(share.high)})"
