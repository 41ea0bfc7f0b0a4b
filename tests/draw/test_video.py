"""Videos, from the files: frames, sizes, times, what stands still and what moves; and the numbers behind them."""

import re
import subprocess
from functools import cache
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from matplotlib.axes import Axes
from PIL import Image

from glassformer.draw.measure.subject import Subject
from glassformer.draw.registry import FILMS
from glassformer.draw.theme import THEMES, channels, mixed, token_colour
from glassformer.draw.video import maps, render
from glassformer.draw.video.checkpoints import chosen_checkpoints
from glassformer.draw.video.encoder import GIF_FRAMES, gif_timing
from glassformer.draw.video.labelling import label_tracks
from glassformer.draw.video.maps import box_of
from glassformer.draw.video.render import find_film, perform
from glassformer.draw.video.scenes import attention, embeddings, landscape, qkv, residual
from glassformer.draw.video.stage import Stage
from tests.draw.conftest import subject_of

WIDTH = 480
LIGHT = THEMES["light"]
CLOSE = 4.0  # of 255, mean difference of a drawn frame and its compressed copy


def staged(which: str, name: str = "plus_last_even", width: int = WIDTH, every: int = 1) -> Stage:
    subject = subject_of(name)
    return perform(find_film(which), subject, chosen_checkpoints(subject, every), LIGHT, width)


@cache
def drawn(which: str, name: str = "plus_last_even") -> np.ndarray:
    return np.stack([frame[..., :3].copy() for frame in staged(which, name).frames()])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One video in both formats."""
    place = tmp_path_factory.mktemp("videos")
    paths = render(subject_of("plus_last_even"), "embeddings", place, ("mp4", "gif"), fps=20, width=WIDTH)
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
    boxes = [box_of(axes) for axes in stage.body.figure.axes]
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
    box = box_of(stage.body.figure.axes[1])  # the rule error
    top = frames[:, box.top + 1, box.left : box.right].astype(int)
    columns = np.abs(top - np.array(channels(LIGHT.accent))).sum(-1).argmin(1)
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


@pytest.mark.parametrize("fps", [1, 10, 12.5, 20, 24, 25, 30, 50, 60])
@pytest.mark.parametrize("count", [1, 2, 12, 101, 121, 200, 1000])
def test_gif_keeps_the_speed_and_the_cap(count: int, fps: float) -> None:
    timing = gif_timing(count, fps)
    frames = timing.frames(count - 1)
    assert len(frames) <= GIF_FRAMES and timing.delay >= 2
    assert frames[0] == 0 or count == 1
    assert frames[-1] == count - 1 and frames == sorted(set(frames))
    shown = np.arange(len(frames) - 1) * timing.delay / 100  # seconds at which each appears
    assert np.abs(shown - np.array(frames[:-1]) / fps).max(initial=0) <= 0.5 / fps + 1e-9


def test_a_wide_gif_is_at_most_720_pixels_wide(tmp_path: Path) -> None:
    (path,) = render(subject_of("plus_last_even"), "attention", tmp_path, ("gif",), width=960, every=11)
    with Image.open(path) as gif:
        assert gif.size[0] == 720 and gif.n_frames == 2


@pytest.mark.parametrize("every", [1, 2, 5, 100])
def test_first_and_last_step_are_always_there(every: int) -> None:
    shown = chosen_checkpoints(subject_of("plus_last_even"), every)
    assert shown[0] == 0 and shown[-1] == 11
    assert shown[:-1] == list(range(0, 11, every))


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
    stage = perform(find_film(which), subject, chosen_checkpoints(subject, 11), LIGHT, 320)
    first, last = (frame.copy() for frame in stage.frames())
    assert first.shape == (stage.size[1], 320, 4) and stage.size[1] % 2 == 0
    assert (first != last).any(-1).mean() > 0.003
    assert (first[..., 3] == 255).all()


def raw_points(subject: Subject, index: int) -> dict[str, np.ndarray]:
    """From the weights alone, for plus_last_even: two dimensions, one head."""
    stored = subject.past.history.at(index)
    token, position = stored["token.weight"], stored["position.weight"]
    sums = token[:, None] + position[None]
    return {"token": token, "position": position, "sum": sums} | {
        key: sums @ stored[f"attn.{key}.weight"].T for key in "qkv"
    }


def test_points_of_embeddings_and_qkv_are_those_of_the_weights() -> None:
    subject = subject_of("plus_last_even")
    found, other = embeddings.compute(subject, [0, 5, 11]), qkv.compute(subject, [0, 5, 11])
    for frame, index in enumerate((0, 5, 11)):
        true = raw_points(subject, index)
        for kind in ("token", "position", "sum"):
            assert np.allclose(found[kind][frame], true[kind], atol=1e-5)
        for kind, key in enumerate("qkv"):
            assert np.allclose(other["points"][frame, 0, kind], true[key], atol=1e-4)


def test_attention_and_residual_are_those_of_the_weights() -> None:
    subject = subject_of("plus_last_even")
    looks, paths = attention.compute(subject, [0, 7, 11]), residual.compute(subject, [0, 7, 11])
    sequence = subject.sequences[0]
    places = np.arange(len(sequence))
    for frame, index in enumerate((0, 7, 11)):
        stored = {name: array.astype(float) for name, array in subject.past.history.at(index).items()}
        true = raw_points(subject, index)
        e, q, k, v = (true[key][sequence, places].astype(float) for key in ("sum", "q", "k", "v"))
        scores = np.where(np.tri(len(e), dtype=bool), q @ k.T / np.sqrt(2), -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        z = e + weights @ v
        hidden = np.maximum(z @ stored["ff.up.weight"].T + stored["ff.up.bias"], 0)
        h = z + hidden @ stored["ff.down.weight"].T + stored["ff.down.bias"]
        logits = h @ stored["head.weight"].T + stored["head.bias"]
        seen = np.tri(len(e), dtype=bool)
        assert np.allclose(looks["weights"][0, frame][seen], weights[seen], atol=1e-4)
        assert np.isnan(looks["weights"][0, frame][~seen]).all()
        for stop, state in enumerate((e, z, h)):
            assert np.allclose(paths["stops"][frame, stop], state, rtol=1e-3, atol=1e-3)
        assert (paths["answers"][frame] == logits.argmax(1)).all()


def panel_called(stage: Stage, title: str) -> Axes:
    return next(
        axes for axes in stage.body.figure.axes if title in (axes.get_title("left"), axes.get_title())
    )


def test_a_pixel_of_the_landscape_is_the_heads_answer_there() -> None:
    subject = subject_of("plus_last_even")
    data = landscape.compute(subject, [0, 11])
    stage = landscape.perform(data, LIGHT, WIDTH)
    *_, last = stage.frames()
    axes = panel_called(stage, "most probable token")
    box, random = box_of(axes), np.random.default_rng(0)
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    stored = subject.past.history.at(11)
    tints = np.array(
        [channels(mixed(token_colour(token), LIGHT.paper, LIGHT.tint)) for token in subject.tokens]
    )
    hits = 0
    for row, column in random.integers(0, box.bottom - box.top, (200, 2)):
        x = x0 + (column + 0.5) / (box.right - box.left) * (x1 - x0)
        y = y1 - (row + 0.5) / (box.bottom - box.top) * (y1 - y0)
        answer = (stored["head.weight"] @ [x, y] + stored["head.bias"]).argmax()
        hits += (np.abs(last[box.top + row, box.left + column, :3] - tints[answer]).max() <= 1).item()
    assert hits > 160  # the others are borders and dots


def test_all_points_are_inside_at_all_steps() -> None:
    subject = subject_of("plus_last_even")
    data = landscape.compute(subject, range(12))
    stage = landscape.perform(data, LIGHT, WIDTH)
    axes = panel_called(stage, "most probable token")
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    assert ((data["points"] > low) & (data["points"] < high)).all()


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
        monkeypatch.setattr(scene, "pasted", lambda *_: lambda index: None)
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


@pytest.mark.parametrize("width", [340, 400])
def test_maps_fit_their_panels_at_every_width(width: int) -> None:
    """Panels of one size on paper may differ by a pixel on the screen."""
    stage = staged("landscape", width=width, every=11)
    assert next(iter(stage.frames())).shape[1] == width


def test_a_coarse_map_of_a_dear_model_fits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.draw.video.outlook.DEAR", 1)
    monkeypatch.setattr("glassformer.draw.video.outlook.COARSE", 50)
    *_, last = staged("landscape", width=320, every=11).frames()
    assert len(np.unique(last.reshape(-1, 4), axis=0)) > 100


def test_labels_keep_apart_and_inside_and_do_not_jump() -> None:
    random = np.random.default_rng(3)
    start, end = random.normal(0, 5, (2, 12, 2)) + 200
    share = np.linspace(0, 1, 40)[:, None, None]
    points = start + share * (end - start)
    tracks = label_tracks(
        points, points - points.mean(1, keepdims=True), 12.0, np.zeros(2), np.full(2, 400.0)
    )
    gaps = np.linalg.norm(tracks[:, :, None] - tracks[:, None], axis=-1) + 1e9 * np.eye(12)
    assert gaps.min() > 0.85 * 24
    assert np.abs(np.diff(tracks, axis=0)).max() < 12
    assert ((tracks >= 12) & (tracks <= 388)).all()


def test_memory_does_not_hold_the_frames() -> None:
    stage = staged("embeddings", every=6)
    frames = list(stage.frames())
    assert all(np.shares_memory(frame, frames[0]) for frame in frames)
