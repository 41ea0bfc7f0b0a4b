"""The forward pass, once, for every architecture and every backend.

e = token + position; each layer z = e + attention(norm(e)), h = z + feedforward(norm(z)); last head(norm(h)).
Axes are `dim pos batch` throughout; `last` asks for the last places only, which is all that many uses need.
"""

from collections.abc import Iterable
from dataclasses import replace

from glassformer.errors import require, unknown
from glassformer.model.architecture import Architecture, Fixed, Layer, Tie
from glassformer.model.attention import Record
from glassformer.model.blocks import Blocks, Lookup, whole
from glassformer.model.ops import Ops, Value
from glassformer.model.parameter import Parameter, Parameters
from glassformer.model.position import NoPosition
from glassformer.model.projection import fetch
from glassformer.model.token import Arc

MOST_PARAMETERS = 20_000_000  # 80 MB in float32; models that are understood have a few hundred


def parameters(model: Architecture) -> dict[str, Parameter]:
    """Everything that is stored, by name; what is tied is not there."""
    every = all_parameters(model)
    check_names(every)
    size = sum(parameter.size for parameter in every.values())
    require(size <= MOST_PARAMETERS, "the number of parameters", f"at most {MOST_PARAMETERS:,}", size)
    tied = {tie.name for tie in model.ties}
    stored = {name: parameter for name, parameter in every.items() if name not in tied}
    for tie in model.ties:
        check_tie(tie, every, stored)
    for entry in model.fixed:
        stored[entry.name] = with_fixed(entry, stored)
    return stored


def check_names(names: Iterable[str]) -> None:
    """Words with dots between them: a name becomes a name of Python's in exported files."""
    for name in names:
        plain = name.isascii() and all(word.isidentifier() for word in name.split("."))
        require(plain, "the name of a parameter", "words of letters, digits and _, with dots between", name)


def check_tie(tie: Tie, every: dict[str, Parameter], stored: dict[str, Parameter]) -> None:
    """Both names exist, the second one is stored, and the shapes agree."""
    if tie.name not in every:
        raise unknown("parameter to tie", tie.name, every)
    source = tie.to.removesuffix(".T")
    if source not in stored:
        raise unknown("stored parameter", source, stored)
    needed = every[tie.name].shape
    given = stored[source].shape[::-1] if tie.to.endswith(".T") else stored[source].shape
    require(needed == given, tie.to, f"of shape {needed}, as {tie.name}", given)


def with_fixed(entry: Fixed, stored: dict[str, Parameter]) -> Parameter:
    """The stored array with one entry less that is free."""
    if entry.name not in stored:
        raise unknown("stored parameter to fix", entry.name, stored)
    array = stored[entry.name]
    inside = len(entry.place) == len(array.shape) and all(
        0 <= index < size for index, size in zip(entry.place, array.shape, strict=True)
    )
    require(inside, f"the fixed place of {entry.name}", f"inside its shape {array.shape}", entry.place)
    free = entry.place not in {place for place, _ in array.fixed}
    require(free, f"the fixed place of {entry.name}", "fixed once", entry.place)
    return replace(array, fixed=(*array.fixed, (entry.place, entry.value)))


def all_parameters(model: Architecture) -> dict[str, Parameter]:
    """Every array that the pass reads, tied ones included."""
    every = model.token.parameters("token", model.vocab, model.token_dims)
    every |= model.position.parameters("position", model.context, model.position_dims or model.width)
    for index, layer in enumerate(model.layers):
        every |= layer_parameters(layer, prefix(model, index), model.width)
    every |= model.final_norm.parameters("final_norm", model.width)
    return every | model.head.parameters("head", model.vocab, model.width, model.token_dims)


def layer_parameters(layer: Layer, name: str, width: int) -> dict[str, Parameter]:
    found = layer.attention_norm.parameters(f"{name}attn_norm", width)
    if layer.attention:
        found |= layer.attention.parameters(f"{name}attn", width)
    found |= layer.feedforward_norm.parameters(f"{name}ff_norm", width)
    if layer.feedforward:
        found |= layer.feedforward.parameters(f"{name}ff", width)
    return found


def prefix(model: Architecture, index: int) -> str:
    """Names of a one-layer model carry no layer number."""
    return "" if len(model.layers) == 1 else f"layer{index}."


def untie(model: Architecture, params: Parameters) -> Parameters:
    """The flat dict with every tied name filled in."""
    if not model.ties:
        return params
    return dict(params) | {tie.name: fetch(params, tie.to) for tie in model.ties}


def forward(
    model: Architecture,
    ops: Ops,
    params: Parameters,
    tokens: Value,
    last: int | None = None,
    record: Record | None = None,
) -> Value:
    """Logits `tok pos batch` for tokens `pos batch`; `record` is called with every named intermediate."""
    logits, batch = whole(logits_in_blocks(model, ops, params, tokens, last, record)), tokens.shape[1]
    return logits if logits.shape[2] == batch else logits + ops.array([0.0] * batch)  # no token matters


def logits_in_blocks(
    model: Architecture,
    ops: Ops,
    params: Parameters,
    tokens: Value,
    last: int | None = None,
    record: Record | None = None,
) -> Value:
    """The same, as the backend leaves them: one array, or rows apart."""
    note, places = plainly(record), tokens.shape[0]
    require(last is None or 1 <= last <= places, "last", f"between 1 and {places} places", last)
    params = untie(model, params)
    table, x = embed(model, ops, params, tokens)
    return from_embedded(model, ops, params, table, x, last, note)


def from_embedded(
    model: Architecture, ops: Ops, params: Parameters, table: Value, x: Value, last: int | None, note: Record
) -> Value:
    """From the token table and the embedded places, whole or in blocks, to logits."""
    note("token.table", table)
    note("embedded", x)
    for index, layer in enumerate(model.layers):
        asked = (last or x.shape[1]) if index == len(model.layers) - 1 else x.shape[1]
        x = run_layer(layer, ops, params, prefix(model, index), x, asked, note)
    return read_out(model, ops, params, x, table, note)


def read_out(
    model: Architecture, ops: Ops, params: Parameters, x: Value, table: Value, note: Record
) -> Value:
    """From the last layer's stream to logits, against the token table."""
    x = model.final_norm(ops, params, "final_norm", x)
    note("final", x)
    logits = model.head(ops, params, "head", x, table)
    note("logits", logits)
    return logits


def embed(model: Architecture, ops: Ops, params: Parameters, tokens: Value) -> tuple[Value, Value]:
    """The token table and the sum, or the stack, of token and position for every place."""
    places = tokens.shape[0]
    require(places <= model.context, "the number of tokens", f"at most the context {model.context}", places)
    table = model.token.table(ops, params, "token", model.vocab, model.token_dims)
    square = model.token.square(params, "token") if isinstance(model.token, Arc) else None
    token = Lookup(ops, table, tokens, square=square)
    if isinstance(model.position, NoPosition) and not model.position_dims:
        return table, Blocks(ops, [token])
    where = model.position.table(ops, params, "position", model.context, model.position_dims or model.width)
    position = where[:places].T[:, :, None]  # dim pos 1
    return table, Blocks(ops, [token, position]) if model.position_dims else token.whole + position


def run_layer(
    layer: Layer, ops: Ops, params: Parameters, name: str, x: Value, last: int, note: Record
) -> Value:
    def attention_note(key: str, value: Value) -> None:
        note(f"{name}attn.{key}", value)

    kept, moved = x[:, x.shape[1] - last :], None
    if layer.attention:
        normed = layer.attention_norm(ops, params, f"{name}attn_norm", x)
        attention_note("input", normed)
        moved = layer.attention(ops, params, f"{name}attn", normed, last, attention_note)
        attention_note("output", moved)
    return settle(layer, ops, params, name, kept, moved, note)


def settle(
    layer: Layer, ops: Ops, params: Parameters, name: str, kept: Value, moved: Value | None, note: Record
) -> Value:
    """The stream after a layer, given what attention moved into it; from here on no place sees another."""

    def feedforward_note(key: str, value: Value) -> None:
        note(f"{name}ff.{key}", value)

    if moved is not None:
        kept = kept + moved if layer.residual else moved
        note(f"{name}mid", kept)
    if layer.feedforward:
        normed = layer.feedforward_norm(ops, params, f"{name}ff_norm", kept)
        feedforward_note("input", normed)
        moved = layer.feedforward(ops, params, f"{name}ff", normed, feedforward_note)
        feedforward_note("output", moved)
        kept = kept + moved if layer.residual else moved
    note(f"{name}stream", kept)
    return kept


def plainly(record: Record | None) -> Record:
    """A record is given plain arrays; a pass that nobody watches makes none."""
    return ignore if record is None else lambda key, value: record(key, whole(value))


def ignore(key: str, value: Value) -> None:
    """The record of a pass that nobody watches."""
