"""Seconds per figure, frames per CPU-second, and what drawing the axes once saves.

    python benchmarks/draw.py                        a short run of plus_last_even, 60 checkpoints, 640 pixels
    python benchmarks/draw.py runs/plus_last_even --checkpoints 200 --width 1280

CPU-seconds of this process and of the encoder. The baseline of the videos is the usual script: a figure of
the same content built anew and drawn for every frame, measured on a few frames of the same run.
"""

import argparse
import os
import resource
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.examples import short_run
from glassformer.core.theme import THEMES
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.picture import Picture
from glassformer.pictures.registry import FIGURES, FILMS
from glassformer.pictures.save import save_data, save_figure
from glassformer.pictures.video import render_video
from glassformer.runs.history import History
from glassformer.runs.load import load_model

LIGHT = THEMES["light"]
PLAIN = {"embeddings": "06", "landscape": "07", "residual": "15"}  # figures that show what a video shows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", nargs="?", type=Path, help="a run folder; none: a short run is made")
    parser.add_argument("--checkpoints", type=int, default=60, help="of the videos; more are made up between")
    parser.add_argument("--width", type=int, default=640, help="of the videos, in pixels")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.run or short_run(Path(scratch))
        subject = make_subject(load_model(folder), folder.name, folder)
        figures(subject, Path(scratch))
        videos(stretched(subject, asked.checkpoints), asked.width, Path(scratch))
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"\npeak memory {peak / 1024:.0f} MB")


def cpu() -> float:
    """User and system seconds, of this process and of those that it waited for."""
    return sum(os.times()[:4])


def figures(subject: Subject, scratch: Path) -> None:
    print(f"{'figure':<34}{'compute':>9}{'draw':>9}{'save':>9}   CPU-seconds")
    total = 0.0
    for picture in FIGURES:
        spent = one_figure(picture, subject, scratch)
        total += sum(spent)
        print(f"{picture.id + ' ' + picture.name:<34}" + "".join(f"{seconds:>9.2f}" for seconds in spent))
    print(f"{'all ' + str(len(FIGURES)):<34}{total:>27.2f}")


def one_figure(picture: Picture, subject: Subject, scratch: Path) -> tuple[float, float, float]:
    start = cpu()
    data = picture.compute(subject)
    computed = cpu()
    figure = picture.draw(data, LIGHT)
    drawn = cpu()
    save_figure(figure, scratch / picture.file, ("png",), LIGHT)
    save_data(scratch, picture.id, data, {})
    return computed - start, drawn - computed, cpu() - drawn


def stretched(subject: Subject, checkpoints: int) -> Subject:
    """The same run with so many checkpoints, in between the saved ones."""
    history = subject.past.history
    assert history is not None, "the run has no history"
    where = np.linspace(0, len(history.steps) - 1, checkpoints)
    low, share = np.floor(where).astype(int), where % 1
    high = np.minimum(low + 1, len(history.steps) - 1)

    def between(stacked: np.ndarray) -> np.ndarray:
        weight = share.reshape(-1, *([1] * (stacked.ndim - 1)))
        return np.asarray((1 - weight) * stacked[low] + weight * stacked[high], stacked.dtype)

    steps = np.round(between(history.steps.astype(float))).astype(int)
    made = History(steps, {name: between(stacked) for name, stacked in history.params.items()})
    return replace(subject, past=replace(subject.past, history=made))


def videos(subject: Subject, width: int, scratch: Path) -> None:
    assert subject.past.history is not None
    frames = len(subject.past.history.steps)
    print(f"\n{'video':<20}{'CPU-seconds':>12}{'frames a CPU-s':>16}{'redrawn':>10}{'times':>8}")
    total = 0.0
    for video in FILMS:
        start = cpu()
        render_video(subject, video.id, scratch, ("mp4",), 20, 1, width, LIGHT)
        spent = cpu() - start
        total += spent
        plain = redrawn(subject, video.id)
        ratio = f"{plain:>10.1f}{frames / spent / plain:>8.1f}" if plain else ""
        print(f"{video.id:<20}{spent:>12.1f}{frames / spent:>16.1f}{ratio}")
    print(f"{'all':<20}{total:>12.1f}{len(FILMS) * frames / total:>16.1f}   {frames} checkpoints, {width} px")


def redrawn(subject: Subject, video: str, frames: int = 4) -> float:
    """Frames per CPU-second of the usual way: a figure of the same content, built and drawn for each."""
    number = PLAIN.get(video)
    if number is None:
        return 0.0
    picture = next(one for one in FIGURES if one.id == number)
    history = subject.past.history
    assert history is not None
    start = cpu()
    for index in np.linspace(0, len(history.steps) - 1, frames).astype(int):
        moment = replace(subject, model=replace(subject.model, params=history.at(int(index))))
        picture.draw(picture.compute(moment), LIGHT).canvas.draw()
    return frames / (cpu() - start)


if __name__ == "__main__":
    main()
