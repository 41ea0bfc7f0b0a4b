"""The README's commands and its Python run as they stand, only smaller."""

import re
import shlex
from pathlib import Path

import pytest

from glassformer.cli.program import main
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.tasks import TASKS
from tests.lens.real_weights import smollm2

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SMALL = [
    "--draw.figures",
    "none",
    "--draw.page",
    "false",  # `page` is a command of its own below
    "--prove.seconds",
    "1",
    "--seeds",
    "2",
    "--steps",
    "20",
    "--train.held_out",
    "64",
    "--measure.positions",
    "100",
    "--measure.generated",
    "10",
    "--train.polish_steps",
    "0",
    "--quiet",
]
SMALLER = {
    "run": SMALL,
    "run copy_modulo": [*SMALL, "--model.context", "3"],  # what has not learned takes long to certify
    "run lucky7": [*SMALL, "--model.context", "4"],
    "sweep": [
        "--seeds",
        "2",
        "--train.steps",
        "20",
        "--train.held_out",
        "64",
        "--train.polish_steps",
        "0",
        "--prove.seconds",
        "1",
        "--quiet",
    ],
    "test runs/lucky7": ["--positions", "100"],
    "test tinyadder-95": ["--pairs", "200", "--hard", "50"],
    "draw runs/lucky7": ["--only", "05"],
    "draw microadder-57": ["--only", "P7"],
    "video": ["--which", "embeddings", "--width", "320"],
    "spectra": ["--format", "none", "--heads"],
}


def code_blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    rule = code_blocks((ROOT / "docs" / "add-a-rule.md").read_text(), "python")[0]
    (folder / "my_rule.py").write_text(rule)
    question = code_blocks((ROOT / "docs" / "add-a-task.md").read_text(), "python")[0]
    (folder / "median.py").write_text(question)
    (folder / "SmolLM2-135M.gguf").symlink_to(smollm2())
    return folder


def test_commands(home, monkeypatch, capsys):
    monkeypatch.chdir(home)
    lines = re.findall(r"^    glassformer (.*)$", README, re.MULTILINE)
    assert {line.split()[0] for line in lines} == {
        *(
            "list",
            "run",
            "test",
            "count",
            "add",
            "prove",
            "check",
            "draw",
            "video",
            "page",
            "spectra",
            "sweep",
        )
    }
    for line in lines:
        words = shlex.split(line, comments=True)
        smaller = SMALLER.get(" ".join(words[:2]), SMALLER.get(words[0], []))
        assert main([*words, *smaller]) == 0, line
        assert capsys.readouterr().out.strip()


def test_python(home, monkeypatch):
    monkeypatch.chdir(home)
    (block,) = code_blocks(README, "python")
    options = '"train.seeds": 2, "train.steps": 20, "train.held_out": 64, "measure.positions": 100, "prove.seconds": 1, "draw.figures": "none"'
    small = block.replace('out="runs/demo")', f'out="runs/demo", options={{{options}}})')
    assert small != block
    names: dict[str, object] = {}
    exec(small, names)
    assert names["result"].parameters == 250


def test_counts_are_those_of_the_tree():
    """`glassformer list` shows them."""
    families = [task.family for task in TASKS.values()]
    words = {2: "two", 3: "three", 16: "sixteen", 17: "seventeen"}  # others as digits
    counts = [families.count(family) for family in ("rule", "question")]
    rules, questions = (words.get(count, str(count)) for count in counts)
    assert f"# {rules} rules, {questions} questions, addition, {len(CONFIGURATIONS)} configurations" in README


def test_pages_that_it_links_exist():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) >= 8
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_make_does_what_it_says():
    makefile = (ROOT / "Makefile").read_text()
    for command in re.findall(r"^    make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
