"""Numbers of spectra as text.

>>> rank_text(1376.42), rank_text(15.51), rank_text(1.234), ratio_text(0.8349)
('1,376.4', '15.5', '1.23', '0.835')
>>> p_text(0.0004), p_text(0.032), p_text(1.0), p_text(float("nan"))
('p < 0.001', 'p = 0.032', 'p = 1.00', '')
"""

from collections.abc import Sequence

from glassformer.spectra.results import Trend

MINUS = "\N{MINUS SIGN}"
LARGEST = 1e12  # quotients above it are rounding
TIMES = "\N{MULTIPLICATION SIGN}"


def rank_text(value: float) -> str:
    """An effective rank."""
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.2f}"


def ratio_text(value: float) -> str:
    return f"{value:.3f}".replace("-", MINUS)


def sized(value: float) -> str:
    """A number of any size, three digits of it.

    >>> sized(123456.0), sized(0.00123), sized(float("inf"))
    ('1.2e5', '0.00123', 'infinite')
    """
    if value == float("inf"):
        return "infinite"
    if value > LARGEST:
        return "over 1e12"
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        digits, power = f"{value:.1e}".split("e")
        return f"{float(digits):g}e{int(power)}".replace("-", MINUS)
    return f"{value:.3g}".replace("-", MINUS) if abs(value) < 1000 else f"{value:,.0f}".replace("-", MINUS)


def shape_text(shape: tuple[int, int] | list[int]) -> str:
    return f"{shape[0]}{TIMES}{shape[1]}"


def p_text(p_value: float) -> str:
    if p_value != p_value:
        return ""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.{3 if p_value < 0.1 else 2}f}"


def trend_text(trend: Trend) -> str:
    """What a test finds, and its p."""
    found = {"none": "no trend"}.get(trend.tested, trend.tested)
    said = p_text(trend.p_value)
    return f"{found}, {said}" if said and trend.tested != "too few layers" else found


def course_text(trend: Trend) -> str:
    """The label of the thirds, and what a test makes of it.

    >>> course_text(Trend("falling", "falling", 0.014, -1.0)), course_text(Trend("rising", "none", 0.32, 1.0))
    ('falling, p = 0.014', 'rising by thirds, not significant, p = 0.32')
    """
    if trend.tested in (trend.label, "too few layers"):
        return trend_text(trend)
    if trend.tested != "none" or trend.label == "none":
        return trend_text(trend) + (f" ({trend.label} by thirds)" if trend.label != "none" else "")
    return f"{trend.label} by thirds, not significant, {p_text(trend.p_value)}"


def place_text(layer: int, head: int) -> str:
    return f"layer {layer} head {head}"


def listed(words: Sequence[str]) -> str:
    """Words with commas, and 'and' before the last."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def counted(count: int, noun: str, plural: str = "") -> str:
    """So many of them.

    >>> counted(1, "layer"), counted(4000, "layer"), counted(2, "matrix", "matrices")
    ('1 layer', '4,000 layers', '2 matrices')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def signed_text(value: float) -> str:
    """A change of a rank, with its sign.

    >>> signed_text(331.94), signed_text(-2.0)
    ('+331.9', '\u22122.00')
    """
    return f"{'+' if value >= 0 else MINUS}{rank_text(abs(value))}"


def treatment_place(name: str) -> tuple[bool, bool, int]:
    """The order of treatments: raw, folded, then turned ones by their offset.

    >>> sorted(["rope:128", "folded", "raw", "folded+rope:1", "rope:2"], key=treatment_place)
    ['raw', 'folded', 'rope:2', 'rope:128', 'folded+rope:1']
    """
    offset = name.partition("rope:")[2]
    return bool(offset), name.startswith("folded"), int(offset or 0)
