"""A sweep's file and the command line say the same; what does not fit is one sentence."""

import re
from pathlib import Path

import pytest

from glassformer.core.errors import UserError
from glassformer.runs.adders import ADDERS
from glassformer.runs.configurations import find_configuration
from glassformer.sweeps.folder import describe_sweep_difference, open_sweep_folder, read_stored_sweep
from glassformer.sweeps.reading import make_sweep, parse_grid_options
from glassformer.tasks import TabulatedRule

FILE = """
name = "rates"
seeds = 6
block = 4

[settings]
train.steps = 40

[[configuration]]
base = "successor"
"train.batch" = 16

[[configuration]]
base = "glass-39"
name = "glass"
train.warm_up = 5

[grid]
train.peak_rate = [0.01, 0.03]
"""


DOCS = Path(__file__).parents[2] / "docs"


def made(tmp_path, text, **options):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return make_sweep(str(path), **options)


def test_a_file_is_every_configuration_with_every_combination(tmp_path):
    sweep = made(tmp_path, FILE)
    assert (sweep.name, sweep.seeds, sweep.first_seed, sweep.block) == ("rates", 6, 0, 4)
    assert [
        (run.name, run.train.peak_rate, run.train.batch, run.train.warm_up, run.train.steps)
        for run in sweep.configurations
    ] == [
        ("successor-peak_rate-0.01", 0.01, 16, 200, 40),
        ("successor-peak_rate-0.03", 0.03, 16, 200, 40),
        ("glass-peak_rate-0.01", 0.01, 256, 5, 40),
        ("glass-peak_rate-0.03", 0.03, 256, 5, 40),
    ]


def test_the_command_line_says_the_same(tmp_path):
    text = """
    seeds = 6
    base = "successor"
    [settings]
    train.steps = 40
    [grid]
    train.peak_rate = [0.01, 0.03]
    "model.width+model.layers.0.attention.head_size" = [4, 6]
    """
    grid = parse_grid_options(
        ["train.peak_rate=0.01,0.03", "model.width+model.layers.0.attention.head_size=4,6"]
    )
    there = made(tmp_path, text)
    here = make_sweep("successor", grid, {"train.steps": "40"}, {"seeds": 6})
    assert there.configurations == here.configurations
    assert len(here.configurations) == 4
    last = here.configurations[-1]
    assert last.name == "successor-peak_rate-0.03-width-6"
    assert last.model.layers[0].attention.head_size == 6


def test_options_and_numbers_of_the_command_line_win(tmp_path):
    sweep = made(tmp_path, FILE, options={"train.steps": "7"}, numbers={"seeds": 3, "block": None})
    assert {run.train.steps for run in sweep.configurations} == {7}
    assert (sweep.seeds, sweep.block) == (3, 4)


def test_a_grid_takes_texts_and_lists():
    assert parse_grid_options(["a.b=cosine,linear", "c=[1,2],[3]", "d=true"]) == {
        "a.b": ["cosine", "linear"],
        "c": [[1, 2], [3]],
        "d": [True],
    }


def test_configurations_of_one_base_are_named_by_their_settings(tmp_path):
    tables = ('base = "successor"', 'base = "successor"\ntrain.batch = 8')
    sweep = made(tmp_path, "".join(f"[[configuration]]\n{table}\n" for table in tables))
    assert [run.name for run in sweep.configurations] == ["successor", "successor-batch-8"]


def test_seeds_begin_at_0_and_all_are_polished_unless_it_is_said():
    """A recipe's own first seed is where good ones are known to be; a best-of would bind seeds together."""
    glass = make_sweep("glass-39", numbers={"block": 128}).configurations[0]
    assert find_configuration("glass-39").train.first_seed > 0
    assert (glass.train.first_seed, glass.train.polish_seeds) == (0, 128)
    assert make_sweep("glass-39", options={"train.polish_seeds": 8}).configurations[0].train.polish_seeds == 8


def test_a_base_beside_the_file_is_found_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "base.toml").write_text('base = "successor"\nname = "mine"\n[train]\nbatch = 8\n')
    monkeypatch.chdir(Path(__file__).parent)
    sweep = made(tmp_path, '[[configuration]]\nbase = "base.toml"\n')
    assert [(run.name, run.train.batch) for run in sweep.configurations] == [("mine", 8)]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("sedes = 3\n[grid]\n", "no setting of a sweep called 'sedes'; did you mean 'seeds'?"),
        ('[[configuration]]\nbase = "glas-39"\n', "no task called 'glas-39'; did you mean 'glass-39'?"),
        (
            '[[configuration]]\nbase = "successor"\ntrain.stepz = 3\n',
            "no setting of train called 'stepz'; did you mean 'steps'?",
        ),
        ("[grid]\ntrain.steps = [3]\n", "configuration must be a list of one or more"),
        ("configuration = 3\n", "configuration must be a list of one or more"),
        (
            'base = "successor"\n[grid]\ntrain.steps = 3\n',
            "train.steps must have a list of values, but it has 3",
        ),
        (
            'base = "successor"\n[grid]\ntrain.steps = []\n',
            "train.steps must have a list of values, but it has []",
        ),
        ('base = "successor"\nseeds = "x"\n[grid]\n', "seeds must be a whole number, but it is 'x'"),
        ('base = "successor"\nseeds = 0\n[grid]\n', "seeds must be at least 1, but it is 0"),
        ('base = "successor"\nblock = 0\n', "block must be at least 1, but it is 0"),
        ('base = "successor"\nfirst_seed = -1\n[grid]\n', "first_seed must be at least 0"),
        ('base = "successor"\nname = "../x"\n[grid]\n', "name must be letters"),
        ('base = "successor"\n[settings]\ntrain.seeds = 3\n', "train.seeds is the sweep's own: say seeds"),
        ('base = "successor"\n[settings]\ntrain.mine = 1\n', "successor: train.mine is for adders"),
        ('base = "successor"\nblock = 2\n[[configuration]]\n', "has a base and a list of configurations"),
        (
            '[[configuration]]\nbase = "successor"\nname = "a"\n[[configuration]]\nbase = "successor"\nname = "b"\n',
            "the configurations 'a' and 'b' are the same",
        ),
        (
            '[[configuration]]\nbase = "successor"\n[[configuration]]\nbase = "lucky7"\nname = "successor"\n',
            "two configurations are called 'successor'",
        ),
        ("[grid\n", "is not valid TOML"),
    ],
)
def test_what_does_not_fit_is_one_sentence(tmp_path, text, sentence):
    with pytest.raises(UserError) as caught:
        made(tmp_path, text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value).replace("not valid TOML", "")


@pytest.mark.parametrize(
    "texts, sentence",
    [
        (["train.steps"], "--grid must be KEY=V1,V2"),
        (["train.steps=1", "train.steps=2"], "--grid has train.steps twice"),
    ],
)
def test_a_grid_that_cannot_be_read_is_one_sentence(texts, sentence):
    with pytest.raises(UserError, match=sentence):
        parse_grid_options(texts)


def test_an_option_cannot_set_what_the_grid_tries():
    with pytest.raises(UserError, match=r"train.steps is in the grid, so --train.steps cannot set it too"):
        make_sweep("successor", {"train.steps": [1, 2]}, {"train.steps": "3"})


def test_a_rule_of_ones_own_is_read_again_from_the_folder(tmp_path, registry):
    text = (DOCS / "add-a-rule.md").read_text()
    (tmp_path / "my_rule.py").write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0])
    sweep = make_sweep(str(tmp_path / "my_rule.py"), {"train.steps": [5, 6]}, None, {"seeds": 2})
    open_sweep_folder(tmp_path / "s", sweep)
    assert describe_sweep_difference(read_stored_sweep(tmp_path / "s"), sweep) == ""
    assert isinstance(sweep.configurations[0].task, TabulatedRule)
    (tmp_path / "my_rule.py").unlink()
    assert read_stored_sweep(tmp_path / "s").configurations[0].task == sweep.configurations[0].task


def test_the_example_of_the_docs_is_valid(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", (DOCS / "sweep.md").read_text(), re.DOTALL)
    sweep = made(tmp_path, text)
    assert sweep.configurations[0].name == "glass-peak_rate-0.01-steps-500"
    assert [(run.train.steps, run.train.warm_up) for run in sweep.configurations] == [
        (500, 500),
        (1000, 1000),
    ] * 2


ON_A_CPU = {"base-16", "times-3"}  # few seeds, on two cores; docs/further-down.md has their wide intervals


def test_the_sweeps_of_the_adders_have_all_that_are_trained_and_seeds_enough():
    sweeps = [make_sweep(str(path)) for path in sorted((DOCS / "sweeps").glob("*.toml"))]
    assert {run.name for sweep in sweeps for run in sweep.configurations} >= {*ADDERS}
    assert {sweep.first_seed for sweep in sweeps} == {0}
    assert {sweep.name for sweep in sweeps if sweep.seeds < 256} == ON_A_CPU
