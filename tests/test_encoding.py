"""Text is UTF-8 whatever the locale: every call that reads or writes it says so, and commands run in ASCII."""

import ast
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.commands.process import glassformer

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tools", "benchmarks")
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
OTHER_MODULES = {"os", "Image", "webbrowser"}  # their open() is of no text file


def find_silent_calls(source: str) -> list[str]:
    """The calls that read or write text and leave its encoding to the locale.

    Ruff's PLW1514 must know that a value is a Path, and missed most of ours.

    >>> find_silent_calls("(folder / 'a').read_text()")
    ["(folder / 'a').read_text()"]
    >>> find_silent_calls("path.open('rb'); path.read_text(encoding='utf-8'); write_text(path, content)")
    []
    """
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if handles_text(call) and not names_encoding(call)]


def handles_text(call: ast.Call) -> bool:
    if any(word.arg == "text" and ast.unparse(word.value) == "True" for word in call.keywords):
        return True  # a process's output
    if isinstance(call.func, ast.Name):
        return call.func.id == "open" and not is_binary(call)
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "open":
        return ast.unparse(call.func.value) not in OTHER_MODULES and not is_binary(call)
    return call.func.attr in ("read_text", "write_text")


def is_binary(call: ast.Call) -> bool:
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    words = [node.value for node in given if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return any(set(word) <= {*"rwxab+"} and "b" in word for word in words)


def names_encoding(call: ast.Call) -> bool:
    return any(word.arg == "encoding" for word in call.keywords)


@pytest.mark.parametrize(
    "source",
    [
        "open('a')",
        "path.open('w')",
        "Path('b').open()",
        "path.write_text(words)",
        "run(command, text=True)",
    ],
)
def test_calls_without_an_encoding_are_found(source):
    assert find_silent_calls(source) == [source]


def test_every_call_that_handles_text_names_its_encoding():
    """Our own code, and what tests share; a test reads what it has just written itself."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    files += [path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_")]
    assert len(files) > 400
    silent = {
        str(path.relative_to(ROOT)): find_silent_calls(path.read_text(encoding="utf-8")) for path in files
    }
    assert {name: calls for name, calls in silent.items() if calls} == {}


def test_a_run_keeps_its_words_where_the_locale_has_ascii_alone(tmp_path):
    """é is two bytes in UTF-8, none of them ASCII: a read in the locale's encoding would fail."""
    about = "Grüße: 7 ≤ été"
    lines = ['base = "lucky7"', 'name = "été"', f'about = "{about}"']
    (tmp_path / "run.toml").write_text("\n".join(lines), encoding="utf-8")
    words = ("train", "run.toml", "--steps", "2", "--seeds", "1", "--out", "out")
    done = glassformer(*words, cwd=tmp_path, env=os.environ | ASCII)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("out: complete")
    assert about in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert about in (tmp_path / "out" / "run.toml").read_text(encoding="utf-8")


def test_a_name_that_the_locale_has_no_letters_for_is_escaped_in_print(tmp_path):
    shutil.copytree(ROOT / "tests" / "pictures" / "runs" / "lucky7", tmp_path / "runs" / "été")
    done = glassformer(
        "list", "runs", cwd=tmp_path, env=os.environ | {"PYTHONUTF8": "1", "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0, done.stderr
    assert r"runs/\xe9t\xe9" in done.stdout


@pytest.mark.skipif(
    sys.platform in ("darwin", "win32"), reason="file names are Unicode there in every locale"
)
def test_a_folder_that_the_locale_cannot_name_is_said(tmp_path):
    (tmp_path / "run.toml").write_text('base = "lucky7"\nname = "été"', encoding="utf-8")
    done = glassformer("train", "run.toml", cwd=tmp_path, env=os.environ | ASCII)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == r"glassformer: file names are ascii here, without '\xe9'; set LC_ALL=C.UTF-8" + "\n"
