"""The adders of a poster, once more from the raw weights in plain NumPy."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
from matplotlib.figure import Figure
from scipy.special import erf

from glassformer.core.theme import Theme
from glassformer.pictures.measure.prepare import make_subject
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.matrices import PARAMETER
from glassformer.pictures.poster.sums import Sums
from glassformer.pictures.registry import PANELS
from glassformer.runs.load import load_model
from glassformer.tasks import to_digits

MICRO, PAIR = "microadder-57", (8497236518, 6502763594)
CAPTIONS = (  # how those of microadder-57's panels begin, for its hardest pair
    "How the data flow for 121 + 929.",
    "Token embeddings (arc, 3 parameters), on an arc of radius 10.6",
    "Positions: a table of kind spiral with 6 stored parameters.",
    "3 norms on the stream.",
    "Attention of every head for 121 + 929, ",
    "Attention's output: measured rank 1, first direction ",
    "Each of the 57 parameters, by name.",
    "121 + 929 as the model computes it: it writes 1050, and 1050 is right.",
    "Verdict: proved (the zoo's list of verdicts).",
)


@cache
def subject_of(name: str, pair: tuple[int, int] | None = None) -> Subject:
    return make_subject(load_model(name), name, pair=pair)


def sums_of(name: str, pair: tuple[int, int] | None = None) -> Sums:
    return subject_of(name, pair).sums


def draw_panel(id: str, subject: Subject, theme: Theme) -> Figure:
    panel = next(one for one in PANELS if one.id == id)
    return panel.draw(panel.compute(subject), theme)


def changed(subject: Sums, name: str, factor: float = 1.3) -> Sums:
    """The same subject with one parameter changed; the verdict is left as it was."""
    params = dict(subject.model.params)
    params[name] = params[name] * factor
    return replace(subject, model=replace(subject.model, params=params))


def micro_pass(subject: Sums, tokens: list[int]) -> dict[str, np.ndarray]:
    """MicroAdder's forward pass, written out from its description (adders.md)."""
    p = {name: np.asarray(array, np.float64) for name, array in subject.model.params.items()}
    angle = p["token.start"] + np.arange(10) * p["token.stride"]
    table = p["token.amplitude"] * np.stack([np.cos(angle), np.sin(angle)], 1)
    turn = np.arange(10)
    spiral = np.stack([3.5 * np.cos(turn * math.pi / 5), 3.5 * np.sin(turn * math.pi / 5), 0.15 * turn], 1)
    where = np.concatenate([spiral, np.zeros((1, 3)), spiral, p["position.equals"][None], spiral])
    x = np.concatenate([table[tokens], where[: len(tokens)]], 1)

    def norm(v: np.ndarray) -> np.ndarray:
        return v / np.sqrt((v**2).mean(1, keepdims=True) + 1e-5) * p["attn_norm.gain"]

    h, weight, theta = norm(x), p["attn.k.weight"], p["attn.q.angle"]
    key = h[:, 2:] @ weight.T
    query = np.empty_like(key)
    for even in (0, 2):
        query[:, even] = math.cos(theta) * key[:, even] - math.sin(theta) * key[:, even + 1]
        query[:, even + 1] = math.sin(theta) * key[:, even] + math.cos(theta) * key[:, even + 1]
    scores = np.where(np.tri(len(x), dtype=bool), query @ key.T / 2, -np.inf)
    mix = np.exp(scores - scores.max(1, keepdims=True))
    mix /= mix.sum(1, keepdims=True)
    number = mix @ (h[:, :2] @ p["head.weight"]) @ p["attn.out.read"]
    z = x + number[:, None] * p["attn.out.write"]
    up = norm(z) @ p["ff.up.weight"].T
    last = z + (up * 0.5 * (1 + erf(up / math.sqrt(2)))) @ p["head.weight"]
    return {"mix": mix, "number": number, "logits": norm(last) @ p["head.weight"].T @ table.T, "table": table}


def asked(a: int, b: int) -> list[int]:
    x, y, z = (
        to_digits([number], count, 10)[:, 0].tolist() for number, count in ((a, 10), (b, 10), (a + b, 11))
    )
    return [*x, 0, *y, 0, *z[:-1]]


def shown_parameters(figure) -> dict[str, np.ndarray]:
    images = [image for axes in figure.axes for image in axes.images]
    return {
        image.get_gid().removeprefix(PARAMETER): np.ma.masked_invalid(image.get_array()).compressed()
        for image in images
        if (image.get_gid() or "").startswith(PARAMETER)
    }
