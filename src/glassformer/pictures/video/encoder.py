"""Frames into files: raw pixels stream into ffmpeg, which writes beside the target; then it is renamed.

MP4 is H.264, yuv420p in BT.709, with its index in front: browsers and players open it and begin at once.
GIF is at most 720 pixels wide and has about 120 frames at most. Its delays are whole hundredths of a second:

>>> choose_gif_timing(101, 20), choose_gif_timing(4, 24).delay
(_GifTiming(step=1.0, delay=5, shown=101), 5)
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from glassformer.core.atomic import remove_unfinished
from glassformer.core.errors import UserError

if TYPE_CHECKING:
    from glassformer.pictures.video.stage import Stage

_GIF_WIDTH, GIF_FRAMES = 720, 120  # at most
_FASTEST_DELAY = 2  # hundredths of a second; browsers slow shorter ones down to 10
_LAST_DELAY = 150  # hundredths of a second that a GIF stays at its last frame before it begins anew

_Write = Callable[[np.ndarray], None]


class _GifTiming(NamedTuple):
    """Which frames a GIF shows, and for how long."""

    step: float  # frames of the video from one of the GIF to the next
    delay: int  # hundredths of a second
    shown: int  # frames

    def frames(self, last: int) -> list[int]:
        """Their numbers; the first and the last are always among them."""
        return sorted({*(round(self.step * index) for index in range(self.shown - 1)), last})


def choose_gif_timing(count: int, fps: float) -> _GifTiming:
    """The shortest exact delay that keeps the speed and the cap; whole steps where a near one has them."""
    least = max(_FASTEST_DELAY, ceil(100 / fps * max(1.0, (count - 1) / (GIF_FRAMES - 1)) - 1e-9))
    candidates = range(least, least + least // 2 + 1)
    regular = [delay for delay in candidates if abs(delay * fps / 100 - round(delay * fps / 100)) < 1e-9]
    delay = regular[0] if regular else least
    step = delay * fps / 100
    return _GifTiming(step, delay, 1 + ceil((count - 1) / step - 1e-9))


def encode_film(stage: "Stage", stem: Path, formats: Sequence[str], fps: float) -> list[Path]:
    """Every frame is drawn once and goes to each format that shows it."""
    wide, high = stage.size
    timing = choose_gif_timing(stage.count, fps)
    rates = {"mp4": f"{fps:g}", "gif": f"100/{timing.delay}"}
    options = {"mp4": _list_mp4_options(fps), "gif": _list_gif_options(wide)}
    shown = {"mp4": set(range(stage.count)), "gif": set(timing.frames(stage.count - 1))}
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    with ExitStack() as stack:
        writers = [
            stack.enter_context(_open_encoder(path, (wide, high), rates[kind], options[kind]))
            for path, kind in zip(paths, formats, strict=True)
        ]
        for index, pixels in enumerate(stage.frames()):
            for write, kind in zip(writers, formats, strict=True):
                if index in shown[kind]:
                    write(pixels)
    return paths


def _list_mp4_options(fps: float) -> list[str]:
    colours = "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int"
    return [
        *("-vf", f"{colours},format=yuv420p"),
        *("-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-threads", "1"),
        *("-g", f"{max(1, round(2 * fps))}"),  # a key frame every two seconds, to jump to
        *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"),
        *("-movflags", "+faststart", "-f", "mp4"),
    ]


def _list_gif_options(wide: int) -> list[str]:
    smaller = f"scale={_GIF_WIDTH}:-2:flags=area," if wide > _GIF_WIDTH else ""
    palette = "split[seen][kept];[seen]palettegen=stats_mode=full[colours]"
    used = "[kept][colours]paletteuse=dither=none:diff_mode=rectangle"
    return [
        *("-filter_complex", f"{smaller}{palette};{used}"),
        *("-loop", "0", "-final_delay", f"{_LAST_DELAY}", "-f", "gif"),
    ]


@contextmanager
def _open_encoder(path: Path, size: tuple[int, int], rate: str, options: Sequence[str]) -> Iterator[_Write]:
    """A running ffmpeg that takes RGBA frames; the file appears when all went well, and else not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    remove_unfinished(path)
    process = start_ffmpeg(beside, size, rate, options)
    try:
        yield lambda pixels: _send_frame(process, pixels, path)
        _finish_video(process, beside, path)
    finally:
        _close_ffmpeg(process)
        with suppress(OSError):
            beside.unlink()


def start_ffmpeg(
    beside: Path, size: tuple[int, int], rate: str, options: Sequence[str]
) -> "subprocess.Popen[bytes]":
    command = [
        *(find_ffmpeg(), "-hide_banner", "-loglevel", "error", "-nostdin", "-y"),
        *("-f", "rawvideo", "-pix_fmt", "rgba", "-video_size", f"{size[0]}x{size[1]}"),
        *("-framerate", rate, "-i", "pipe:0", *options, f"file:{beside}"),
    ]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def find_ffmpeg() -> str:
    """The program that the extra `video` brings, or one that is there anyway."""
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError:
        found = os.environ.get("IMAGEIO_FFMPEG_EXE") or shutil.which("ffmpeg")
        if not found:
            raise UserError(
                "a video needs ffmpeg: pip install 'glassformer[video]', or have one of your own on the path"
            ) from None
        return found
    return str(imageio_ffmpeg.get_ffmpeg_exe())


def _send_frame(process: "subprocess.Popen[bytes]", pixels: np.ndarray, path: Path) -> None:
    """One frame; where ffmpeg has closed its end, what it said."""
    assert process.stdin is not None and process.stderr is not None
    try:
        process.stdin.write(pixels.data)
    except OSError:
        process.kill()  # so that what it said has an end
        raise UserError(f"cannot write {path}: {_quote_complaint(process.stderr.read())}") from None


def _finish_video(process: "subprocess.Popen[bytes]", beside: Path, path: Path) -> None:
    """The last frames, and the file to its place."""
    try:
        _, complaint = process.communicate()
        if process.returncode:
            raise OSError(_quote_complaint(complaint))
        beside.replace(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None


def _close_ffmpeg(process: "subprocess.Popen[bytes]") -> None:
    """Ended, if it has not, with nothing left open."""
    if process.poll() is None:
        process.kill()
    for pipe in (process.stdin, process.stderr):
        with suppress(OSError):  # frames that nobody has read
            if pipe:
                pipe.close()
    process.wait()


def _quote_complaint(complaint: bytes) -> str:
    lines = complaint.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "ffmpeg stopped without a word"
