"""Frames become files: their times, and encoders that die."""

import sys
from pathlib import Path

import numpy as np
import pytest

from glassformer.core.errors import UserError
from glassformer.pictures.video import encoder, render_video
from glassformer.pictures.video.encoder import GIF_FRAMES, choose_gif_timing
from glassformer.pictures.video.stage import Stage
from tests.pictures.conftest import subject_of
from tests.pictures.video.staged import WIDTH


@pytest.mark.parametrize("fps", [1, 10, 12.5, 20, 24, 25, 30, 50, 60])
@pytest.mark.parametrize("count", [1, 2, 12, 101, 121, 200, 1000])
def test_gif_keeps_the_speed_and_the_cap(count: int, fps: float) -> None:
    timing = choose_gif_timing(count, fps)
    frames = timing.frames(count - 1)
    assert len(frames) <= GIF_FRAMES and timing.delay >= 2
    assert frames[0] == 0 or count == 1
    assert frames[-1] == count - 1 and frames == sorted(set(frames))
    shown = np.arange(len(frames) - 1) * timing.delay / 100  # seconds at which each appears
    assert np.abs(shown - np.array(frames[:-1]) / fps).max(initial=0) <= 0.5 / fps + 1e-9


def test_a_failed_encoder_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "embeddings.mp4"
    target.write_bytes(b"old")

    def broken(self: Stage):
        yield np.zeros((*self.size[::-1], 4), np.uint8)
        raise RuntimeError("stopped while drawing")

    monkeypatch.setattr(Stage, "frames", broken)
    with pytest.raises(RuntimeError):
        render_video(subject_of("plus_last_even"), "embeddings", tmp_path, width=WIDTH)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["embeddings.mp4"]


def test_one_encoder_that_dies_ends_both_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, start, frames = [], encoder.start_ffmpeg, Stage.frames

    def remember(*wishes):
        started.append(start(*wishes))
        return started[-1]

    def deadly(self: Stage):
        for index, pixels in enumerate(frames(self)):
            if index == 2:
                started[0].kill()
                started[0].wait()
            yield pixels

    monkeypatch.setattr(encoder, "start_ffmpeg", remember)
    monkeypatch.setattr(Stage, "frames", deadly)
    with pytest.raises(UserError, match=r"cannot write .*embeddings.mp4: ffmpeg stopped without a word"):
        render_video(subject_of("plus_last_even"), "embeddings", tmp_path, ("mp4", "gif"), width=WIDTH)
    assert not list(tmp_path.iterdir())
    assert all(process.poll() is not None for process in started)


def test_without_ffmpeg_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"a video needs ffmpeg: pip install 'glassformer\[video\]'"):
        render_video(subject_of("plus_last_even"), "embeddings", tmp_path / "videos", width=WIDTH)
    assert not (tmp_path / "videos").exists()
    (tmp_path / "ffmpeg").touch(mode=0o755)
    assert encoder.find_ffmpeg() == str(tmp_path / "ffmpeg")


def test_what_ffmpeg_says_becomes_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "embeddings.mp4").mkdir()
    (tmp_path / "embeddings.mp4" / "inside").touch()
    with pytest.raises(UserError, match=r"cannot write .*embeddings.mp4"):
        render_video(subject_of("plus_last_even"), "embeddings", tmp_path, width=WIDTH, every=11)
    assert [path.name for path in tmp_path.iterdir()] == ["embeddings.mp4"]
