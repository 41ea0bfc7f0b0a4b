"""Code without its texts and without what is nested; and what no asset may do."""

import re

import pytest

from glassformer.pages.modules import ASSETS
from glassformer.pages.scan import blank_literals, blank_nested


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("a // b\nc", "a /   \nc"),
        ('f("a\\"b", \'c"d\');', "f(\"    \", '   ');"),
        ("x = `a${b + `c${d}`}e`;", "x = `  {b + `  {d}`} `;"),
        ("y = a / b / c;", "y = a / b / c;"),
        ('y = /[/"]/g; z', "y = /     g; z"),
        ("a /* 'b */ c", "a /        c"),
    ],
)
def test_code_alone_keeps_every_place(source, code):
    assert blank_literals(source) == code


def test_nothing_in_the_assets_writes_html_or_loads_anything():
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write|\bfetch\(|XMLHttpRequest|WebSocket|importScripts|sendBeacon"
    for path in ASSETS.rglob("*.js"):
        code = blank_literals(path.read_text())
        assert not re.search(forbidden, code), path.name
        addresses = re.findall(r"https?://[^\s\"'`)]+", path.read_text())
        assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}, path.name


def test_outermost_code_has_nothing_nested():
    assert blank_nested("a = [b, (c)]; { d } e") == "a = [   ( )]; {   } e"
