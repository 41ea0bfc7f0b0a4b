"""Commands are called in an empty folder, or beside the one run that many verbs are asked about."""

import pytest

from glassformer.cli.program import main
from glassformer.tasks import Addition
from tests.commands.answers import SETTINGS
from tests.verify.fakes import Adder


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with one finished run in runs/successor, made by the command."""
    folder = tmp_path_factory.mktemp("home")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    assert main(["run", "successor", *SETTINGS.split(), "--quiet"]) == 0
    patch.undo()
    return folder


@pytest.fixture
def at_home(home, here, monkeypatch):
    monkeypatch.chdir(home)


@pytest.fixture
def adder(monkeypatch):
    """A stand-in for a loaded adder, perfect or not."""

    def make(slips=lambda x, y: x[0] < 0, digits=2, layout="lsb"):
        task = Addition(digits=digits, layout=layout)
        loaded = Adder(task, slips)
        loaded.task, loaded.addition, loaded.origin = task, task, "fake"
        loaded.with_digits = lambda digits: loaded
        monkeypatch.setattr("glassformer.runs.load.load_model", lambda target, model: loaded)

    return make
