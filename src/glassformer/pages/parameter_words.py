"""What a stored array is, in words, read off its dotted name.

>>> describe_parameter("layer1.attn.q.weight")
'layer 1, attention: weight from the residual stream to the queries'
>>> describe_parameter("token.stride")
'token embedding: angle from one digit to the next'
"""

import re
from collections.abc import Mapping

from glassformer.models.architecture import Architecture
from glassformer.models.forward import format_layer_prefix

_TOKEN = {
    "weight": "one row per token",
    "amplitude": "radius of the arc that the digits lie on",
    "start": "angle of the digit 0",
    "stride": "angle from one digit to the next",
    "value": "one parameter per token",
    "values": "the entries that are not 0",
    "direction": "the direction along which all tokens lie",
    "c0": "height of the parabola at the digit 0",
    "c1": "how fast the parabola falls with the square of the digit",
}
_HEAD = {
    "weight": "weight from the residual stream to the logits",
    "bias": "bias of every token's logit",
    "slope": "factor of token times state",
    "bend": "factor of the squared token",
    "shift": "what is added to every logit",
}
_SITES = {
    "attn.q": "from the residual stream to the queries",
    "attn.k": "from the residual stream to the keys",
    "attn.v": "from the residual stream to the values",
    "attn.out": "from the weighted values to the residual stream",
    "ff.up": "from the residual stream to the hidden units",
    "ff.gate": "from the residual stream to the gates of the hidden units",
    "ff.down": "from the hidden units to the residual stream",
}
_KINDS = {
    "weight": "weight",
    "bias": "bias of the map",
    "angle": "angle of the map",
    "scale": "size of the map",
    "read": "read direction of the map",
    "write": "write direction of the map",
    "values": "non-zero entries of the map",
}
_NORMS = {
    "attn_norm": "norm before attention",
    "ff_norm": "norm before the feed-forward layer",
    "final_norm": "norm before the head",
    "attn.qk_norm": "norm of queries and keys",
    "attn.k_norm": "norm of the keys",
}
_BLOCKS = {"attn": "attention", "ff": "feed-forward layer"}


def describe_parameter(name: str, own: Mapping[str, str] | None = None) -> str:
    """A line on one stored array; `own`, what the parts say of their parameters, is by whole names."""
    layer, rest = _split_layer_prefix(name)
    where, _, last = rest.rpartition(".")
    return f"{layer}{_describe_site(where, last, (own or {}).get(name))}"


def list_own_words(architecture: Architecture) -> dict[str, str]:
    """What the positions of a model say of their parameters, by whole names."""
    found = {f"position.{last}": words for last, words in architecture.position.parameter_words().items()}
    for index, layer in enumerate(architecture.layers):
        if layer.attention:
            prefix = f"{format_layer_prefix(architecture, index)}attn.relation"
            words = layer.attention.relation.parameter_words()
            found |= {f"{prefix}.{last}": said for last, said in words.items()}
    return found


def _split_layer_prefix(name: str) -> tuple[str, str]:
    """`layer 1, ` and the rest of the name; a model of one layer does not number it."""
    found = re.fullmatch(r"layer(\d+)\.(.*)", name)
    return (f"layer {found[1]}, ", found[2]) if found else ("", name)


def _describe_site(where: str, last: str, own: str | None) -> str:
    if where == "token":
        return f"token embedding: {_TOKEN.get(last, last)}"
    if where == "position":
        return "position: " + (own or f"parameter '{last}' of the positions")
    if where == "attn.relation":
        return "attention: " + (own or f"parameter '{last}' of the positions inside the scores")
    if where == "head":
        return f"head: {_HEAD.get(last, last)}"
    if where in _NORMS:
        return f"{_NORMS[where]}: one gain per dimension"
    block = _BLOCKS.get(where.partition(".")[0], where)
    kind = _KINDS.get(last, f"parameter '{last}' of the map")
    return f"{block}: {kind} {_SITES.get(where, where)}"
