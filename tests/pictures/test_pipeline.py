"""From subject to files: what is skipped, what fails, and what stops the whole set."""

import pytest

from glassformer.core.atomic import read_arrays
from glassformer.core.theme import THEMES
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.picture import Picture
from glassformer.pictures.pipeline import PictureStyle, draw_pictures
from glassformer.pictures.registry import DRAWN
from glassformer.scale.choose import make_engine
from tests.pictures.conftest import subject_of

MANNER = PictureStyle(["png"], THEMES["light"], {"model": "mine", "step": 3})


def pictures(*ids: str) -> list[Picture]:
    return [picture for picture in DRAWN if picture.id in ids]


def test_what_does_not_fit_is_skipped_and_the_others_are_drawn(tmp_path):
    told: list[int] = []
    drawn = draw_pictures(pictures("06", "P8"), subject_of("lucky7"), tmp_path, MANNER, told.append)
    assert [path.name for path in drawn.files] == ["06_embedding_scatter.png"]
    assert list(drawn.skipped) == ["P8"] and told == [1, 1]
    about = read_arrays(tmp_path / "data" / "06.safetensors")[1]
    assert (about["model"], about["step"], about["file"]) == ("mine", 3, "06_embedding_scatter.png")


def test_an_error_stops_the_set_unless_it_is_forgiving(tmp_path, monkeypatch):
    def broken(_: Subject) -> dict:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("glassformer.pictures.figures.embedding_scatter.compute", broken)
    with pytest.raises(ZeroDivisionError):
        draw_pictures(pictures("06"), subject_of("lucky7"), tmp_path, MANNER)
    drawn = draw_pictures(pictures("06", "S8"), subject_of("lucky7"), tmp_path, MANNER, is_forgiving=True)
    assert drawn.failed == {"06": "ZeroDivisionError: division by zero"}
    assert [path.name for path in drawn.files] == ["S8_every_parameter.png"]


def test_other_processes_draw_the_same_bytes_in_the_same_order(tmp_path):
    few = pictures("06", "07", "S8")
    here, there = (
        draw_pictures(few, subject_of("lucky7"), tmp_path / name, MANNER, engine=make_engine(name))
        for name in ("here", "processes")
    )
    assert [path.name for path in there.files] == [path.name for path in here.files]
    assert [path.read_bytes() for path in there.files] == [path.read_bytes() for path in here.files]
    data = [path.name for path in sorted((tmp_path / "here" / "data").iterdir())]
    assert len(data) == 3
    for name in data:
        both = [(tmp_path / engine / "data" / name).read_bytes() for engine in ("here", "processes")]
        assert both[0] == both[1]
