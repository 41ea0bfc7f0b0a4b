"""Where real contexts land on a landscape: the points of its maps, and what is counted over them."""

import numpy as np
from jaxtyping import Float, Int

from glassformer.draw.measure.landscape import Landscape
from glassformer.draw.measure.plane import Plane
from glassformer.draw.measure.subject import Subject
from glassformer.draw.picture import Data
from glassformer.errors import UserError

MOST_MAPS = 30  # tokens with a map of their own; of more those that are answered most
SHOWN, AROUND = 400, 40  # contexts shown at their last place, and those shown at all their places


def real_states(subject: Subject, name: str) -> Float[np.ndarray, "trial pos dim"]:
    """The stream at every place of the trials; a rule without trials has nothing to land."""
    if not len(subject.trials):
        raise UserError(
            f"{subject.name}: the {subject.law} asks for nothing that the window tells, so nothing lands"
        )
    return subject.trial_traces[f"{subject.layer}{name}"]


def landings(subject: Subject, drawn: Float[np.ndarray, "trial pos 2"]) -> Data:
    """What is shown of the trials, drawn where they land, and what is counted over all of them."""
    predicted = subject.trial_traces["logits"].argmax(-1)  # trial pos
    shown, around = (spaced(len(drawn), count) for count in (SHOWN, AROUND))
    answers = predicted[:, -1]
    earlier = range(drawn.shape[1])[subject.inputs.asked][:-1]  # places that have answers of their own
    return {
        "tokens": subject.tokens,
        "points": drawn[shown, -1],
        "predicted": answers[shown],
        "others": drawn[around][:, earlier].reshape(-1, 2),
        "others_predicted": predicted[around][:, earlier].ravel(),
        "answers": np.unique(answers),
        "contexts": len(drawn),
        "right": int(subject.trials.allowed[np.arange(len(drawn)), answers].sum()),
    }


def mapped(land: Landscape, found: Data) -> Data:
    """The tokens that get a map of their own, and how many points have the colour under them."""
    under = [land.winner_at(found[name]) for name in ("points", "others")]
    maps = np.union1d(found["answers"], np.concatenate(under))
    if len(maps) > MOST_MAPS:
        often = np.bincount(found["predicted"], minlength=len(found["tokens"]))
        maps = np.sort(np.argsort(-often, kind="stable")[:MOST_MAPS])
    return {
        "limits": land.limits,
        "winner": land.winner,
        "entropy": land.entropy.astype(np.float16),  # maps are saved with their figure: half is enough
        "probability": np.moveaxis(land.probability[..., maps], -1, 0).astype(np.float16),  # map y x
        "maps": maps,
        "agreeing": int((under[0] == found["predicted"]).sum()),
    }


def mapped_words(data: Data) -> str:
    """Which tokens have a map, after `that real contexts are`."""
    return "answered with or land on" if len(data["maps"]) < MOST_MAPS else "answered with most"


def remark(plane: Plane, found: Data) -> str:
    """What a reader must know of the projection; nothing where the map is the whole plane."""
    if len(plane.through) <= 2:
        return plane.note
    same, count = found["agreeing"], len(found["points"])
    return f"{plane.note} {same} of the {count} large points have the colour of the slice under them."


def require_true_slice(plane: Plane, found: Data) -> None:
    """A slice that shows most predictions as they are not would mislead."""
    dims, same, count = len(plane.through), found["agreeing"], len(found["points"])
    if dims > 2 and 2 * same < count:
        raise UserError(
            f"a plane through {dims} dimensions gives {same} of {count} states the token that the model "
            "predicts, too few for a map"
        )


def spaced(count: int, wanted: int) -> Int[np.ndarray, " chosen"]:
    """Indices from all over a list."""
    return np.unique(np.linspace(0, count - 1, min(wanted, count)).astype(int))


def counted(part: int, whole: int) -> str:
    """`all 4,000` or `3,998 of 4,000`."""
    return f"all {whole:,}" if part == whole else f"{part:,} of {whole:,}"


def sentence(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]
