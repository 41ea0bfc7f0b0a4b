"""The command line itself: help, its weight, options, and one sentence for everything that is wrong."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from glassformer.cli.program import main, split_dotted
from glassformer.cli.verbs import VERBS
from glassformer.commands.list import list_items
from glassformer.core.errors import UserError
from tests.commands.process import glassformer

HEAVY = ("jax", "jaxlib", "matplotlib", "numpy", "scipy", "optax", "safetensors", "rich", "glassformer.tasks")


def sentence_of(capsys, *words):
    """The one line on standard error of a command that is refused."""
    status = main(words)
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("glassformer: ")
    assert err.count("\n") == 1
    return err.removeprefix("glassformer: ").removesuffix("\n")


def test_help_is_light():
    """At least one of five tries stays below 0.3 s of processor time."""

    def seconds():
        code = "import os, sys; from glassformer.cli.program import main\n"
        code += "try: main(['--help'])\nexcept SystemExit: pass\n"
        code += "print(sum(os.times()[:2]), file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "COMMAND" in done.stdout
        return float(done.stderr)

    assert min(seconds() for _ in range(5)) < 0.3


@pytest.mark.parametrize("words", ["['--help']", "['run', '--help']", "['rn']", "['--version']"])
def test_help_loads_nothing_heavy(words):
    code = (
        "import sys; from glassformer.cli.program import main\n"
        f"try: main({words})\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("run x --train.steps 5", {"train.steps": "5"}),
        ("run --train.steps 5 x", {"train.steps": "5"}),
        ("run x --train.steps=5 --task.p 0.4", {"train.steps": "5", "task.p": "0.4"}),
        ("run x --train.peak_rate -1", {"train.peak_rate": "-1"}),
        ("run x --train.steps 5 --train.steps 6", {"train.steps": "6"}),
    ],
)
def test_dotted_options_wherever_they_stand(words, options):
    assert split_dotted(words.split()) == (["run", "x"], options)


def test_a_dotted_option_needs_a_value():
    for words in (["run", "--task.p"], ["run", "--task.p", "--quiet"]):
        with pytest.raises(UserError, match=r"^--task\.p needs a value$"):
            split_dotted(words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("rn", "no command called 'rn'; did you mean 'run'? (glassformer --help)"),
        ("run", "the following arguments are required: NAME|FILE (glassformer run --help)"),
        (
            "run plus_last_evn",
            "no task called 'plus_last_evn'; did you mean 'plus_last_even'? (glassformer list tasks)",
        ),
        (
            "run successor --stps 5",
            "no option called '--stps'; did you mean '--steps'? (glassformer run --help)",
        ),
        (
            "run successor --stps=5",
            "no option called '--stps'; did you mean '--steps'? (glassformer run --help)",
        ),
        (
            "run successor lucky7",
            "'lucky7' is one word too many for glassformer run (glassformer run --help)",
        ),
        ("--json list", "--json comes after the command: glassformer list ... --json"),
        ("count successor --train.steps 5", "no option called '--train.steps'; "),
        ("run successor --train.stps 5", "no setting of train called 'stps'; did you mean 'steps'?"),
        ("run successor --trian.steps 5", "no setting called 'trian'; did you mean 'train'?"),
        ("run successor --model.context 0", "model.context must be at least 1, but it is 0"),
        (
            "run successor --model.context 12",
            "model.context must be at most 11, one less than data.min_length, but it is 12",
        ),
        (
            "run successor --model.layers.0.attention.heads 3",
            "heads x head size must be the width 4, or an output projection ",
        ),
        (
            "run successor --model.layers.0.attention.kv_heads 3",
            "model.layers.0.attention.kv_heads must be a divisor of the 1 heads, but it is 3",
        ),
        ("run plus_last_even --task.p 2", "task.p must be a probability between 0 and 1, but it is 2.0"),
        ("run successor --seeds 0", "train.seeds must be at least 1, but it is 0"),
        (
            "run successor --seeds 1.5",
            "argument --seeds: must be an integer, but it is '1.5' (glassformer run --help)",
        ),
        (
            "run successor --steps abc",
            "argument --steps: must be an integer, but it is 'abc' (glassformer run --help)",
        ),
        ("run successor --steps", "argument --steps: expected one argument (glassformer run --help)"),
        ("run successor --train.steps", "--train.steps needs a value"),
        ("run successor --device tpu", "no choice of train.device called 'tpu'; "),
        ("run successor --resume --overwrite", "--resume and --overwrite exclude each other"),
        ("run none.toml", "cannot read none.toml: No such file or directory"),
        ("run none.py", "no file called 'none.py'"),
        ("run bad.toml", "no setting of train called 'stpes'; did you mean 'steps'?"),
        ("run broken.toml", "broken.toml is not valid TOML: "),
        ("run rule.py", "rule.py could not be loaded: ZeroDivisionError: division by zero"),
        (
            "run successor --out bad.toml",
            "bad.toml is a file, not a folder; choose another folder with --out",
        ),
        ("run successor --out bad.toml/x", "cannot make the folder bad.toml/x: Not a directory"),
        (
            "run successor --out .",
            ". is not empty and holds no run (it has bad.toml); --out chooses another folder",
        ),
        ("test none.safetensors", "no file none.safetensors"),
        ("test broken.toml", "broken.toml is neither a run folder nor a .safetensors file"),
        ("test nanogpt-85", "no model, run or weights file called 'nanogpt-85'; did you mean 'nanogpt-58'?"),
        ("test junk.safetensors", "junk.safetensors is damaged or not a safetensors file ("),
        ("test successor", "'successor' was not trained here yet: glassformer run successor"),
        ("test x --positions 0", "--positions must be at least 1, but it is 0"),
        ("test x --pairs 0", "--pairs must be at least 1, but it is 0"),
        ("test x --hard -1", "--hard must be at least 0, but it is -1"),
        ("test nanogpt-58 --model glass-39", "--model is for .safetensors files; nanogpt-58 says its own"),
        (
            "test junk.safetensors --model nanogpt-58",
            "junk.safetensors is damaged or not a safetensors file (",
        ),
        ("test integers.safetensors --model nothing", "no model called 'nothing'; "),
        (
            "test integers.safetensors --model nanogpt-58",
            "integers.safetensors: no parameter of this architecture",
        ),
        (
            "test integers.safetensors",
            "integers.safetensors does not say its architecture and task in its metadata",
        ),
        ("add nanogpt-58 1", "the following arguments are required: B (glassformer add --help)"),
        ("add nanogpt-58 1 2 3", "'3' is one word too many for glassformer add (glassformer add --help)"),
        ("add none 1 2", "no model, run or weights file called 'none'; "),
        *(
            (
                f"add nanogpt-58 {words}",
                f"{name} must be an integer between 0 and 9999999999, but it is {number}",
            )
            for words, name, number in (
                ("1e3 1", "a", "'1e3'"),
                ("12.5 1", "a", "'12.5'"),
                ("1 99999999999", "b", "99999999999"),
                ("1 10000000000", "b", "10000000000"),
                ("1_000 1", "a", "'1_000'"),
                ("1 \u0661\u0662", "b", "'\u0661\u0662'"),
                ("1 five", "b", "'five'"),
                ("+5 1", "a", "'+5'"),
                ("1 " + "9" * 5000, "b", "'9999"),
            )
        ),
        *(
            (f"add nanogpt-58 {words}", "A and B must be integers from 0 up, without a sign, but one is '-")
            for words in ("-1 5", "5 -1", "--5 1", "1 --5", "-1e3 1", "--1.5 1", "1 -12.5")
        ),
        ("add any-8 7 3 --digits -1", "--digits must be at least 1, but it is -1"),
        ("test x --seed -1", "--seed must be between 0 and 2^31 - 1, but it is -1"),
        (
            "test x --positions many",
            "argument --positions: must be an integer, but it is 'many' (glassformer test --help)",
        ),
        (
            "count successr",
            "no model, run or weights file called 'successr'; did you mean 'successor'?",
        ),
        ("count junk.safetensors", "junk.safetensors is damaged or not a safetensors file ("),
        ("list taks", "no list called 'taks'; did you mean 'tasks'?"),
    ],
)
def test_bad_input_gets_one_sentence(capsys, here, words, sentence):
    (here / "bad.toml").write_text('base = "successor"\n[train]\nstpes = 5\n')
    (here / "broken.toml").write_text("[train")
    (here / "rule.py").write_text("1 / 0")
    (here / "junk.safetensors").write_bytes(b"junk")
    save_file({"a": np.arange(3)}, here / "integers.safetensors")
    before = sorted(path.name for path in here.rglob("*"))
    assert sentence_of(capsys, *words.split()).startswith(sentence)
    assert (
        sorted(path.name for path in here.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__")
        == before
    )


def test_what_nobody_foresaw_of_the_system_is_a_sentence_too(capsys, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setitem(VERBS, "list", replace(VERBS["list"], function=refuse, options_of=list_items))
    assert sentence_of(capsys, "list") == "somewhere: Permission denied"


def test_an_interruption_has_its_own_status(capsys, monkeypatch):
    def interrupt(**_):
        raise KeyboardInterrupt

    for verb, words in (("list", ["list"]), ("run", ["run", "lucky7"]), ("spectra", ["spectra", "x.gguf"])):
        entry = VERBS[verb]
        monkeypatch.setitem(VERBS, verb, replace(entry, function=interrupt, options_of=entry.function))
        assert main(words) == 130
    assert capsys.readouterr().err.splitlines() == [
        "glassformer: stopped",
        *["glassformer: stopped; nothing is lost, run the same command again to resume"] * 2,
    ]


def test_ctrl_c_ends_a_run_even_where_an_exception_would_be_swallowed():
    code = """
import signal, sys
from glassformer.cli.program import program
from glassformer.cli import verbs
from dataclasses import replace
class Swallowing:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
def run(**_):
    Swallowing()
    return "went on"
verbs.VERBS["run"] = replace(
    verbs.VERBS["run"], function=run, options_of=verbs.run, answer=lambda result, _: verbs.Answer({}, result)
)
sys.argv = ["glassformer", "run", "lucky7"]
signal.signal(signal.SIGINT, signal.default_int_handler)
program()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "glassformer: stopped; nothing is lost, run the same command again to resume\n"


def test_a_reader_that_has_seen_enough_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "glassformer", "list", "settings"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_output_is_no_error(monkeypatch):
    """`glassformer list tasks >&-`: Python has no sys.stdout then."""
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list", "tasks"]) == 0


def test_statuses_of_processes():
    assert glassformer("--help").returncode == 0
    refused = glassformer("rn")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "glassformer: no command called 'rn'; did you mean 'run'? (glassformer --help)\n"
