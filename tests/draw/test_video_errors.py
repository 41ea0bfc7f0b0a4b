"""Videos that cannot be made: a dead encoder, wishes that cannot be granted, runs without a past."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer.draw.measure.subject import Past
from glassformer.draw.registry import FILMS
from glassformer.draw.video import choose_films, encoder, render
from glassformer.draw.video.checkpoints import checkpoint
from glassformer.draw.video.render import find_film, perform
from glassformer.draw.video.stage import Stage
from glassformer.errors import UserError
from tests.draw.conftest import subject_of
from tests.draw.test_video import LIGHT, WIDTH


def test_a_failed_encoder_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "embeddings.mp4"
    target.write_bytes(b"old")

    def broken(self: Stage):
        yield np.zeros((*self.size[::-1], 4), np.uint8)
        raise RuntimeError("stopped while drawing")

    monkeypatch.setattr(Stage, "frames", broken)
    with pytest.raises(RuntimeError):
        render(subject_of("plus_last_even"), "embeddings", tmp_path, width=WIDTH)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["embeddings.mp4"]


def test_one_encoder_that_dies_ends_both_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, start, frames = [], encoder.start, Stage.frames

    def remember(*wishes):
        started.append(start(*wishes))
        return started[-1]

    def deadly(self: Stage):
        for index, pixels in enumerate(frames(self)):
            if index == 2:
                started[0].kill()
                started[0].wait()
            yield pixels

    monkeypatch.setattr(encoder, "start", remember)
    monkeypatch.setattr(Stage, "frames", deadly)
    with pytest.raises(UserError, match=r"cannot write .*embeddings.mp4: ffmpeg stopped without a word"):
        render(subject_of("plus_last_even"), "embeddings", tmp_path, ("mp4", "gif"), width=WIDTH)
    assert not list(tmp_path.iterdir())
    assert all(process.poll() is not None for process in started)


def test_what_ffmpeg_says_becomes_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "embeddings.mp4").mkdir()
    (tmp_path / "embeddings.mp4" / "inside").touch()
    with pytest.raises(UserError, match=r"cannot write .*embeddings.mp4"):
        render(subject_of("plus_last_even"), "embeddings", tmp_path, width=WIDTH, every=11)
    assert [path.name for path in tmp_path.iterdir()] == ["embeddings.mp4"]


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
        render(subject_of("plus_last_even"), asked.pop("which"), tmp_path / "new", **asked)
    assert not (tmp_path / "new").exists()


def test_without_a_history_the_reason_is_given(tmp_path: Path) -> None:
    bare = replace(subject_of("plus_last_even"), past=Past())
    with pytest.raises(
        UserError, match="has no saved steps to film: it was built by hand or came as finished"
    ):
        render(bare, "embeddings", tmp_path)


def test_without_evaluations_there_is_still_a_video() -> None:
    subject = subject_of("plus_last_even")
    bare = replace(subject, past=replace(subject.past, rows=[]))
    first, last = (frame.copy() for frame in perform(find_film("qkv"), bare, [0, 11], LIGHT, WIDTH).frames())
    assert (first != last).any()


def test_a_checkpoint_is_the_model_of_that_step() -> None:
    subject = subject_of("plus_last_even")
    early = checkpoint(subject, 3)
    assert early.step == subject.past.history.steps[3]
    assert np.array_equal(early.model.params["token.weight"], subject.past.history.params["token.weight"][3])


def test_choose_films_come_in_the_order_of_the_set() -> None:
    assert [video.id for video in choose_films(["residual", "embeddings"])] == ["embeddings", "residual"]
    assert choose_films() == FILMS


def test_the_list_of_videos_imports_no_matplotlib() -> None:
    code = "import sys, glassformer.draw.video; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
