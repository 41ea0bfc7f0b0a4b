"""Shares and counts as text: what is nearly all is never written as all, nor hardly any as none.

>>> percent(0.5), percent(1.0), percent(0.99987), percent(0.0042), percent(1e-6)
('50.0%', '100%', '99.987%', '0.42%', '0.00010%')
>>> percent(0.447, 0), percent(0.9958, 0), percent(1e-6, 0)
('45%', '99.6%', '<0.1%')
>>> percent(float("nan"))
'no share'
>>> counted(1, "video"), counted(4000, "trial")
('1 video', '4,000 trials')
"""

from math import floor, log10
from typing import Literal

from glassformer.verify.share import Share

LEAST = {0: 5e-4, 1: 1e-7}  # by decimals: shares nearer to 0 or 1 than this are only bounded
BELOW, ABOVE = {0: "<0.1%", 1: "<0.00001%"}, {0: ">99.9%", 1: ">99.99999%"}


def percent(share: float, decimals: Literal[0, 1] = 1) -> str:
    """So many decimals; of what is less than 1%, or is missing from 100%, one more or two leading digits."""
    if share != share:  # nothing was measured
        return "no share"
    if not 0 < share < 1:
        return "0%" if share <= 0 else "100%"
    small = min(share, 1 - share)
    if small < LEAST[decimals]:
        return BELOW[decimals] if share < 0.5 else ABOVE[decimals]
    leading = 1 - floor(log10(100 * small)) if decimals else 1
    return f"{100 * share:.{leading if small < 0.01 else decimals}f}%"


def share_text(share: Share) -> str:
    """The share with its interval."""
    return f"{percent(share.value)} (95% interval {percent(share.low)} to {percent(share.high)})"


def span_text(share: Share) -> str:
    """The interval in few characters.

    >>> span_text(Share(0.9995, 0.9981, 0.9999, 4000))
    '99.8 to >99.9%'
    """
    return " to ".join(in_tenths(end) for end in (share.low, share.high)) + "%"


def in_tenths(share: float) -> str:
    """A share in percent, with one decimal, bounded where rounding would make it all or none."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return ">99.9"
    return "<0.1" if text == "0.0" and share > 0 else text


def counted(count: int, noun: str) -> str:
    """So many of them, in the singular or the plural."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
