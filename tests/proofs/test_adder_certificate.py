"""The certificate of an adder: its fields are those that docs/certificate.md explains, under one format number."""

import json
import re
from pathlib import Path

import glassformer
from glassformer.checker import reading
from glassformer.proofs import certificate

PAGE = Path(__file__).parents[2] / "docs" / "certificate.md"


def test_prover_and_checker_mean_the_same_format():
    assert certificate._FORMAT == reading._FORMAT == 3


def test_its_fields_are_those_of_the_page_and_so_is_the_example(tmp_path):
    """A field that is new or gone changes what the format number stands for."""
    file = tmp_path / "certificate.json"
    glassformer.prove("glass-8", out=file)
    made, text = json.loads(file.read_text()), PAGE.read_text()
    table = text.partition("| field | meaning |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", table, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"\w+", row)] == list(made)
    shown = json.loads(text.partition("```json\n")[2].partition("```")[0])
    assert list(shown) == list(made)
    for name in ("format", "arithmetic", "verdict", "inputs", "classes", "counterexample"):
        assert shown[name] == made[name], name
