"""The walk of a command: what ran, in the order in which it was entered, and what was merely imported."""

import json
import re
import shutil

import pytest

from glassformer.core.errors import UserError
from tools import walk as tool
from tools.walk import SOURCE, Walk, describe_walk, make_table, walk_command


@pytest.fixture(scope="module")
def counted() -> Walk:
    return walk_command(["count", "plus_last_even"])


def test_a_command_enters_by_the_command_line(counted):
    assert re.match(r"cli(/|\.py)", counted.files[0])
    assert any(file.startswith(("commands/", "cli/")) for file in counted.files)
    assert not any(file.startswith(("pictures/", "pages/", "lens/")) for file in counted.files)


def test_every_file_is_there_once_and_is_of_the_package(counted):
    assert len({*counted.files}) == len(counted.files)
    assert [file for file in counted.files if not (SOURCE / "glassformer" / file).is_file()] == []


def test_fewer_files_are_walked_than_executed_than_imported(counted):
    assert 1 < len(counted.files) < counted.executed <= counted.imported
    assert counted.functions >= len(counted.files)
    assert 1 < counted.depth <= 100


@pytest.fixture
def package(tmp_path):
    """first.start calls second.inner.work through a thread and a lazy import; first entered is first counted."""
    root = tmp_path / "glassformer"
    (root / "second").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "second" / "__init__.py").write_text("")
    (root / "second" / "lazy.py").write_text(
        "def at_import():\n    return 1\n\n\nVALUE = at_import()\n\n\nclass Empty:\n    pass\n"
    )
    (root / "second" / "constants.py").write_text("VALUE = [number for number in (1, 2)][0]\nNAME = 'a'\n")
    (root / "second" / "inner.py").write_text(
        "def work(left):\n    return work(left - 1) if left else sum(n for n in range(3))\n"
    )
    (root / "cli").mkdir()
    (root / "cli" / "__init__.py").write_text("")
    (root / "cli" / "program.py").write_text(
        "import threading\n\nfrom glassformer.second import inner\n\n\n"
        "def main(words):\n    import glassformer.second.lazy\n\n"
        "    thread = threading.Thread(target=inner.work, args=(4,))\n    thread.start()\n    thread.join()\n"
        "    return inner.work(1) and int(words[0])\n"
    )
    return tmp_path


def test_what_an_import_calls_is_executed_but_not_walked(package):
    """cli.main and inner.work are walked; lazy.at_import ran in an import. The thread is 5 deep, main 3."""
    walked = walk_command(["0"], package)
    assert walked == Walk(
        "0", imported=6, executed=3, functions=2, depth=5, files=("cli/program.py", "second/inner.py")
    )


def test_a_file_with_a_comprehension_at_its_top_is_executed(package):
    cli = package / "glassformer" / "cli/program.py"
    cli.write_text(cli.read_text().replace("second.lazy", "second.constants"))
    assert walk_command(["0"], package).executed == 3


@pytest.mark.parametrize("status", ["1", "3"])
def test_a_refuted_model_is_a_walk_too(package, status):
    assert walk_command([status], package).functions == 2


def test_a_command_that_fails_is_one_sentence(package, capsys):
    assert tool.main(["--root", str(package), "2"]) == 2
    assert capsys.readouterr().err == "the command ended with status 2: no word\n"
    assert tool.main(["count", "plus_last_evn"]) == 2
    assert "did you mean 'plus_last_even'?" in capsys.readouterr().err


def test_a_folder_without_the_package_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds no glassformer; --root is the src folder of a checkout"):
        walk_command(["list"], tmp_path)


def test_equal_code_in_two_files_is_two_functions(package):
    shutil.copy(
        package / "glassformer" / "second" / "inner.py", package / "glassformer" / "second" / "twin.py"
    )
    cli = package / "glassformer" / "cli/program.py"
    text = cli.read_text().replace("import inner", "import inner, twin")
    cli.write_text(text.replace("inner.work(1)", "twin.work(1)"))
    walked = walk_command(["0"], package)
    assert (walked.functions, walked.files) == (3, ("cli/program.py", "second/inner.py", "second/twin.py"))


def test_files_are_grouped_by_package_in_the_order_of_the_walk():
    walked = Walk(
        "count x", 9, 5, 1200, 7, ("cli/program.py", "runs/load.py", "models/count.py", "runs/tree.py")
    )
    assert describe_walk(walked).splitlines() == [
        "glassformer count x",
        "  9 files imported, 5 executed",
        "  4 walked: 1,200 functions, at most 7 deep",
        "    cli     program",
        "    runs    load tree",
        "    models  count",
    ]
    assert make_table([walked]).splitlines()[2] == "| `count x` | 9 | 5 | 4 | 1,200 | 7 |"


def test_options_of_the_tool_may_stand_anywhere(package, capsys):
    assert tool.main(["0", "--json", "--root", str(package), "--steps", "5"]) == 0
    (walked,) = json.loads(capsys.readouterr().out)
    assert (walked["command"], walked["depth"]) == ("0 --steps 5", 5)


def test_the_small_checkpoint_is_read_as_gpt2(tmp_path):
    from glassformer.lens.adapt.opened import open_target

    tool._write_checkpoint(tmp_path / "small")
    _, layout = open_target(str(tmp_path / "small"))
    assert layout.architecture == "gpt2"
    assert len({head.layer for head in layout.attention}) == tool.LAYERS
