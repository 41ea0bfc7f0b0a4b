"""Shares as text: what is nearly all is never written as all, nor hardly any as none.

>>> percent(0.5), percent(1.0), percent(0.99987), percent(0.0042), percent(1e-6)
('50.0%', '100%', '99.987%', '0.42%', '0.00010%')
>>> percent(0.447, 0), percent(0.995, 0), percent(1e-6, 0)
('45%', '99.50%', '<0.01%')
"""

from math import floor, log10
from typing import Literal

from glassformer.verify.share import Share

LEAST = {0: 1e-4, 1: 1e-7}  # by decimals: shares nearer to 0 or 1 than this are only bounded


def percent(share: float, decimals: Literal[0, 1] = 1) -> str:
    """So many decimals; two leading digits of what is less than 1%, or is missing from 100%."""
    if not 0 < share < 1:
        return "0%" if share <= 0 else "100%"
    small = min(share, 1 - share)
    if small < LEAST[decimals]:
        return f"<{100 * LEAST[decimals]:g}%" if share < 0.5 else f">{100 - 100 * LEAST[decimals]:.10g}%"
    shown = 1 - floor(log10(100 * small)) if small < 0.01 else decimals
    return f"{100 * share:.{shown}f}%"


def share_text(share: Share) -> str:
    """The share with its interval."""
    return f"{percent(share.value)} (95% interval {percent(share.low)} to {percent(share.high)})"
