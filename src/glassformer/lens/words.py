"""Numbers of spectra as text.

>>> format_rank(1376.42), format_rank(15.51), format_rank(1.234), format_ratio(0.8349)
('1,376.4', '15.5', '1.23', '0.835')
>>> format_p_value(0.0004), format_p_value(0.032), format_p_value(1.0), format_p_value(float("nan"))
('p < 0.001', 'p = 0.032', 'p = 1.00', '')
"""

from glassformer.core.words import MINUS, format_exponent, replace_minus
from glassformer.lens.results import Trend

_LARGEST = 1e12  # quotients above it are rounding
TIMES = "\N{MULTIPLICATION SIGN}"


def format_rank(value: float) -> str:
    """An effective rank."""
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.2f}"


def format_ratio(value: float) -> str:
    return replace_minus(f"{value:.3f}")


def format_sized_number(value: float) -> str:
    """A number of any size, three digits of it.

    >>> format_sized_number(123456.0), format_sized_number(0.00123), format_sized_number(float("inf"))
    ('1.2e5', '0.00123', 'infinite')
    """
    if value == float("inf"):
        return "infinite"
    if value > _LARGEST:
        return "over 1e12"
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        return format_exponent(value)
    return replace_minus(f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}")


def format_shape(shape: tuple[int, int] | list[int]) -> str:
    return f"{shape[0]}{TIMES}{shape[1]}"


def format_p_value(p_value: float) -> str:
    if p_value != p_value:
        return ""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.{3 if p_value < 0.1 else 2}f}"


def describe_tested_trend(trend: Trend) -> str:
    """What a test finds, and its p."""
    found = {"none": "no trend"}.get(trend.tested, trend.tested)
    said = format_p_value(trend.p_value)
    return f"{found}, {said}" if said and trend.tested != "too few layers" else found


def describe_course(trend: Trend) -> str:
    """The label of the thirds, and what a test makes of it.

    >>> describe_course(Trend("falling", "falling", 0.014, -1.0))
    'falling, p = 0.014'
    >>> describe_course(Trend("rising", "none", 0.32, 1.0))
    'rising by thirds, not significant, p = 0.32'
    """
    if trend.tested in (trend.label, "too few layers"):
        return describe_tested_trend(trend)
    if trend.tested != "none" or trend.label == "none":
        return describe_tested_trend(trend) + (f" ({trend.label} by thirds)" if trend.label != "none" else "")
    return f"{trend.label} by thirds, not significant, {format_p_value(trend.p_value)}"


def format_head_location(layer: int, head: int) -> str:
    return f"layer {layer} head {head}"


def format_signed_rank(value: float) -> str:
    """A change of a rank, with its sign.

    >>> format_signed_rank(331.94), format_signed_rank(-2.0)
    ('+331.9', '\u22122.00')
    """
    return f"{'+' if value >= 0 else MINUS}{format_rank(abs(value))}"


def order_treatment(name: str) -> tuple[bool, bool, int]:
    """The order of treatments: raw, folded, then turned ones by their offset.

    >>> sorted(["rope:128", "folded", "raw", "folded+rope:1", "rope:2"], key=order_treatment)
    ['raw', 'folded', 'rope:2', 'rope:128', 'folded+rope:1']
    """
    offset = name.partition("rope:")[2]
    return bool(offset), name.startswith("folded"), int(offset or 0)
