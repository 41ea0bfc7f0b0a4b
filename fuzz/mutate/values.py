"""Values that parsers hate: each has once broken somebody's reader."""

import math
from random import Random
from typing import Any

INTEGERS = (0, 1, -1, 2, 3, 7, 10, 64, 255, 256, 1000, 65_536, 10**9, 10**10, 10**18, 10**30, 10**400)
INTEGERS += (-(10**9), -(10**18), 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64)
FLOATS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.0, 0.5, 1.0, -1.5, 1e-12, 1e18, 3.0)
TEXTS = (
    *("", " ", "²", "٣", "1²", "é", "\x00", "a\x00b", "\ud800", "\udcff", "\u202e", "💥", "ß", "İ", "\n"),
    *("none", "None", "nan", "inf", "true", "0", "-1", "1e400", "0x1p+2", "0x1p99999", "1_0", "[]", "{}"),
    *(
        "..",
        "../..",
        "../x",
        "a/b",
        "a\\b",
        "/",
        ".",
        "~",
        "-",
        "--",
        "%s%n",
        "{0}",
        "__class__",
        "os.system",
    ),
    *("a" * 300, "9" * 5001, "x" * 100_000, "a." * 2000, "é" * 200),
)
CONTAINERS: tuple[Any, ...] = (
    [],
    {},
    [[]],
    [{}],
    {"": ""},
    [None],
    [0] * 1000,
    [[0, 1], [2]],
    {"kind": "none"},
)
CONTAINERS += ({"name": "addition"}, {"kind": []}, [True, False], ["a"] * 100, {"a": {"b": {"c": 1}}})


class Raw(str):
    """Text that is written as it stands, where a value is expected."""


DEEP = 3000
RAWS = (
    *(
        Raw("[" * DEEP),
        Raw("[" * DEEP + "]" * DEEP),
        Raw("[" * 100_000),
        Raw('{"a":' * DEEP + "1" + "}" * DEEP),
    ),
    *(
        Raw("9" * 5001),
        Raw("-" + "9" * 400),
        Raw("1e999"),
        Raw("1" + "0" * 400 + ".5"),
        Raw("0." + "0" * 5000),
    ),
    *(
        Raw("NaN"),
        Raw("-Infinity"),
        Raw("nan"),
        Raw("-inf"),
        Raw(""),
        Raw('"'),
        Raw("'"),
        Raw("0x" + "f" * 5000),
    ),
    *(
        Raw('"\\ud800"'),
        Raw('"\\u0000"'),
        Raw("1979-05-27"),
        Raw("07:32:00"),
        Raw("\x00"),
        Raw("{a.b.c = 1}"),
    ),
)


def draw_value(random: Random, raw: bool = True) -> Any:
    """One of them; `raw` lets text through that no tree can hold."""
    pools: list[tuple[Any, ...]] = [INTEGERS, INTEGERS, FLOATS, TEXTS, TEXTS, CONTAINERS, (True, False, None)]
    return random.choice(random.choice([*pools, RAWS] if raw else pools))


def draw_text(random: Random) -> str:
    return random.choice(TEXTS)


def nudge(value: Any, random: Random) -> Any:
    """A value near the old one: the edge of what is allowed is found by small steps."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice(
            (
                value + 1,
                value - 1,
                -value,
                2 * value,
                value * 1000,
                value / 2 if abs(value) < 2**60 else 0.5,
                f"{value % 10**9}",
            )
        )
    if isinstance(value, float):
        return random.choice((-value, value * 1.001, value * 1e6, value / 1e6, value + 1, 0, 1))
    return nudge_text(value, random) if isinstance(value, str) and value else draw_value(random)


def nudge_text(text: str, random: Random) -> str:
    """Cut, turned, doubled, or with a few strange letters in it."""
    at = random.randrange(len(text))
    strange = text[:at] + draw_text(random)[:5] + text[at:]
    return random.choice((text[:at], text[at:] + text[:at], text + text, text.upper(), f" {text}", strange))
