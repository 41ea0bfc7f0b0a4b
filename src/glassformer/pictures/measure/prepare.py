"""From a loaded model to the subject of its figures: the step, the inputs to follow, the past."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from glassformer.core.errors import UserError, require_value
from glassformer.models.lengths import is_any_length
from glassformer.pictures.measure.inputs import INPUTS, Pair
from glassformer.pictures.measure.subject import Past, Subject
from glassformer.runs.folder import read_stored_run
from glassformer.runs.history import read_history, read_seed
from glassformer.runs.load import LoadedModel
from glassformer.runs.metrics import find_metrics
from glassformer.tasks.addition import count_digits

_MOST_DIGITS = 20  # of a pair; more columns than that nobody can read
_OPTIONS = {"pair": "--pair", "sequences": "--sequence", "query": "--query", "dims": "--dims"}


def make_subject(
    loaded: LoadedModel,
    name: str,
    folder: Path | None = None,
    step: int | None = None,
    sequences: Sequence[str] = (),
    pair: Pair | None = None,
    dims: tuple[int, int] | None = None,
    query: str | None = None,
) -> Subject:
    """A model of any task, at a saved step where one is asked for; the user's inputs come first."""
    past = _read_past(folder) if folder else Past()
    own, loaded = _count_own_digits(loaded), _lengthen_for_pair(loaded, pair)
    subject = Subject(loaded, loaded.task, loaded.data, name, (), None, past, dims, None, pair, folder, own)
    _refuse_others(subject, {"pair": pair, "sequences": sequences, "query": query, "dims": dims})
    _require_dims(dims, loaded.architecture.width)
    if step is not None:
        subject = load_subject_step(subject, step)
    followed = subject.inputs.follow(tuple(sequences), pair)
    return replace(subject, sequences=followed, query=_read_query(subject, query))


def _count_own_digits(loaded: LoadedModel) -> int | None:
    """Of an adder's numbers; none of other models."""
    return loaded.addition.digits if loaded.task.family == "addition" else None


def _lengthen_for_pair(loaded: LoadedModel, pair: Pair | None) -> LoadedModel:
    """The adder for longer numbers where the pair has them; as it is where it takes one length alone."""
    if pair is None or loaded.task.family != "addition" or min(pair) < 0:
        return loaded
    own, needed = loaded.addition.digits, max(count_digits(one, loaded.addition.base) for one in pair)
    if needed <= own or not is_any_length(loaded.architecture, loaded.addition):
        return loaded
    if needed > _MOST_DIGITS:
        raise UserError(f"--pair: a picture has room for {_MOST_DIGITS} digits, and a number has {needed:,}")
    return loaded.with_digits(needed)


def load_subject_step(subject: Subject, step: int) -> Subject:
    """The same subject with the weights of a saved step."""
    history = subject.past.history
    if history is None:
        raise UserError(f"{subject.name} has no saved steps (a run folder has); leave --step out")
    params = history.at(history.index_of(step))
    return replace(subject, model=replace(subject.model, params=params), step=step)


def _read_past(folder: Path) -> Past:
    """What a run folder tells of the training."""
    rows = find_metrics(folder)
    return Past(read_history(folder), rows, read_seed(folder), read_stored_run(folder))


def _refuse_others(subject: Subject, wishes: dict[str, object]) -> None:
    """One sentence for an option that is for models of another family."""
    inputs, ability = subject.inputs, subject.task.words.ability
    for option, value in wishes.items():
        if value and option not in inputs.options:
            meant = next(other.meant_for for other in INPUTS.values() if option in other.options)
            raise UserError(f"{_OPTIONS[option]} is for {meant}; {subject.name} {ability}: {inputs.instead}")


def _require_dims(dims: tuple[int, int] | None, width: int) -> None:
    """Two dimensions that the model has."""
    is_good = dims is None or (min(dims) >= 0 and max(dims) < width and dims[0] != dims[1])
    require_value(is_good, "--dims", f"two of the dimensions 0 to {width - 1}", dims)


def _read_query(subject: Subject, text: str | None) -> tuple[int, int] | None:
    """`+@7`: token and position of one query."""
    if text is None:
        return None
    token, _, place = text.rpartition("@")
    if not token.strip() or not place.isdigit() or int(place) >= subject.context:
        raise UserError(
            f"--query must be TOKEN@POSITION with a position from 0 to {subject.context - 1}, "
            f"but it is '{text}'"
        )
    return int(subject.automaton.ids(token)[0]), int(place)
