"""docs/ablation.md: one switch per variant, tables as the tool makes them, sentences that tests support."""

import pytest

from glassformer.core.errors import UserError
from glassformer.models.forward import list_parameters
from glassformer.runs.resolve import list_setting_leaves
from glassformer.runs.tree import to_tree
from glassformer.sweeps.reading import make_sweep
from tools.ablation import SWEEPS, describe_table, make_page, read_abouts
from tools.success_rates import DOCS

SIZES = {
    "ablation": {
        "glass-8": 8, "no-mirror": 13, "circle-of-ten": 8, "free-plane": 10, "free-form": 15, "even-feedforward": 9,
        "learned-ramp": 9, "no-ramp": 8, "free-arc": 9, "free-value": 9, "free-output": 9, "free-head": 10,
        "no-mirror-at-all": 16, "free-form-gram": 15,
    },
}  # fmt: skip
HEAD = "configuration,settings,parameters,seeds,reached,proved"


@pytest.mark.parametrize("name", SIZES)
def test_the_variants_have_these_sizes_and_one_recipe(name):
    runs = make_sweep(str(DOCS / "sweeps" / f"{name}.toml")).configurations
    found = {run.name: sum(one.free for one in list_parameters(run.architecture).values()) for run in runs}
    assert found == SIZES[name]
    assert len({run.train for run in runs}) == len({run.task for run in runs}) == 1
    assert set(read_abouts(DOCS / "sweeps" / f"{name}.toml")) == set(found)


def switched(name):
    """The parts of the model in which a variant differs from glass-8."""
    runs = {run.name: run for run in make_sweep(str(DOCS / "sweeps" / "ablation.toml")).configurations}
    base, other = (list_setting_leaves(to_tree(runs[one].model)) for one in ("glass-8", name))
    return {
        ".".join(path.split(".")[:4] if path.startswith("layers") else path.split(".")[:1])
        for path in {**base, **other}
        if base.get(path) != other.get(path)
    }


def test_each_variant_switches_one_part():
    attention, feedforward = "layers.0.attention", "layers.0.feedforward"
    assert switched("circle-of-ten") == {"position"}
    for name in ("free-plane", "free-form", "learned-ramp", "no-ramp"):
        assert switched(name) == {f"{attention}.q"}
    assert switched("even-feedforward") == {f"{feedforward}.up"}
    head = {"head", "ties", f"{feedforward}.down"}
    assert switched("no-mirror") == {"token", f"{attention}.v", f"{attention}.out"} | head
    assert switched("free-head") == head


def write_table(folder, *rows):
    path = folder / "ablation.csv"
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


def test_the_table_and_what_it_supports(tmp_path):
    table = write_table(
        tmp_path,
        *("glass-8,,8,1024,172,172", "no-ramp,,8,1024,0,0", "free-arc,,9,1024,160,160"),
        *("free-head,,10,1024,400,399", "free-value,,9,0,0,0"),
    )
    text = describe_table(table, DOCS / "sweeps" / "ablation.toml")
    assert "| 8 | 1,024 | 172 | 172 | 16.8% | 14.6% to 19.2% |  |  |  |" in text
    assert "| 8 | 1,024 | 0 | 0 | 0% | up to 0.36% | -16.8 | " in text
    assert "- **Rates below the 16.8% of `glass-8`**: `no-ramp` (0%)." in text
    assert "- **Rates above the 16.8% of `glass-8`**: `free-head` (39.0%)." in text
    assert "- **No difference from the 16.8% of `glass-8` is shown**: `free-arc` (15.6%)." in text
    assert "free-value" not in text  # none of its seeds is done


def test_a_row_that_the_file_does_not_have_is_refused(tmp_path):
    table = write_table(tmp_path, "glass-8,,8,1024,172,172", "glass-7,,7,1024,0,0")
    with pytest.raises(UserError, match="no configuration 'glass-7'"):
        describe_table(table, DOCS / "sweeps" / "ablation.toml")


def test_the_page_is_that_of_its_tables(tmp_path):
    (tmp_path / "sweeps").mkdir()
    for path in (DOCS / "sweeps").glob("ablation*"):
        (tmp_path / "sweeps" / path.name).write_bytes(path.read_bytes())
    page = (DOCS / "ablation.md").read_text()
    (tmp_path / "ablation.md").write_text(page)
    make_page(tmp_path)
    assert (tmp_path / "ablation.md").read_text() == page
    assert all(f"<!-- {name} -->" in page for name in SWEEPS)
