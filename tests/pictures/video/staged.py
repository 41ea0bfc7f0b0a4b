"""Films on their stages, and their points from the raw weights."""

import numpy as np

from glassformer.core.theme import THEMES
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.video.checkpoints import choose_checkpoints
from glassformer.pictures.video.render import find_film, stage_film
from glassformer.pictures.video.stage import Stage
from tests.pictures.conftest import subject_of

WIDTH = 480
LIGHT = THEMES["light"]


def staged(which: str, name: str = "plus_last_even", width: int = WIDTH, every: int = 1) -> Stage:
    subject = subject_of(name)
    return stage_film(find_film(which), subject, choose_checkpoints(subject, every), LIGHT, width)


def raw_points(subject: Subject, index: int) -> dict[str, np.ndarray]:
    """From the weights alone, for plus_last_even: two dimensions, one head."""
    stored = subject.past.history.at(index)
    token, position = stored["token.weight"], stored["position.weight"]
    sums = token[:, None] + position[None]
    return {"token": token, "position": position, "sum": sums} | {
        key: sums @ stored[f"attn.{key}.weight"].T for key in "qkv"
    }
