"""`glassformer page`: where the file goes, what is said, what is opened, and what is never loaded for it."""

import json
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest

import glassformer
from glassformer.cli.program import main
from glassformer.core.atomic import lock_folder

NO_PAGE = "--out must be the name of a file that ends with .html, but it is '{}'"


@pytest.fixture
def opened(monkeypatch):
    """The addresses that a browser was asked for."""
    addresses = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    return addresses


@pytest.fixture
def at_a_screen(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def sentence_of(capsys, *words):
    status = main(["page", *words])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    return err.removeprefix("glassformer: ").removesuffix("\n")


def test_a_run_has_its_page_in_its_folder(small_run, capsys):
    folder = small_run("plus_last_even")
    assert main(["page", "runs/plus_last_even", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["files"] == ["runs/plus_last_even/page.html"]
    assert set(content) == {"files", "seconds", "skipped", "opened"}
    assert (folder / "page.html").read_text().startswith("<!doctype html>")
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_a_run_is_found_by_its_name(small_run):
    folder = small_run("lucky7", "mine")
    assert main(["page", "mine", "--quiet"]) == 0
    assert (folder / "page.html").exists()


def test_a_zoo_model_has_its_page_beside_the_user(here, capsys, opened):
    assert main(["page", "hand-6"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("hand-6.page.html: 0.")
    assert last == f"open {(here / 'hand-6.page.html').as_uri()}"
    assert opened == []


def test_another_place_for_the_page(small_run, here):
    folder = small_run("lucky7")
    assert main(["page", str(folder), "--out", "new/look.html", "--quiet"]) == 0
    assert (here / "new" / "look.html").exists()
    assert not (folder / "page.html").exists()


def test_a_file_of_weights(small_run, here):
    folder = small_run("lucky7")
    (folder / "params.safetensors").rename(here / "mine.safetensors")
    assert main(["page", "mine.safetensors", "--quiet"]) == 0
    assert (here / "mine.page.html").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "plus_last_evn",
            "no model, run or weights file called 'plus_last_evn'; did you mean 'plus_last_even'? (glassformer list)",
        ),
        (
            "empty",
            "empty holds neither a run, nor folders with runs, nor an analysis of weights, nor a sweep",
        ),
        ("hand-6 --out empty", NO_PAGE.format("empty")),
        ("hand-6 --out hand.safetensors", NO_PAGE.format("hand.safetensors")),
        ("hand-6 --out pages/", NO_PAGE.format("pages/")),
        ("hand-6 --time 0", "time must be above 0 seconds, but it is 0.0"),
        ("hand-6 --model hand-6", "--model is for .safetensors files; hand-6 says its own architecture"),
        ("empty --model hand-6", "--model is for .safetensors files; empty is a folder"),
        ("begun", "begun is not finished; glassformer run begun/run.toml --out begun resumes it"),
        ("hand-6 --opn", "no option called '--opn'; did you mean '--open'? (glassformer page --help)"),
    ],
)
def test_what_is_wrong_is_one_sentence(here, small_run, capsys, words, sentence):
    (here / "empty").mkdir()
    (small_run("lucky7", "begun", here) / "params.safetensors").unlink()
    assert sentence_of(capsys, *words.split()) == sentence


def test_a_folder_in_use_is_left_alone(small_run, capsys):
    folder = small_run("lucky7")
    with lock_folder(folder):
        assert sentence_of(capsys, "runs/lucky7").startswith("another process is working in runs/lucky7")
    assert not (folder / "page.html").exists()


def test_a_page_that_fails_leaves_the_old_one(small_run, monkeypatch, capsys):
    folder = small_run("lucky7")
    (folder / "page.html").write_text("old")
    monkeypatch.setattr(
        "os.fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    assert sentence_of(capsys, "runs/lucky7").startswith("cannot write runs/lucky7/page.html: No space left")
    assert (folder / "page.html").read_text() == "old"


@pytest.mark.parametrize(
    ("options", "count"),
    [([], 1), (["--no-open"], 0), (["--quiet"], 0), (["--json"], 0), (["--json", "--open"], 1)],
)
def test_a_browser_opens_where_a_person_looks(small_run, opened, at_a_screen, options, count):
    folder = small_run("lucky7")
    assert main(["page", "runs/lucky7", *options]) == 0
    assert opened == [(folder / "page.html").as_uri()] * count


def test_no_browser_opens_where_nobody_looks(small_run, opened, capsys):
    small_run("lucky7")
    assert main(["page", "runs/lucky7"]) == 0
    assert opened == []
    assert main(["page", "runs/lucky7", "--open"]) == 0
    assert len(opened) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("opened file:///")


def test_a_browser_that_does_not_open_is_not_claimed(small_run, monkeypatch, capsys):
    small_run("lucky7")
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert main(["page", "runs/lucky7", "--open"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("open file:///")


@pytest.mark.parametrize("target", ["runs/plus_last_even", "hand-6", "runs"])
def test_neither_jax_nor_matplotlib_is_loaded(small_run, target):
    small_run("plus_last_even")
    code = f"import sys; from glassformer.cli.program import main; main(['page', {target!r}, '--quiet'])\n"
    code += (
        "print(sorted({'jax', 'jaxlib', 'matplotlib', 'optax', 'torch'} & {*sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_a_finished_run_that_lacks_its_page_gets_it(small_run, capsys):
    folder = small_run("lucky7")
    words = ["run", "runs/lucky7/run.toml", "--out", "runs/lucky7", "--resume", "--draw.figures", "none"]
    assert main([*words, "--draw.page", "false"]) == 0
    assert not (folder / "page.html").exists()
    assert "page" not in capsys.readouterr().out
    assert main(words) == 0
    assert f"  the page, for any browser: {(folder / 'page.html').as_uri()}\n" in capsys.readouterr().out
    before = (folder / "page.html").stat().st_mtime_ns
    assert main(words) == 0
    assert (folder / "page.html").stat().st_mtime_ns == before


def test_from_python(small_run, opened):
    small_run("lucky7")
    result = glassformer.page("runs/lucky7", open=True)
    assert result.files == ["runs/lucky7/page.html"]
    assert opened == [result.address]
    assert Path(result.files[0]).stat().st_size < 8e6


@pytest.mark.parametrize("target", ["runs/lucky7", "nanogpt-58"])
def test_a_page_opens_and_computes(small_run, open_page, target):
    small_run("lucky7")
    page = open_page(Path(glassformer.page(target, seconds=2).files[0]))
    page.wait_for_function("() => window.glassformer !== undefined")
    rows, columns = page.evaluate("glassformer.viewOf().logits.shape")
    assert rows == (11 if target == "runs/lucky7" else 10)
    assert columns == page.evaluate("glassformer.viewOf().tokens.length")
    page.wait_for_selector("#panels svg")
