"""One input as a model reads it, of a rule or a question: its tokens, its attention, its stream."""

from functools import cached_property
from typing import Any

import numpy as np

from glassformer.draw.measure.demand import source_place
from glassformer.page.pack import unpacked
from glassformer.page.story import Chapter, Tale, chapter, looked, noticed
from glassformer.page.story_past import learned_chapter, numbers_chapter, proof_chapter, seeds_chapter
from glassformer.page.words import grouped, short
from glassformer.page.worst import last_logits
from glassformer.proof.response import demand_after, margins_of
from glassformer.tasks.automaton import Automaton

SHOWN = 3  # places that a sentence names, and dimensions whose numbers it gives


class Reading:
    """The page's first input as the model reads it, in double precision."""

    def __init__(self, tale: Tale, automaton: Automaton) -> None:
        self.tale, self.automaton = tale, automaton
        self.tokens = automaton.ids(tale.input)
        self.last = len(self.tokens) - 1
        self.allowed = demand_after(automaton, self.tokens, tale.model.architecture.context)

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
        """Best allowed logit less best other one; none where nothing is demanded."""
        if self.allowed is None or self.allowed.all():
            return None
        return float(margins_of(self.logits[:, None], self.allowed[:, None])[0])

    def named(self, place: int) -> str:
        """A token with its place, as `4 (place 2)`."""
        return f"{self.automaton.tokens[self.tokens[place]]} (place {place})"

    @cached_property
    def source(self) -> int | None:
        """The earliest token that tells what is demanded; none where it is open, or needs a whole prompt."""
        if self.allowed is None or self.automaton.length:
            return None
        return source_place(self.automaton, self.tokens, self.tale.model.architecture.context)


def tell_reading(reading: Reading) -> Chapter:
    """Tokens and places as vectors."""
    shape, last = reading.tale.model.architecture, reading.last
    joined = "stacked under" if shape.position_dims else "added to"
    places = f", and {joined} them those of its place (0 to {shape.context - 1})"
    has_places = shape.position.kind != "none"
    start = _vector_words(reading.trace["embedded"][last])
    return chapter(
        "What the model reads",
        [
            f"Each token becomes {grouped(shape.width)} numbers: those of the token"
            f"{places if has_places else ', the same at every place'}.",
            f"The last token, {reading.named(last)}, begins at {start}." if start else "",
            _tell_elsewhere(reading) if start and has_places else "",
        ],
        "geometry",
        place=last,
    )


def _tell_elsewhere(reading: Reading) -> str:
    """Where the last token would begin at the first place."""
    if not reading.last:
        return ""
    token = reading.tokens[reading.last]
    start = reading.tale.model.trace(np.array([token, token]))["embedded"][0]
    return f"At place 0 the same token would begin at {_vector_words(start)}."


def tell_attention(reading: Reading) -> Chapter | None:
    """The weights of the last place, head by head."""
    layer, heads = reading.tale.attending()
    if layer < 0:
        return None
    prefix = reading.tale.page["model"]["layers"][layer]["prefix"]
    rows = [np.asarray(reading.trace[f"{prefix}attn.weights.{head}"][-1]) for head in range(heads)]
    sharpest = int(np.argmax([row.max() for row in rows]))
    text = [f"From {reading.named(reading.last)} attention looks at the places up to it."]
    if heads > 1:
        text.append(f"Of the {heads} heads, head {sharpest} is the most sure here.")
    text += [
        f"It gives {looked(rows[sharpest], reading.named, SHOWN)}.",
        _tell_source(reading, rows[sharpest]),
    ]
    return chapter("Who is looked at", text, "attention", place=reading.last, layer=layer, head=sharpest)


def _tell_source(reading: Reading, row: np.ndarray) -> str:
    """The weight of the token that tells what is demanded, where it is not named yet."""
    if reading.source is None or reading.source in noticed(row, SHOWN):
        return ""
    return (
        f"{reading.named(reading.source)}, which tells what is demanded, gets {short(row[reading.source])}."
    )


def tell_moves(reading: Reading) -> Chapter:
    """How far attention and the feed-forward layer move the last place."""
    index = len(reading.tale.page["model"]["layers"]) - 1
    layer = reading.tale.page["model"]["layers"][index]
    prefix, last = layer["prefix"], reading.last
    text = [f"In layer {index} the last place moves." if index else "Now the last place moves."]
    if layer["attention"]:
        text.append(f"Attention gives it {_arrow_words(reading.trace[f'{prefix}attn.output'][last])}.")
    if layer["feedforward"]:
        text.append(
            f"The feed-forward layer gives it {_arrow_words(reading.trace[f'{prefix}ff.output'][last])}."
        )
    end = _vector_words(reading.trace[f"{prefix}stream"][last])
    kept = "Both are added to where it was" if layer["residual"] else "Each takes the place of what was there"
    text.append(f"{kept}{f': it ends at {end}' if end else ''}.")
    return chapter("What that moves", text, "geometry", "residual stream", place=last, layer=index)


def end_story(reading: Reading, first: list[Chapter | None]) -> list[Chapter | None]:
    """The chapters of one input, then those of the whole model: its past, its proof, its parameters."""
    tale = reading.tale
    past = [learned_chapter(tale, "prediction"), proof_chapter(tale, reading.margin), seeds_chapter(tale)]
    told = [one for one in (*first, *past) if one is not None]
    return [*told, numbers_chapter(tale, *count_wrong(tale))]


def count_wrong(tale: Tale) -> tuple[int, int]:
    """How many of the test set the page finds wrong."""
    test: dict[str, Any] = tale.page["test"]
    tokens, lengths = unpacked(test["tokens"]), unpacked(test["lengths"])
    if not len(lengths):
        return 0, 0
    margins = margins_of(last_logits(tale.model, tokens, lengths), unpacked(test["allowed"]).astype(bool))
    return int((~(margins > 0)).sum()), len(lengths)


def _vector_words(vector: np.ndarray) -> str:
    """`(0.12, 3.4)`, where that can be read."""
    return f"({', '.join(short(value) for value in vector)})" if len(vector) <= SHOWN else ""


def _arrow_words(vector: np.ndarray) -> str:
    size = short(float(np.linalg.norm(vector)))
    words = _vector_words(vector)
    return f"{words}, of length {size}" if words else f"a vector of length {size}"


def lower_first(text: str) -> str:
    """The first word as it stands inside a sentence; signs and names stay."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
