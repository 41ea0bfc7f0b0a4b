"""The forward pass, once, for every architecture and every backend.

e = token + position; each layer z = e + attention(norm(e)), h = z + feedforward(norm(z)); last head(norm(h)).
Axes are `dim pos batch` throughout; `last` asks for the last positions only, which is all that many uses
need.
"""

from collections.abc import Iterable
from dataclasses import replace

from glassformer.core.errors import make_unknown_error, require_value
from glassformer.models.architecture import Architecture, FixedEntry, Layer, Tie
from glassformer.models.attention import Record
from glassformer.models.blocks import Blocks, TokenLookup, to_dense
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import Parameter, Parameters
from glassformer.models.position import NoPosition
from glassformer.models.projection import fetch_parameter
from glassformer.models.token import ArcTable

_MOST_PARAMETERS = 20_000_000  # 80 MB in float32; models that are understood have a few hundred


def list_parameters(model: Architecture) -> dict[str, Parameter]:
    """Everything that is stored, by name; what is tied is not there."""
    every = list_all_parameters(model)
    _check_parameter_names(every)
    size = sum(parameter.size for parameter in every.values())
    require_value(size <= _MOST_PARAMETERS, "the number of parameters", f"at most {_MOST_PARAMETERS:,}", size)
    table = model.vocab * model.token_dims  # of a formula, too
    require_value(table <= _MOST_PARAMETERS, "vocab x width", f"at most {_MOST_PARAMETERS:,}", table)
    tied = {tie.name for tie in model.ties}
    stored = {name: parameter for name, parameter in every.items() if name not in tied}
    for tie in model.ties:
        _check_tie(tie, every, stored)
    for entry in model.fixed:
        stored[entry.name] = _fix_entry(entry, stored)
    return stored


def _check_parameter_names(names: Iterable[str]) -> None:
    """Words with dots between them: a name becomes a name of Python's in exported files."""
    for name in names:
        plain = name.isascii() and all(word.isidentifier() for word in name.split("."))
        require_value(
            plain, "the name of a parameter", "words of letters, digits and _, with dots between", name
        )


def _check_tie(tie: Tie, every: dict[str, Parameter], stored: dict[str, Parameter]) -> None:
    """Both names exist, the second one is stored, and the shapes agree."""
    if tie.name not in every:
        raise make_unknown_error("parameter to tie", tie.name, every)
    source = tie.to.removesuffix(".T")
    if source not in stored:
        raise make_unknown_error("stored parameter", source, stored)
    needed = every[tie.name].shape
    given = stored[source].shape[::-1] if tie.to.endswith(".T") else stored[source].shape
    require_value(needed == given, tie.to, f"of shape {needed}, as {tie.name}", given)


def _fix_entry(entry: FixedEntry, stored: dict[str, Parameter]) -> Parameter:
    """The stored array with one free entry fewer."""
    if entry.name not in stored:
        raise make_unknown_error("stored parameter to fix", entry.name, stored)
    array = stored[entry.name]
    inside = len(entry.place) == len(array.shape) and all(
        0 <= index < size for index, size in zip(entry.place, array.shape, strict=True)
    )
    require_value(inside, f"the fixed entry of {entry.name}", f"inside its shape {array.shape}", entry.place)
    free = entry.place not in {place for place, _ in array.fixed}
    require_value(free, f"the fixed entry of {entry.name}", "fixed once", entry.place)
    return replace(array, fixed=(*array.fixed, (entry.place, entry.value)))


def list_all_parameters(model: Architecture) -> dict[str, Parameter]:
    """Every array that the pass reads, tied ones included."""
    every = model.token.parameters("token", model.vocab, model.token_dims)
    every |= model.position.parameters("position", model.context, model.position_dims or model.width)
    for index, layer in enumerate(model.layers):
        every |= _list_layer_parameters(layer, format_layer_prefix(model, index), model.width)
    every |= model.final_norm.parameters("final_norm", model.width)
    return every | model.head.parameters("head", model.vocab, model.width, model.token_dims)


def _list_layer_parameters(layer: Layer, name: str, width: int) -> dict[str, Parameter]:
    found = layer.attention_norm.parameters(f"{name}attn_norm", width)
    if layer.attention:
        found |= layer.attention.parameters(f"{name}attn", width)
    found |= layer.feedforward_norm.parameters(f"{name}ff_norm", width)
    if layer.feedforward:
        found |= layer.feedforward.parameters(f"{name}ff", width)
    return found


def format_layer_prefix(model: Architecture, index: int) -> str:
    """Names of a one-layer model carry no layer number."""
    return "" if len(model.layers) == 1 else f"layer{index}."


def untie_parameters(model: Architecture, params: Parameters) -> Parameters:
    """The flat dict with every tied name filled in."""
    if not model.ties:
        return params
    return dict(params) | {tie.name: fetch_parameter(params, tie.to) for tie in model.ties}


def forward(
    model: Architecture,
    ops: Ops,
    params: Parameters,
    tokens: Value,
    last: int | None = None,
    record: Record | None = None,
) -> Value:
    """Logits `tok pos batch` for tokens `pos batch`; `record` is called with every named intermediate."""
    logits, batch = to_dense(compute_logit_blocks(model, ops, params, tokens, last, record)), tokens.shape[1]
    return logits if logits.shape[2] == batch else logits + ops.array([0.0] * batch)  # no token matters


def compute_logit_blocks(
    model: Architecture,
    ops: Ops,
    params: Parameters,
    tokens: Value,
    last: int | None = None,
    record: Record | None = None,
) -> Value:
    """The same, as the backend leaves them: one array, or rows apart."""
    note, positions = wrap_record(record), tokens.shape[0]
    require_value(
        last is None or 1 <= last <= positions, "last", f"between 1 and {positions} positions", last
    )
    params = untie_parameters(model, params)
    table, x = embed_tokens(model, ops, params, tokens)
    return run_from_embedding(model, ops, params, table, x, last, note)


def run_from_embedding(
    model: Architecture, ops: Ops, params: Parameters, table: Value, x: Value, last: int | None, note: Record
) -> Value:
    """From the token table and the embedded positions, whole or in blocks, to logits."""
    note("token.table", table)
    note("embedded", x)
    for index, layer in enumerate(model.layers):
        asked = (last or x.shape[1]) if index == len(model.layers) - 1 else x.shape[1]
        x = run_layer(layer, ops, params, format_layer_prefix(model, index), x, asked, note)
    return read_out_logits(model, ops, params, x, table, note)


def read_out_logits(
    model: Architecture, ops: Ops, params: Parameters, x: Value, table: Value, note: Record
) -> Value:
    """From the last layer's stream to logits, against the token table."""
    x = model.final_norm(ops, params, "final_norm", x)
    note("final", x)
    logits = model.head(ops, params, "head", x, table)
    note("logits", logits)
    return logits


def embed_tokens(model: Architecture, ops: Ops, params: Parameters, tokens: Value) -> tuple[Value, Value]:
    """The token table and the sum, or the stack, of token and position for every position."""
    positions = tokens.shape[0]
    require_value(
        positions <= model.context, "the number of tokens", f"at most the context {model.context}", positions
    )
    table = model.token.table(ops, params, "token", model.vocab, model.token_dims)
    square = model.token.square(params, "token") if isinstance(model.token, ArcTable) else None
    token = TokenLookup(ops, table, tokens, square=square)
    if isinstance(model.position, NoPosition) and not model.position_dims:
        return table, Blocks(ops, [token])
    where = model.position.table(ops, params, "position", model.context, model.position_dims or model.width)
    position = where[:positions].T[:, :, None]  # dim pos 1
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
    return finish_layer(layer, ops, params, name, kept, moved, note)


def finish_layer(
    layer: Layer, ops: Ops, params: Parameters, name: str, kept: Value, moved: Value | None, note: Record
) -> Value:
    """The stream after a layer, given what attention moved into it; from here on no position sees another."""

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


def wrap_record(record: Record | None) -> Record:
    """A record is given plain arrays; a pass that nobody watches makes none."""
    return ignore_record if record is None else lambda key, value: record(key, to_dense(value))


def ignore_record(key: str, value: Value) -> None:
    """The record of a pass that nobody watches."""
