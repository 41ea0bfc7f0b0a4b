"""What a stored array is, in words, read off its dotted name.

>>> parameter_words("layer1.attn.q.weight")
'layer 1, attention: weight from the stream to the queries'
>>> parameter_words("token.stride")
'token embedding: angle from one digit to the next'
"""

import re

TOKEN = {
    "weight": "one row for every token",
    "amplitude": "radius of the arc that the digits lie on",
    "start": "angle of the digit 0",
    "stride": "angle from one digit to the next",
    "value": "one number for every token",
    "values": "the entries that are not 0",
    "direction": "the direction that every token lies along",
    "c0": "the bowl's height at the digit 0",
    "c1": "how fast the bowl falls with the square of the digit",
}
POSITION = {
    "weight": "one row for every place",
    "amplitude": "radius of the spiral",
    "phase": "angle of the first place",
    "slope": "rise of the spiral a place",
    "offset": "height of the first place",
}
HEAD = {
    "weight": "weight from the last stream to the logits",
    "bias": "what is added to every token's logit",
    "slope": "factor of token times state",
    "bend": "factor of the token's square",
    "shift": "what is added to every logit",
}
SITES = {
    "attn.q": "from the stream to the queries",
    "attn.k": "from the stream to the keys",
    "attn.v": "from the stream to the values",
    "attn.out": "from the mixed values to the stream",
    "ff.up": "from the stream to the hidden units",
    "ff.gate": "from the stream to the gates of the hidden units",
    "ff.down": "from the hidden units to the stream",
}
KINDS = {
    "weight": "weight",
    "bias": "bias of the map",
    "angle": "angle that makes the map",
    "scale": "size of the map",
    "read": "direction that is read, of the map",
    "write": "direction that is written, of the map",
    "values": "entries that are not 0, of the map",
}
NORMS = {
    "attn_norm": "norm before attention",
    "ff_norm": "norm before the feed-forward layer",
    "final_norm": "norm before the head",
    "attn.qk_norm": "norm of queries and keys",
    "attn.k_norm": "norm of the keys",
}
BLOCKS = {"attn": "attention", "ff": "feed-forward layer"}


def parameter_words(name: str) -> str:
    """A line on one stored array."""
    layer, rest = layer_of(name)
    where, _, last = rest.rpartition(".")
    return f"{layer}{site_words(where, last)}"


def layer_of(name: str) -> tuple[str, str]:
    """`layer 1, ` and the rest of the name; a model of one layer does not number it."""
    found = re.fullmatch(r"layer(\d+)\.(.*)", name)
    return (f"layer {found[1]}, ", found[2]) if found else ("", name)


def site_words(where: str, last: str) -> str:
    if where == "token":
        return f"token embedding: {TOKEN.get(last, last)}"
    if where == "position":
        return f"position: {POSITION.get(last, f'the place {last}, learned for itself')}"
    if where == "head":
        return f"head: {HEAD.get(last, last)}"
    if where in NORMS:
        return f"{NORMS[where]}: one factor for every dimension"
    block = BLOCKS.get(where.partition(".")[0], where)
    kind = KINDS.get(last, f"the number '{last}' of the map")
    return f"{block}: {kind} {SITES.get(where, where)}"
