"""What a stored array is, in words, read off its dotted name.

>>> describe_parameter("layer1.attn.q.weight")
'layer 1, attention: weight from the residual stream to the queries'
>>> describe_parameter("token.stride")
'token embedding: angle from one digit to the next'
"""

import re

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
_POSITION = {
    "weight": "one row per position",
    "amplitude": "radius of the spiral",
    "phase": "angle of the first position",
    "slope": "rise of the spiral per position",
    "offset": "height of the first position",
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


def describe_parameter(name: str) -> str:
    """A line on one stored array."""
    layer, rest = _split_layer_prefix(name)
    where, _, last = rest.rpartition(".")
    return f"{layer}{_describe_site(where, last)}"


def _split_layer_prefix(name: str) -> tuple[str, str]:
    """`layer 1, ` and the rest of the name; a model of one layer does not number it."""
    found = re.fullmatch(r"layer(\d+)\.(.*)", name)
    return (f"layer {found[1]}, ", found[2]) if found else ("", name)


def _describe_site(where: str, last: str) -> str:
    if where == "token":
        return f"token embedding: {_TOKEN.get(last, last)}"
    if where == "position":
        return f"position: {_POSITION.get(last, f'position {last}, learned separately')}"
    if where == "head":
        return f"head: {_HEAD.get(last, last)}"
    if where in _NORMS:
        return f"{_NORMS[where]}: one gain per dimension"
    block = _BLOCKS.get(where.partition(".")[0], where)
    kind = _KINDS.get(last, f"parameter '{last}' of the map")
    return f"{block}: {kind} {_SITES.get(where, where)}"
