"""Where real contexts land on a landscape: the points of its maps, and what is counted over them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float16, Int, UInt8

from glassformer.core.errors import UserError
from glassformer.pictures.measure.landscape import Landscape
from glassformer.pictures.measure.plane import Plane
from glassformer.pictures.measure.subject import Subject

_MOST_MAPS = 30  # tokens with a map of their own; of more those that are answered most
_SHOWN, _AROUND = 400, 40  # contexts shown at their last position, and those shown at all their positions


@dataclass(frozen=True, eq=False)
class Landings:
    """Some of the trials where they land, and what is counted over all of them."""

    tokens: tuple[str, ...]
    points: Float[np.ndarray, "point 2"]  # at the last position of a context
    predicted: Int[np.ndarray, " point"]  # the token that the model really predicts there
    others: Float[np.ndarray, "other 2"]  # at earlier positions that are asked too
    others_predicted: Int[np.ndarray, " other"]
    answers: Int[np.ndarray, " answer"]  # every token that is predicted at a last position
    contexts: int  # all that were tried
    right: int  # of them with a token that is allowed


@dataclass(frozen=True, eq=False)
class TokenMaps:
    """A landscape as it is saved with its figure; half precision is enough for a map."""

    limits: Float[np.ndarray, "2 2"]
    winner: UInt8[np.ndarray, "y x"]
    entropy: Float16[np.ndarray, "y x"]
    probability: Float16[np.ndarray, "map y x"]
    maps: Int[np.ndarray, " map"]  # the tokens that have a map of their own
    agreeing: int  # points that have the colour of the map under them


def collect_trial_states(subject: Subject, name: str) -> Float[np.ndarray, "trial pos dim"]:
    """The stream at every position of the trials; a rule without trials has nothing to land."""
    if not len(subject.trials):
        raise UserError(
            f"{subject.name}: the {subject.law} asks for nothing that the window tells, so nothing lands"
        )
    return subject.trial_traces[f"{subject.layer}{name}"]


def collect_landings(subject: Subject, drawn: Float[np.ndarray, "trial pos 2"]) -> Landings:
    """What is shown of the trials, drawn where they land, and what is counted over all of them."""
    predicted = subject.trial_traces["logits"].argmax(-1)  # trial pos
    shown, around = (_space_indices(len(drawn), count) for count in (_SHOWN, _AROUND))
    answers = predicted[:, -1]
    earlier = range(drawn.shape[1])[subject.inputs.asked][:-1]  # positions that have answers of their own
    return Landings(
        tokens=subject.tokens,
        points=drawn[shown, -1],
        predicted=answers[shown],
        others=drawn[around][:, earlier].reshape(-1, 2),
        others_predicted=predicted[around][:, earlier].ravel(),
        answers=np.unique(answers),
        contexts=len(drawn),
        right=int(subject.trials.allowed[np.arange(len(drawn)), answers].sum()),
    )


def make_token_maps(land: Landscape, found: Landings) -> TokenMaps:
    """The tokens that get a map of their own, and how many points have the colour under them."""
    under = [land.winner_at(points) for points in (found.points, found.others)]
    maps = np.union1d(found.answers, np.concatenate(under))
    if len(maps) > _MOST_MAPS:
        often = np.bincount(found.predicted, minlength=len(found.tokens))
        maps = np.sort(np.argsort(-often, kind="stable")[:_MOST_MAPS])
    return TokenMaps(
        limits=land.limits,
        winner=land.winner,
        entropy=land.entropy.astype(np.float16),
        probability=np.moveaxis(land.probability[..., maps], -1, 0).astype(np.float16),
        maps=maps,
        agreeing=int((under[0] == found.predicted).sum()),
    )


def describe_mapped_tokens(count: int) -> str:
    """Which tokens have one of this many maps, after `that real contexts are`."""
    return "answered with or land on" if count < _MOST_MAPS else "answered with most"


def describe_projection(plane: Plane, agreeing: int, count: int) -> str:
    """What a reader must know of the projection; nothing where the map is the whole plane."""
    if len(plane.through) <= 2:
        return plane.note
    return f"{plane.note} {agreeing} of the {count} large points have the colour of the slice under them."


def require_true_slice(plane: Plane, agreeing: int, count: int) -> None:
    """A slice that shows most predictions as they are not would mislead."""
    dims = len(plane.through)
    if dims > 2 and 2 * agreeing < count:
        raise UserError(
            f"a plane through {dims} dimensions gives {agreeing} of {count} states the token that the model "
            "predicts, too few for a map"
        )


def _space_indices(count: int, wanted: int) -> Int[np.ndarray, " chosen"]:
    """Indices from all over a list."""
    return np.unique(np.linspace(0, count - 1, min(wanted, count)).astype(int))


def format_part(part: int, whole: int) -> str:
    """`all 4,000` or `3,998 of 4,000`."""
    return f"all {whole:,}" if part == whole else f"{part:,} of {whole:,}"


def capitalise_text(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]
