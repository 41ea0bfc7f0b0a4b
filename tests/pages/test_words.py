"""Numbers are written as the page writes them."""

import numpy as np

from glassformer.pages.words import format_number, format_page_percent, group_digits

NUMBERS = (
    0,
    1,
    -1,
    0.5,
    0.8007126450538635,
    -12.34567,
    99995,
    999949.9,
    1e6,
    -3.2e-7,
    1e-4,
    9.9999e-5,
    0.00012345,
)
NUMBERS += (
    1432.96997,
    2.5,
    0.125,
    1.00005,
    12345.5,
    1e21,
    5e-324,
    3.4615367307657532e16,
    float("inf"),
    float("nan"),
)
SHARES = (0, 1, 0.5, 0.99965, 0.9999999, 1e-9, 0.12345, 0.0005, 0.99, 1 - 1e-15, 0.146, 0.625)


def test_numbers_are_written_as_the_page_writes_them(open_page):
    from glassformer.pages.modules import join_modules

    script = join_modules("pages/assets/numbers.js")
    words = "window.words = {short, percent, grouped};"
    page = open_page(f"<!doctype html><title>numbers</title><script>{script}\n{words}</script>")
    finite = [number for number in NUMBERS if np.isfinite(number)]
    assert page.evaluate("numbers => numbers.map(n => words.short(n))", finite) == [
        format_number(n) for n in finite
    ]
    assert page.evaluate("[words.short(Infinity), words.short(-Infinity), words.short(NaN)]") == [
        format_number(float("inf")),
        format_number(float("-inf")),
        format_number(float("nan")),
    ]
    assert page.evaluate("shares => shares.map(words.percent)", list(SHARES)) == [
        format_page_percent(s) for s in SHARES
    ]
    whole = [0, 7, 999, 1000, 105641, -1234567]
    assert page.evaluate("numbers => numbers.map(words.grouped)", whole) == [group_digits(n) for n in whole]
