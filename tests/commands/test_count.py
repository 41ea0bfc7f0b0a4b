"""`count` of runs, files and names that have no weights yet."""

import pytest

from glassformer.cli.program import main
from tests.commands.answers import COUNT_FIELDS, UNTRAINED_FIELDS, answer, check_fields

pytestmark = pytest.mark.usefixtures("at_home")


@pytest.mark.slow  # the rank of 758 parameters
@pytest.mark.parametrize("target", ["successor", "runs/successor/params.safetensors"])
def test_count_of_a_run(capsys, target):
    content = answer(capsys, "count", target)
    check_fields(content, COUNT_FIELDS)
    assert (
        content["unique"] == content["stored"] == content["learned"] == sum(content["parts"].values()) == 758
    )
    assert 0 < content["rank"] < 758
    assert (content["rank_contexts"], content["rank_settled"]) == (1024, True)
    assert content["at"] == "trained weights"


def test_count_of_a_name_without_a_run(capsys):
    content = answer(capsys, "count", "plus_last_even")
    check_fields(content, UNTRAINED_FIELDS)
    assert (content["unique"], content["parts"]["token"]) == (250, 24)
    assert main(["count", "plus_last_even"]) == 0
    assert capsys.readouterr().out.startswith("plus_last_even: 250 parameters\n")


def test_count_of_a_file(capsys, tmp_path):
    (tmp_path / "x.toml").write_text('base = "plus_last_even"\n[train]\nfirst_seed = 4\n')
    assert answer(capsys, "count", str(tmp_path / "x.toml"))["unique"] == 250
