"""One input of a rule or a question as a model reads it: tokens, attention, residual stream."""

from functools import cached_property
from typing import Any

import numpy as np

from glassformer.models.margins import measure_margins
from glassformer.pages.pack import unpack_array
from glassformer.pages.story import (
    Chapter,
    StorySubject,
    describe_attention_row,
    make_chapter,
    pick_named_positions,
)
from glassformer.pages.story_past import tell_parameters, tell_proof, tell_seeds, tell_training
from glassformer.pages.words import format_number, group_digits
from glassformer.pages.worst import compute_last_logits
from glassformer.pictures.measure.demand import find_source
from glassformer.proofs.contexts import find_window_demand
from glassformer.tasks.automaton import Automaton

_SHOWN = 3  # positions that a sentence names, and dimensions that it gives


class InputReading:
    """The page's first input as the model reads it, in double precision."""

    def __init__(self, tale: StorySubject, automaton: Automaton) -> None:
        self.tale, self.automaton = tale, automaton
        self.tokens = automaton.ids(tale.input)
        self.last = len(self.tokens) - 1
        self.allowed = find_window_demand(automaton, self.tokens, tale.model.architecture.context)

    @cached_property
    def trace(self) -> dict[str, np.ndarray]:
        return self.tale.model.trace(self.tokens)

    @cached_property
    def logits(self) -> np.ndarray:
        return np.asarray(self.trace["logits"][self.last], np.float64)

    @property
    def best(self) -> int:
        return int(self.logits.argmax())

    @property
    def margin(self) -> float | None:
        """Best allowed logit minus best other one; None where nothing is demanded."""
        if self.allowed is None or self.allowed.all():
            return None
        return float(measure_margins(self.logits[:, None], self.allowed[:, None])[0])

    def named(self, place: int) -> str:
        """A token with its position, as `4 (position 2)`."""
        return f"{self.automaton.tokens[self.tokens[place]]} (position {place})"

    @cached_property
    def source(self) -> int | None:
        """The earliest token that determines what is allowed; None for a prompt, or where all is allowed."""
        if self.allowed is None or self.automaton.length:
            return None
        return find_source(self.automaton, self.tokens, self.tale.model.architecture.context)


def tell_reading(reading: InputReading) -> Chapter:
    """Tokens and positions as vectors."""
    shape, last = reading.tale.model.architecture, reading.last
    joined = (
        "with that of its position stacked under it" if shape.position_dims else "plus that of its position"
    )
    places = f", {joined} (0 to {shape.context - 1})"
    has_places = shape.position.kind != "none"
    start = _vector_words(reading.trace["embedded"][last])
    return make_chapter(
        "Tokens as vectors",
        [
            f"Each token becomes a vector of width {group_digits(shape.width)}: the token's embedding"
            f"{places if has_places else ', the same at every position'}.",
            f"The last token, {reading.named(last)}, starts at {start}." if start else "",
            _tell_elsewhere(reading) if start and has_places else "",
        ],
        "geometry",
        place=last,
    )


def _tell_elsewhere(reading: InputReading) -> str:
    """Where the last token would start at the first position."""
    if not reading.last:
        return ""
    token = reading.tokens[reading.last]
    start = reading.tale.model.trace(np.array([token, token]))["embedded"][0]
    return f"At position 0 the same token would start at {_vector_words(start)}."


def tell_attention(reading: InputReading) -> Chapter | None:
    """The attention weights of the last position, head by head."""
    layer, heads = reading.tale.attending()
    if layer < 0:
        return None
    prefix = reading.tale.page["model"]["layers"][layer]["prefix"]
    rows = [np.asarray(reading.trace[f"{prefix}attn.weights.{head}"][-1]) for head in range(heads)]
    sharpest = int(np.argmax([row.max() for row in rows]))
    text = [f"From {reading.named(reading.last)}, attention reads the positions up to it."]
    if heads > 1:
        text.append(f"Of the {heads} heads, head {sharpest} is the sharpest here.")
    text += [
        f"It gives {describe_attention_row(rows[sharpest], reading.named, _SHOWN)}.",
        _tell_source(reading, rows[sharpest]),
    ]
    return make_chapter("Attention", text, "attention", place=reading.last, layer=layer, head=sharpest)


def _tell_source(reading: InputReading, row: np.ndarray) -> str:
    """The weight of the token that determines what is allowed, where it is not named yet."""
    if reading.source is None or reading.source in pick_named_positions(row, _SHOWN):
        return ""
    return (
        f"{reading.named(reading.source)}, which determines what is allowed, gets "
        f"weight {format_number(row[reading.source])}."
    )


def tell_moves(reading: InputReading) -> Chapter:
    """What attention and the feed-forward layer add at the last position."""
    index = len(reading.tale.page["model"]["layers"]) - 1
    layer = reading.tale.page["model"]["layers"][index]
    prefix, last = layer["prefix"], reading.last
    text = [
        f"Layer {index} changes the residual stream at the last position."
        if index
        else "The layer changes the residual stream at the last position."
    ]
    if layer["attention"]:
        text.append(f"Attention writes {_arrow_words(reading.trace[f'{prefix}attn.output'][last])}.")
    if layer["feedforward"]:
        text.append(
            f"The feed-forward layer writes {_arrow_words(reading.trace[f'{prefix}ff.output'][last])}."
        )
    end = _vector_words(reading.trace[f"{prefix}stream"][last])
    kept = "This is added to the stream" if layer["residual"] else "This replaces the stream"
    text.append(f"{kept}{f', which ends at {end}' if end else ''}.")
    return make_chapter("The residual stream", text, "geometry", "residual stream", place=last, layer=index)


def end_story(reading: InputReading, first: list[Chapter | None]) -> list[Chapter | None]:
    """The chapters of one input, then those of the whole model: its past, its proof, its parameters."""
    tale = reading.tale
    past = [tell_training(tale, "prediction"), tell_proof(tale, reading.margin), tell_seeds(tale)]
    told = [one for one in (*first, *past) if one is not None]
    return [*told, tell_parameters(tale, *_count_wrong_contexts(tale))]


def _count_wrong_contexts(tale: StorySubject) -> tuple[int, int]:
    """How many inputs of the test set are wrong, and how many there are."""
    test: dict[str, Any] = tale.page["test"]
    tokens, lengths = unpack_array(test["tokens"]), unpack_array(test["lengths"])
    if not len(lengths):
        return 0, 0
    margins = measure_margins(
        compute_last_logits(tale.model, tokens, lengths), unpack_array(test["allowed"]).astype(bool)
    )
    return int((~(margins > 0)).sum()), len(lengths)


def _vector_words(vector: np.ndarray) -> str:
    """`(0.12, 3.4)`, where that can be read."""
    return f"({', '.join(format_number(value) for value in vector)})" if len(vector) <= _SHOWN else ""


def _arrow_words(vector: np.ndarray) -> str:
    size = format_number(float(np.linalg.norm(vector)))
    words = _vector_words(vector)
    return f"{words}, of length {size}" if words else f"a vector of length {size}"


def lower_first_letter(text: str) -> str:
    """The first word as it stands inside a sentence; signs and names stay."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
