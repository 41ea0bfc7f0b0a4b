"""Videos, from the files: frames, sizes, times, what stands still and what moves; and the numbers behind them."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from matplotlib.axes import Axes
from PIL import Image

from glassformer.core.errors import UserError
from glassformer.core.theme import split_channels
from glassformer.pictures.measure.subject import Past
from glassformer.pictures.registry import FILMS
from glassformer.pictures.video import choose_films, maps, render_video
from glassformer.pictures.video.checkpoints import choose_checkpoints
from glassformer.pictures.video.maps import find_pixel_box
from glassformer.pictures.video.render import find_film, stage_film
from glassformer.pictures.video.scenes import landscape, residual
from tests.pictures.conftest import subject_of
from tests.pictures.video.staged import LIGHT, WIDTH, staged

CLOSE = 4.0  # of 255, mean difference of a drawn frame and its compressed copy


@cache
def drawn(which: str, name: str = "plus_last_even") -> np.ndarray:
    return np.stack([frame[..., :3].copy() for frame in staged(which, name).frames()])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One video in both formats."""
    place = tmp_path_factory.mktemp("videos")
    paths = render_video(
        subject_of("plus_last_even"), "embeddings", place, ("mp4", "gif"), fps=20, width=WIDTH
    )
    assert paths == [place / "embeddings.mp4", place / "embeddings.gif"]
    return place


@cache
def decoded(path: Path) -> tuple[str, np.ndarray]:
    """What ffmpeg says of a file, and its frames."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    said = done.stderr.decode()
    wide, high = map(int, re.search(r"Video: .*?, (\d+)x(\d+)", said).groups())
    return said, np.frombuffer(done.stdout, np.uint8).reshape(-1, high, wide, 3)


def test_mp4_is_h264_with_a_frame_a_checkpoint(folder: Path) -> None:
    said, frames = decoded(folder / "embeddings.mp4")
    assert len(frames) == len(subject_of("plus_last_even").past.history.steps) == 12
    assert "Duration: 00:00:00.60" in said and " 20 fps" in said
    assert "Video: h264" in said and "yuv420p(tv, bt709" in said
    assert frames.shape[2] == WIDTH and frames.shape[1] % 2 == 0


def test_the_index_of_an_mp4_comes_before_its_frames(folder: Path) -> None:
    content = (folder / "embeddings.mp4").read_bytes()
    assert 0 < content.index(b"moov") < content.index(b"mdat")


def test_decoded_frames_are_the_drawn_ones(folder: Path) -> None:
    _, frames = decoded(folder / "embeddings.mp4")
    true = drawn("embeddings").astype(float)
    for index in (0, 5, -1):
        assert np.abs(frames[index] - true[index]).mean() < CLOSE
        others = [np.abs(frames[index] - other).mean() for other in true]
        assert np.argmin(others) == index % len(true)


def test_only_the_panels_change(folder: Path) -> None:
    """Titles, names of axes and ticks stand still; inside every panel and in the strip something moves."""
    stage = staged("embeddings")
    changed = (drawn("embeddings") != drawn("embeddings")[:1]).any((0, 3))
    inside = np.zeros_like(changed)
    boxes = [find_pixel_box(axes) for axes in stage.body.figure.axes]
    for box in boxes:
        inside[box.top - 1 : box.bottom + 1, box.left - 1 : box.right + 1] = True
        assert changed[box.top : box.bottom, box.left : box.right].any()
    high, wide = changed.shape
    inside[: high // 12, 3 * wide // 4 :] = True  # the step
    strips = [box for box in boxes if box.top > high / 2]
    for box in strips:
        inside[box.top - high // 25 : box.top, (box.left + box.right) // 2 : box.right + 2] = (
            True  # the score
        )
        inside[box.top : box.bottom + 3, box.left - 4 : box.right + 4] = True  # the dot on the edge
    assert not (changed & ~inside).any()


def test_the_cursor_goes_from_the_first_step_to_the_last() -> None:
    stage, frames = staged("embeddings"), drawn("embeddings")
    box = find_pixel_box(stage.body.figure.axes[1])  # the rule error
    top = frames[:, box.top + 1, box.left : box.right].astype(int)
    columns = np.abs(top - np.array(split_channels(LIGHT.accent))).sum(-1).argmin(1)
    steps = subject_of("plus_last_even").past.history.steps
    true = (steps - steps[0]) / (steps[-1] - steps[0]) * (box.right - box.left) / (1 + 2 * 0.008)
    assert np.abs(columns - columns[0] - true).max() < 2
    assert columns[0] < 6 and columns[-1] > box.right - box.left - 6


def test_gif_delays_are_exact_and_the_last_frame_stays(folder: Path) -> None:
    with Image.open(folder / "embeddings.gif") as gif:
        delays = []
        for index in range(gif.n_frames):
            gif.seek(index)
            delays.append(gif.info["duration"])
        last = np.asarray(gif.convert("RGB")).astype(float)
        assert gif.size[0] == WIDTH and gif.info["loop"] == 0
    assert delays == [50] * 11 + [1500]
    assert np.abs(last - drawn("embeddings")[-1]).mean() < CLOSE


def test_a_wide_gif_is_at_most_720_pixels_wide(tmp_path: Path) -> None:
    (path,) = render_video(subject_of("plus_last_even"), "attention", tmp_path, ("gif",), width=960, every=11)
    with Image.open(path) as gif:
        assert gif.size[0] == 720 and gif.n_frames == 2


CASES = [  # those of plus_last_even are seen by the other tests
    *(
        ("even_repeat_last_odd", which) for which in ("qkv", "attention", "landscape", "residual")
    ),  # two heads
    *(
        ("even_to_odd_transition", which) for which in ("embeddings", "qkv", "landscape", "residual")
    ),  # width 1
    ("lucky7_no_resid", "residual"),
]


@pytest.mark.parametrize(("name", "which"), CASES)
def test_every_video_of_every_kind_of_model(name: str, which: str) -> None:
    """First and last frame differ, and sizes are even."""
    subject = subject_of(name)
    stage = stage_film(find_film(which), subject, choose_checkpoints(subject, 11), LIGHT, 320)
    first, last = (frame.copy() for frame in stage.frames())
    assert first.shape == (stage.size[1], 320, 4) and stage.size[1] % 2 == 0
    assert (first != last).any(-1).mean() > 0.003
    assert (first[..., 3] == 255).all()


def moving_points(axes: Axes) -> np.ndarray:
    """In pixels: dots, ends of lines, labels and corners of arrows of a panel, as they were drawn last."""
    found = [np.zeros((0, 2))]
    for drawn in axes.collections:
        if drawn.get_animated():
            at, offsets = drawn.get_offset_transform(), drawn.get_offsets()
            is_marked = at == axes.transData or len(offsets) > 1
            shapes = [drawn.get_transform().transform(path.vertices) for path in drawn.get_paths()]
            found.append(at.transform(offsets) if is_marked else np.concatenate(shapes))
    return np.concatenate(found)


@pytest.mark.parametrize("which", [video.id for video in FILMS])
@pytest.mark.parametrize(("name", "every"), [("plus_last_even", 1), ("even_repeat_last_odd", 4)])
def test_no_moving_point_leaves_its_panel_in_any_frame(
    name: str, every: int, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Axes, "draw_artist", lambda *_: None)  # movers set their artists; that is enough
    for scene in (landscape, maps, residual):
        monkeypatch.setattr(scene, "make_map_mover", lambda *_: lambda index: None)
    stage, count = staged(which, name, 320, every), 0
    limits = [(axes.get_xlim(), axes.get_ylim()) for axes in stage.body.figure.axes]
    for index in range(stage.count):
        for move in stage.movers:
            move(index)
        for axes in stage.body.figure.axes:
            points, box = moving_points(axes), axes.bbox.padded(0.5)
            count += len(points)
            assert (points >= [box.x0, box.y0]).all() and (points <= [box.x1, box.y1]).all()
    assert count > 100 * stage.count
    assert limits == [(axes.get_xlim(), axes.get_ylim()) for axes in stage.body.figure.axes]


def test_memory_does_not_hold_the_frames() -> None:
    stage = staged("embeddings", every=6)
    frames = list(stage.frames())
    assert all(np.shares_memory(frame, frames[0]) for frame in frames)


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"which": "landscpe"}, "no video called 'landscpe'; did you mean 'landscape'?"),
        ({"formats": ("avi",)}, "no format called 'avi'"),
        ({"formats": ()}, "at least one format"),
        ({"fps": 0}, "fps must be"),
        ({"fps": 61}, "fps must be"),
        ({"every": 0}, "every must be"),
        ({"width": 17}, "width must be"),
        ({"width": 481}, "width must be an even number"),
    ],
)
def test_wishes_that_cannot_be_granted(wishes: dict, sentence: str, tmp_path: Path) -> None:
    asked = {"which": "embeddings"} | wishes
    with pytest.raises(UserError, match=sentence):
        render_video(subject_of("plus_last_even"), asked.pop("which"), tmp_path / "new", **asked)
    assert not (tmp_path / "new").exists()


def test_without_a_history_the_reason_is_given(tmp_path: Path) -> None:
    bare = replace(subject_of("plus_last_even"), past=Past())
    with pytest.raises(
        UserError, match="has no saved steps to film: it was built by hand or came as finished"
    ):
        render_video(bare, "embeddings", tmp_path)


def test_without_evaluations_there_is_still_a_video() -> None:
    subject = subject_of("plus_last_even")
    bare = replace(subject, past=replace(subject.past, rows=[]))
    first, last = (
        frame.copy() for frame in stage_film(find_film("qkv"), bare, [0, 11], LIGHT, WIDTH).frames()
    )
    assert (first != last).any()


def test_choose_films_come_in_the_order_of_the_set() -> None:
    assert [video.id for video in choose_films(["residual", "embeddings"])] == ["embeddings", "residual"]
    assert choose_films() == FILMS


def test_the_list_of_videos_imports_no_matplotlib() -> None:
    code = "import sys, glassformer.pictures.video; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
