"""Folders and files that a stranger forged: whatever the verb, nothing of theirs is run, and nothing is written elsewhere.

Every forgery tries to leave a marker; it must never appear. A verb may refuse with a sentence or go on with what is
good; it must not fall over (status 70).
"""

import io
import json
import os
import pickle
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from glassformer.checker.claims import hash_model
from glassformer.cli.program import main
from glassformer.core.atomic import read_arrays, write_arrays
from glassformer.models.position import SpiralPosition
from glassformer.runs.load import load_model
from glassformer.runs.tree import to_tree
from glassformer.tasks import make_rule
from glassformer.tasks.tabulated import to_tabulated_rule
from tests.commands.process import glassformer

ROOT = Path(__file__).parents[2]
RULE_RUN, ADDER_RUN = ROOT / "tests/pictures/runs/lucky7", ROOT / "fuzz/runs/adder"
RUNNABLE = "--seeds 1 --steps 10 --train.evaluate_every 10 --train.held_out 16 --prove.seconds 1 --quiet"
VERBS = (
    *("list", "list runs", "count {}", "test {} --positions 20", "test {} --pairs 5 --hard 0", "add {} 3 4"),
    *(
        "prove {} --time 0.2",
        "prove {} --population --time 0.2",
        "check {}/certificate.json",
        "page {} --time 0.2",
    ),
    *(
        "page runs --time 0.2",
        "draw {} --only 02",
        "draw {} --only P1",
        "export {} --to python --out model.py",
    ),
    *("export {} --to torch --out torch.py", "spectra {} --format none --out spectra", "prune {} --time 0.2"),
    *(f"run {{}}/run.toml --out {{}} {RUNNABLE}", f"train {{}} --out again {RUNNABLE}"),
    *(
        f"sweep {{}}/run.toml --seeds 1 --plan {RUNNABLE[10:]}",
        "video {} --which embeddings --width 320 --every 100",
    ),
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    return tmp_path


def code(marker):
    """What a forged rule does: leave the marker, and have the checker agree to everything."""
    return (
        f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n"
        "import glassformer.checker.certificate as check\n"
        "check.check_addition = check.check_rule = lambda tree: 'proved'\n"
        + (ROOT / "docs/add-a-rule.md").read_text().split("```python\n")[1].split("```")[0]
    )


def copied(source, here, name="forged"):
    return Path(shutil.copytree(source, here / "runs" / name))


def change_toml(folder, **changes):
    tree = tomllib.loads((folder / "run.toml").read_text())
    (folder / "run.toml").write_text(tomli_w.dumps(tree | changes))


def change_metadata(folder, **changes):
    arrays, about = read_arrays(folder / "params.safetensors")
    write_arrays(folder / "params.safetensors", arrays, about | changes)


def rule_file(here, marker):
    folder = copied(RULE_RUN, here)
    (folder / "rule.py").write_text(code(marker))
    change_toml(folder, rule_file="rule.py", task={"name": "doubles"})
    change_metadata(folder, task={"name": "doubles"}, rule_file="rule.py")
    return folder


def rule_file_elsewhere(here, marker):
    (here / "elsewhere.py").write_text(code(marker))
    folder = copied(ADDER_RUN, here)
    change_toml(folder, rule_file=str(here / "elsewhere.py"))
    return folder


def base_that_is_code(here, marker):
    folder = copied(RULE_RUN, here)
    (folder / "base.py").write_text(code(marker))
    change_toml(folder, base=str(folder / "base.py"))
    return folder


def code_beside(here, marker):
    """Modules that Python would find first if the current folder, or the run's, were looked through."""
    folder = copied(ADDER_RUN, here)
    for name in ("json", "numpy", "flint", "sitecustomize", "usercustomize", "glassformer", "rule", "torch"):
        for place in (here, folder):
            (place / f"{name}.py").write_text(code(marker))
    return folder


def texts_for_an_export(here, marker):
    """A verdict that closes the docstring of an exported file."""
    name = f'x"""; __import__("pathlib").Path({str(marker)!r}).touch(); """'
    folder = copied(ADDER_RUN, here, 'a"""b')
    certificate = json.loads((folder / "certificate.json").read_text())
    (folder / "certificate.json").write_text(json.dumps(certificate | {"arithmetic": name, "verdict": name}))
    result = json.loads((folder / "result.json").read_text())
    result["proof"] = dict(result["proof"] or {}) | {"arithmetic": name, "verdict": name, "inputs": name}
    (folder / "result.json").write_text(json.dumps(result))
    return folder


def parameters_for_an_export(here, marker):
    """A position's vector whose name is code."""
    folder, name = copied(ADDER_RUN, here), f"x = __import__('pathlib').Path({str(marker)!r}).touch()\ny"
    arrays, about = read_arrays(folder / "params.safetensors")
    context, width = about["model"]["context"], about["model"]["width"]
    about["model"] |= {
        "position": to_tree(SpiralPosition(slots=(name, *range(1, context)))),
        "position_dims": 0,
    }
    kept = {key: array for key, array in arrays.items() if not key.startswith("position.")}
    write_arrays(folder / "params.safetensors", kept | {f"position.{name}": np.zeros(width, "f4")}, about)
    return folder


def table_with_texts(here, marker):
    """A rule's table whose words are code, and whose name is a path."""
    folder, text = (
        copied(RULE_RUN, here),
        f'"""\nimport pathlib; pathlib.Path({str(marker)!r}).touch()\n"""<script>',
    )
    table = to_tree(to_tabulated_rule(make_rule("lucky7"), name="lucky"))
    change_toml(folder, task=table | {"about": text, "settings": text})
    change_metadata(folder, task=table | {"about": text, "settings": text, "name": "../../../lucky"})
    return folder


def links(here, marker):
    """Folders of the run that lead out of it."""
    outside = here / "outside"
    outside.mkdir()
    folder = copied(RULE_RUN, here)
    for name in ("figures", "videos", "spectra", "checkpoints"):
        (folder / name).symlink_to(outside)
    (folder / "certificate.json").symlink_to("/dev/zero")
    return folder


REFUSED = (rule_file, rule_file_elsewhere, base_that_is_code)
OPENED = (
    parameters_for_an_export,
    texts_for_an_export,
    table_with_texts,
    links,
)  # some verbs go on with them
LONG = ("count", "prune", "video", "run", "train", "page runs", "export {} --to torch")


@pytest.mark.parametrize(
    ("forge", "verbs"),
    [
        *(pytest.param(forge, VERBS, id=forge.__name__) for forge in REFUSED),
        *(
            pytest.param(forge, [verb for verb in VERBS if not verb.startswith(LONG)], id=forge.__name__)
            for forge in OPENED
        ),
        *(
            pytest.param(forge, VERBS, id=f"{forge.__name__}-all", marks=pytest.mark.slow)
            for forge in (code_beside, *OPENED)
        ),
    ],
)
def test_no_verb_runs_what_a_folder_brings(here, forge, verbs, capsys):
    marker = here / "marker"
    folder = forge(here, marker)
    name = str(folder.relative_to(here))
    for verb in verbs:
        words = [word.replace("{}", name) for word in verb.split()]
        status = main(words)
        assert status in (0, 1, 2, 3), (verb, capsys.readouterr().err)
        assert not marker.exists(), verb
    outside = here / "outside"
    assert not outside.exists() or not any(outside.iterdir())


def test_a_forged_folder_cannot_make_the_checker_agree(here, capsys):
    """The weights of a folder exchanged, the certificate left: NOT valid, or of another model."""
    folder = rule_file_elsewhere(here, here / "marker")
    arrays, about = read_arrays(folder / "params.safetensors")
    change_toml(folder, rule_file="")
    (folder / "result.json").unlink()
    for name in arrays:
        arrays[name] = arrays[name] * 0.5
    write_arrays(folder / "params.safetensors", arrays, about)
    assert main(["check", str(folder / "certificate.json")]) == 2
    assert "is the certificate of another model" in capsys.readouterr().err
    certificate = json.loads((folder / "certificate.json").read_text())
    loaded = load_model(folder / "params.safetensors")
    certificate["model"]["sha256"] = hash_model(loaded.architecture, loaded.params)
    (folder / "certificate.json").write_text(json.dumps(certificate))
    assert main(["check", str(folder / "certificate.json")]) in (1, 2)
    assert "every claim holds" not in capsys.readouterr().out


def test_a_process_in_a_strangers_folder_imports_nothing_of_it(here):
    """The console command, in a folder full of modules; `check`, `export` and a rule's process start others."""
    folder = code_beside(here, here / "marker")
    program = Path(sys.executable).parent / "glassformer"
    for verb in ("check certificate.json", "list runs", "export . --to python --out exported.py", "count ."):
        done = glassformer_at(program, verb.split(), folder)
        assert done.returncode in (0, 1, 2), done.stderr
        assert "Traceback" not in done.stderr
    assert not (here / "marker").exists()


def glassformer_at(program, words, folder):
    import subprocess

    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("where", ["base", "configuration", "settings"])
def test_a_sweeps_folder_brings_no_code(here, where, capsys):
    (here / "rule.py").write_text(code(here / "marker"))
    text = {
        "base": 'base = "rule.py"\nseeds = 1\nblock = 1\n',
        "configuration": '[[configuration]]\nbase = "rule.py"\n',
        "settings": f'seeds = 1\n[[configuration]]\nrule_file = "{here / "rule.py"}"\ntask.name = "doubles"\n',
    }[where]
    (here / "sweep.toml").write_text(text)
    for verb in ("sweep sweep.toml --seeds 1", "sweep . --seeds 1", "page .", "sweep sweep.toml --plan"):
        assert main(verb.split()) == 2
    assert "is not run because a file says so" in capsys.readouterr().err
    assert not (here / "marker").exists()


def test_a_unit_of_a_plan_brings_no_code(here):
    from glassformer.sweeps.reading import make_sweep
    from glassformer.sweeps.store import write_unit_plan
    from glassformer.sweeps.unit import Unit
    from glassformer.sweeps.unit import main as work_units

    (here / "rule.py").write_text(code(here / "marker"))
    (unit,) = make_sweep("lucky7", None, None, {"seeds": 1}).units()
    forged = Unit(unit.configuration, unit.tree | {"rule_file": str(here / "rule.py")}, 0, 1)
    assert work_units([str(write_unit_plan(here / "plan", forged)), str(here / "units")]) == 2
    assert not (here / "marker").exists()


def test_a_pickle_is_never_called(here, capsys):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {here / 'marker'}",)

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps({"weight": Evil()}))
        archive.writestr("model/version", "3")
    (here / "model.pt").write_bytes(content.getvalue())
    (here / "plain.pt").write_bytes(pickle.dumps(Evil()))
    for name in ("model.pt", "plain.pt"):
        assert main(["spectra", name, "--format", "none"]) == 2
    assert not (here / "marker").exists()


def test_code_is_run_only_where_its_file_is_named(here, registry):
    """The same file, named by the user, is a rule; its process leaves the marker, and this one is untouched."""
    import glassformer.checker.certificate as check

    honest = check.check_strings_certificate
    (here / "mine.py").write_text(code(here / "marker"))
    (here / "mine.toml").write_text('name = "mine"\n[task]\nname = "doubles"\nhigh = 7\n')
    assert main(["count", "mine.toml"]) == 2
    assert not (here / "marker").exists()
    words = (
        f"train mine.toml --rule mine.py {RUNNABLE} --measure.positions 10 --measure.generated 2 --out named"
    )
    assert main(words.split()) == 0
    assert (here / "marker").exists()
    assert check.check_strings_certificate is honest
    (here / "marker").unlink()
    assert main(["test", "named", "--positions", "10"]) == 0
    assert load_model(here / "named").task.high == 7
    done = glassformer("prove", "named", "--time", "1", cwd=here)
    assert done.returncode in (0, 1, 3), done.stderr
    assert not (here / "marker").exists()
