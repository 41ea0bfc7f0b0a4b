"""Names, files and options to configurations."""

from dataclasses import replace

import pytest

from glassformer.core.errors import UserError
from glassformer.models.position import SinusoidalPosition
from glassformer.runs.configurations import CONFIGURATIONS
from glassformer.runs.resolve import list_setting_leaves, parse_value, resolve_run
from glassformer.runs.tree import to_tree
from glassformer.tasks.rules_operator import PlusMeansEven

PLUS = CONFIGURATIONS["plus_last_even"]


@pytest.fixture
def toml(tmp_path):
    def write(text, name="mine.toml"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_a_name_is_its_configuration():
    assert resolve_run("plus_last_even") == PLUS


def test_options_change_single_leaves():
    run = resolve_run(
        "plus_last_even", {"train.steps": "500", "task.p": "0.4", "model.layers.0.residual": "false"}
    )
    layer = replace(PLUS.model.layers[0], residual=False)
    assert run == replace(
        PLUS,
        train=replace(PLUS.train, steps=500),
        task=replace(PLUS.task, p=0.4),
        model=replace(PLUS.model, layers=(layer,)),
    )


def test_another_kind_drops_the_settings_of_the_old_one():
    run = resolve_run("plus_last_even", {"model.position.kind": "sinusoidal"})
    assert run.model.position == SinusoidalPosition()
    run = resolve_run("plus_last_even", {"task.name": "plus_means_even", "task.p": "0.5"})
    assert run.task == PlusMeansEven(p=0.5)


def test_a_kind_counts_before_its_settings_in_whatever_order():
    run = resolve_run("plus_last_even", {"task.p": "0.5", "task.name": "plus_means_even"})
    assert run.task == PlusMeansEven(p=0.5)


def test_naming_the_same_kind_keeps_its_settings():
    assert resolve_run("plus_last_even", {"task.name": "plus_last_even"}) == PLUS


def test_a_part_that_was_none_is_switched_on():
    run = resolve_run("successor", {"model.layers.0.attention.out.kind": "full"})
    assert run.model.layers[0].attention.out.kind == "full"
    run = resolve_run("successor", {"model.layers.0.feedforward": "none"})
    assert run.model.layers[0].feedforward is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("1e-3", 0.001), ("true", True), ("[[5, 1]]", [[5, 1]]), ("cosine", "cosine"), ("", "")],
)
def test_values_are_read_as_toml_does(text, value):
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"train.stps": "5"}, "no setting of train called 'stps'; did you mean 'steps'?"),
        ({"trian.steps": "5"}, "no setting called 'trian'; did you mean 'train'?"),
        ({"train.steps.x": "5"}, "train.steps must be a whole number, but it is {'x': 5}"),
        (
            {"model.layers.1.residual": "false"},
            "--model.layers.1.residual: there is no number 1 in a list of 1",
        ),
        ({"model.layers.x": "1"}, "--model.layers.x: there is no number x in a list of 1"),
        ({"train.steps": ""}, "train.steps must be a whole number, but it is ''"),
        ({"train.peak_rate": "nan"}, "train.peak_rate must be a number, but it is nan"),
        (
            {"task.name": "lucky8"},
            "no task called 'lucky8'; did you mean 'lucky7'? (glassformer list tasks)",
        ),
    ],
)
def test_bad_options_get_one_sentence(options, sentence):
    with pytest.raises(UserError) as error:
        resolve_run("plus_last_even", options)
    assert str(error.value) == sentence


def test_a_file_on_top_of_its_base(toml):
    run = resolve_run(toml('base = "plus_last_even"\nname = "mine"\n[train]\nsteps = 9\n'))
    assert run == replace(PLUS, name="mine", train=replace(PLUS.train, steps=9))


def test_a_base_that_is_a_file(toml):
    below = toml('base = "plus_last_even"\n[train]\nsteps = 9\nseeds = 3\n', "below.toml")
    run = resolve_run(toml(f'base = "{below}"\n[train]\nseeds = 4\n'), {"train.batch": "2"})
    assert (run.train.steps, run.train.seeds, run.train.batch) == (9, 4, 2)


def test_a_file_of_another_kind_than_its_base(toml):
    run = resolve_run(toml('base = "plus_last_even"\n[task]\nname = "plus_means_even"\n'))
    assert run.task == PlusMeansEven()


def test_a_file_without_base_starts_from_defaults(toml):
    assert resolve_run(toml("[train]\nsteps = 9\n")).train.steps == 9


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('base = "plus_last_evn"', "no task called 'plus_last_evn'; did you mean 'plus_last_even'?"),
        ("base = 5", "base must be a text, but it is 5"),
        ("rule_file = 5", "rule_file must be a text, but it is 5"),
        (
            'rule_file = "none.py"',
            "{path} names the Python file none.py, which is not run because a file says so",
        ),
        ('base = "none.py"', "{path} names the Python file none.py, which is not run because a file says so"),
        ("[train]\nstpes = 5", "no setting of train called 'stpes'; did you mean 'steps'?"),
        ("[train", "{path} is not valid TOML: "),
    ],
)
def test_bad_files_get_one_sentence(toml, text, sentence):
    path = toml(text)
    with pytest.raises(UserError) as error:
        resolve_run(path)
    assert str(error.value).startswith(sentence.format(path=path))
    assert "\n" not in str(error.value)


def test_a_file_that_is_its_own_base(toml, tmp_path):
    path = toml(f'base = "{tmp_path}/other.toml"')
    toml(f'base = "{path}"', "other.toml")
    with pytest.raises(UserError, match=r"mine.toml is its own base"):
        resolve_run(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match=r"^cannot read .*none.toml: No such file or directory$"):
        resolve_run(str(tmp_path / "none.toml"))
    with pytest.raises(UserError, match=r"^cannot read .*run.toml: No such file or directory$"):
        resolve_run(str(tmp_path))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="is not UTF-8 text"):
        resolve_run(str(tmp_path / "bytes.toml"))


def test_leaves_name_every_setting():
    found = list_setting_leaves(to_tree(PLUS))
    assert found["model.layers.0.attention.heads"] == 1
    assert found["task.p"] == 0.3
    assert resolve_run("plus_last_even", {"data.count": str(found["data.count"])}) == PLUS


def test_a_runs_own_name_may_be_a_rules():
    """Only `task.name` changes the task; the run's name is a plain setting."""
    run = resolve_run("plus_last_even", {"name": "lucky7", "train.steps": 5})
    assert (run.name, run.task, run.train.steps) == ("lucky7", PLUS.task, 5)


@pytest.mark.parametrize("digits", [3, 10, 12])
def test_columns_follow_the_digits_of_the_task(digits):
    """any-8 on three digits has numbers of five columns: with twelve it would count columns wrongly."""
    run = resolve_run("any-8", {"task.digits": str(digits)})
    relation = run.architecture.layers[0].attention.relation
    assert (relation.columns, run.architecture.context) == (digits + 2, 3 * (digits + 2) - 1)
