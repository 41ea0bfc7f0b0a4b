"""Texts fit the widths that they are given."""

import pytest

from glassformer.pictures.parts.frame import measure_text_width, wrap_text


@pytest.mark.parametrize("width", [2.0, 5.0, 12.0])
def test_wrapped_lines_fit(width):
    text = "after a plus sign comes the most recent even number that was seen before it"
    lines = wrap_text(text, width, 8)
    assert " ".join(lines) == text
    assert all(measure_text_width(line, 8) <= width for line in lines)
