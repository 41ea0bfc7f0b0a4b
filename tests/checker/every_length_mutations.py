"""Certificates for every length with one thing changed, and whether the claims of such a one are true.

The changes of one length's certificate (`mutations.py`) are made to one of the lengths; others are made to what
all lengths share: the window, the lengths themselves, the verdict. Of the checker and the prover the judge
uses nothing: lengths of one and two digits are run whole, and the weights outside of the window are computed.
Of a longer length only the verdict is judged: it must be that of the original.
"""

import copy
import hashlib
import json
from collections.abc import Callable
from random import Random

import numpy as np

from glassformer.models.ops_numpy import NumpyOps
from tests.checker.judgement import find_false_claim
from tests.checker.mutations import CHANGES, ODD, Tree
from tests.checker.sealing import hash_stored, seal_certificate

SHARED = ("format", "made_with", "model", "backend", "arithmetic", "digest")
ENDS = 2  # columns of a number beside its digits
MOST_RUN = 2  # digits of numbers whose pairs are all run
FAR = 300  # columns that the judge looks at on each side


def mutate_every_length(tree: Tree, random: Random) -> tuple[str, Tree]:
    """A changed copy, sealed; the change is named."""
    while True:
        found = copy.deepcopy(tree)
        if random.random() < 0.5:
            name = random.choice(list(CHANGES))
            change_one_length(found, random, CHANGES[name])
        else:
            name = random.choice(list(WHOLE_CHANGES))
            WHOLE_CHANGES[name](found, random)
        if found != tree:
            return name, seal_certificate(found, random)


def change_one_length(tree: Tree, random: Random, change: Callable[[Tree, Random], None]) -> None:
    """As if the length had a certificate of its own; what is shared is changed for all."""
    at = random.randrange(len(tree["lengths"]))
    own = tree["lengths"][at] | {name: tree[name] for name in SHARED}
    change(own, random)
    tree["lengths"][at] = {name: value for name, value in own.items() if name not in SHARED}
    tree |= {name: own[name] for name in SHARED if name in own}
    if random.random() < 0.7:
        fit_margins(tree)


def fit_margins(tree: Tree) -> None:
    """The smallest of all lengths, where all have one."""
    for name in ("smallest_margin", "margin_bound"):
        every = [one.get(name) for one in tree["lengths"]]
        if tree["verdict"] == "proved" and all(type(one) is float for one in every):
            tree[name] = min(every)


def move_window(tree: Tree, random: Random) -> None:
    below, above = tree["window"] or [3, 5]
    moved = [below + random.randint(-2, 2), above + random.randint(-2, 2)]
    odd = [None, [], [below], [below, above, 0], [above, below], [-1, above], [10**30, 1], "0 1", 3.0]
    tree["window"] = random.choice([moved, moved, [float(below), above], *odd])


def move_lengths(tree: Tree, random: Random) -> None:
    """Dropped, doubled, in another order, or none."""
    some = tree["lengths"]
    at = random.randrange(len(some))
    changes: list[Callable[[], object]] = [
        lambda: some.pop(at),
        lambda: some.insert(at, copy.deepcopy(some[at])),
        lambda: some.reverse(),
        lambda: random.shuffle(some),
        lambda: some.extend(copy.deepcopy(some) * 70),
        lambda: some.clear(),
        lambda: some.__setitem__(at, random.choice(ODD)),
        lambda: some.__setitem__(at, copy.deepcopy(some[at - 1])),
    ]
    random.choice(changes)()
    if random.random() < 0.5 and all(isinstance(one, dict) for one in some) and some:
        fit_margins(tree)


def move_task(tree: Tree, random: Random) -> None:
    """Another length of training, in the task alone or in the model too."""
    digits = random.choice([0, 1, 3, 10, 10**6, 10**9])
    tree["task"]["digits"] = digits
    if random.random() < 0.5:
        tree["model"]["architecture"]["context"] = 3 * (digits + ENDS) - 1
        tree["model"]["architecture"]["layers"][0]["attention"]["relation"]["columns"] = digits + ENDS


def say_otherwise(tree: Tree, random: Random) -> None:
    """Another verdict, or other numbers on all lengths."""
    tree["verdict"] = random.choice(["proved", "refuted", "undecided", tree["verdict"]])
    tree["inputs"] = random.choice(["all", "all", "every", str(10**20), 10**20])
    wrong = {"a": 1, "b": 2, "expected": 3, "got": 4, "digits": 1}
    tree["counterexample"] = random.choice([None, wrong, tree["counterexample"]])
    for name in ("smallest_margin", "margin_bound"):
        number = tree[name] or 1.0
        tree[name] = random.choice([None, number, number * 0.5, number * 2.0])


def sharpen_scores(tree: Tree, random: Random) -> None:
    """Another sharpness or peak: other weights, and another window."""
    stored = tree["model"]["params"][f"attn.relation.{random.choice(['sharpness', 'peak'])}"]
    value = float.fromhex(stored["values"][0]) * random.choice(
        [1.0009765625, 0.5, 2.0, -1.0, 2.0**80, 2.0**-80]
    )
    stored["values"] = [float(np.float32(value)).hex()]


def tie_peak(tree: Tree, random: Random) -> None:
    """The peak is read from the sharpness, or the other way round."""
    pair = [f"attn.relation.{name}" for name in random.sample(["sharpness", "peak"], 2)]
    tree["model"]["architecture"]["ties"].append({"name": pair[0], "to": pair[1]})
    if random.random() < 0.7:
        del tree["model"]["params"][pair[0]]


def mask_columns(tree: Tree, random: Random) -> None:
    """A relation that hides columns, perhaps the nearest."""
    attention = tree["model"]["architecture"]["layers"][0]["attention"]
    attention["relation"] |= {"kind": "low_columns", "highest": random.choice([-3, 0, 1, 2])}


WHOLE_CHANGES: dict[str, Callable[[Tree, Random], None]] = {
    change.__name__: change
    for change in (
        *(move_window, move_lengths, move_task, say_otherwise, sharpen_scores, tie_peak, mask_columns),
        *(CHANGES[name] for name in ("odd_value", "change_words", "change_model")),
    )
}


def find_false_length_claim(tree: Tree, original: Tree) -> str:
    """The first claim that is not true; empty: none was found."""
    rest = {key: value for key, value in tree.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != tree["digest"]:
        return "the digest"
    if hash_stored(tree["model"]) != tree["model"]["sha256"]:
        return "the hash of the model"
    if tree["inputs"] != "all":
        return "inputs"
    for digits, one in enumerate(tree["lengths"], 1):
        said = _judge_length(tree, original, digits, one)
        if said:
            return f"{said} of {digits} digits"
    return _judge_whole(tree)


def _judge_length(tree: Tree, original: Tree, digits: int, one: Tree) -> str:
    if one["task"] != tree["task"] | {"digits": digits}:
        return "the task"
    if digits > MOST_RUN:
        return "" if one["verdict"] == original["lengths"][digits - 1]["verdict"] else "the verdict"
    model = copy.deepcopy(tree["model"])
    model["architecture"]["context"] = 3 * (digits + ENDS) - 1
    model["architecture"]["layers"][0]["attention"]["relation"]["columns"] = digits + ENDS
    alone = one | {name: tree[name] for name in SHARED} | {"model": model | {"sha256": hash_stored(model)}}
    rest = {key: value for key, value in alone.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return find_false_claim(alone | {"digest": hashlib.sha256(text.encode()).hexdigest()})


def _judge_whole(tree: Tree) -> str:
    """Verdict, window, counterexample and margins, given that every length is true."""
    verdicts = [one["verdict"] for one in tree["lengths"]]
    if set(verdicts[:-1]) - {"proved"}:
        return "a length that is not proved"
    is_enough = tree["window"] is not None and len(verdicts) >= sum(tree["window"]) + 2
    outcome = verdicts[-1] if verdicts[-1] != "proved" else "proved" if is_enough else "undecided"
    if tree["verdict"] != outcome or (tree["window"] and _find_far_weight(tree)):
        return "the verdict, or the window"
    last = tree["lengths"][-1]["counterexample"]
    if tree["counterexample"] != (last and last | {"digits": len(verdicts)}):
        return "the counterexample"
    for name in ("smallest_margin", "margin_bound"):
        least = min(one[name] for one in tree["lengths"]) if outcome == "proved" else None
        if tree[name] != least:
            return name
    return ""


def _find_far_weight(tree: Tree) -> bool:
    """Whether any key outside of the window has weight, as the pass computes it."""
    model, (below, above) = tree["model"], tree["window"]
    ops = NumpyOps(model["architecture"]["precision"])
    sharpness, peak = (
        ops.array(float.fromhex(model["params"][f"attn.relation.{name}"]["values"][0]))
        for name in ("sharpness", "peak")
    )
    columns = np.array([0, 1, *range(above + 1, above + FAR), *range(-below - FAR, -below)])
    away = ops.array(columns) - peak
    weights = ops.softmax((away * away * (sharpness * -1.0))[None, :, None], 0.0)[0, :, 0]
    return bool((weights[2:] != 0).any())
