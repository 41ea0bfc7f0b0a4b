"""The numbers of a figure can be saved."""

from glassformer.core.atomic import read_arrays
from glassformer.pictures.registry import FIGURES
from glassformer.pictures.save import save_data
from tests.pictures.conftest import subject_of


def test_data_can_be_saved(tmp_path):
    """Nothing but arrays and plain data comes out of any figure, and all of it comes back."""
    for picture in FIGURES:
        data = picture.compute(subject_of("even_repeat_last_odd"))
        path = save_data(tmp_path, picture.id, data, {"caption": picture.caption(data)})
        arrays, about = read_arrays(path)
        assert arrays, picture.id
        assert about["caption"] == picture.caption(data)
        assert "array(" not in str(about["texts"]), picture.id
