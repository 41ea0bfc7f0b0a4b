"""Certificates with one thing changed, by a seed; digest and, where it makes sense, model hash fit again.

`mutate_certificate(tree, Random(7))` gives the name of the change and the changed copy. Many changes are lies,
some are true (a margin a little lower), some are nonsense: a check must tell them apart.
"""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from tests.checker.leaf_changes import (
    FACTORS,
    change_got,
    change_leaf_kind,
    change_rows,
    change_turn,
    exchange_kinds,
    find_base,
    fit_bounds,
    hide_run,
    list_leaves,
    move_bound,
    nest_row,
    recount,
    scale_all_margins,
    scale_margin,
    scale_run,
    split_row,
    swap_ends,
    swap_pair,
    widen_all_boxes,
)
from tests.checker.sealing import seal_certificate

Tree = dict[str, Any]
ODD = (
    None,
    True,
    -1,
    0,
    10**400,
    1.5,
    1e308,
    -1e308,
    1e-320,
    "x",
    "0x1",
    [],
    {},
    [[]],
    ["proved"],
    [1, 2],
    1e20,
)


def mutate_certificate(tree: Tree, random: Random) -> tuple[str, Tree]:
    """A changed copy, sealed; the change is named."""
    while True:
        name, found = random.choice(list(CHANGES)), copy.deepcopy(tree)
        CHANGES[name](found, random)
        if found != tree:
            return name, seal_certificate(found, random)


def scale_field(tree: Tree, random: Random) -> None:
    """One of the numbers on all inputs."""
    name = random.choice(["smallest_margin", "margin_bound", "rounding_bound"])
    if tree[name] is not None:
        tree[name] *= random.choice(FACTORS)


def scale_hardest(tree: Tree, random: Random) -> None:
    """The margin of a hardest pair, or of all."""
    factor, some = random.choice(FACTORS), tree["hardest"]
    for one in some if random.random() < 0.3 else random.sample(some, min(1, len(some))):
        one["margin"] *= factor
    if random.random() < 0.8:
        fit_bounds(tree)


def widen_rounding_and_margin(tree: Tree, random: Random) -> None:
    """The old forgery: a vast rounding bound, and a margin that it would excuse."""
    if tree["rounding_bound"] is not None:
        tree["rounding_bound"] = 10.0 ** random.randint(-3, 13)
        for one in tree["hardest"]:
            one["margin"] = 1000.0
        fit_bounds(tree)


def replace_hardest(tree: Tree, random: Random) -> None:
    """Another pair: with the old margin, or called hardest or not."""
    if tree["hardest"]:
        one, end = random.choice(tree["hardest"]), find_base(tree) ** tree["task"]["digits"]
        one["a"], one["b"] = random.randrange(end), random.randrange(end)
        if random.random() < 0.5:
            one["margin"] *= random.choice([1.0, 1.5, 3.0])
            fit_bounds(tree)
        if random.random() < 0.3:
            one["is_hardest"] = not one["is_hardest"]


def reorder_hardest(tree: Tree, random: Random) -> None:
    random.shuffle(tree["hardest"])
    if random.random() < 0.5 and tree["hardest"]:
        tree["hardest"].append(tree["hardest"][0])


def change_verdict(tree: Tree, random: Random) -> None:
    tree["verdict"] = random.choice(["proved", "refuted", "undecided", "sure", None])
    if random.random() < 0.7:
        tree |= dict.fromkeys(("smallest_margin", "margin_bound", "rounding_bound")) | {"hardest": []}
    if random.random() < 0.4:
        recount(tree)
    if random.random() < 0.3:
        tree["counterexample"] = random.choice([None, {"a": 1, "b": 2, "expected": 3, "got": 4}])


def claim_less(tree: Tree, random: Random) -> None:
    """Some classes are given up: a weaker claim, and a true one."""
    for row in random.sample(tree["rows"], random.randint(1, len(tree["rows"]))):
        row[4] = ["undecided"]
    recount(tree)
    give_up(tree)


def change_setting(tree: Tree, random: Random) -> None:
    """Another arithmetic, task, number of inputs, or precision."""
    change = random.choice(
        [
            {"arithmetic": random.choice(["float32", "float64", "real", "float16"])},
            {"inputs": str(10 ** random.randrange(1, 30))},
            {"task": tree["task"] | {"digits": random.choice([0, 1, 2, 3, 9, 10, 200, 10**9])}},
            {"task": tree["task"] | {"layout": random.choice(["lsb", "msb", "lsb24", "nanogpt", "x"])}},
            {"task": tree["task"] | {"name": random.choice(["lucky7", "max_of", "x"])}},
            {"backend": random.choice(["own", "any", "x"])},
            {"task": tree["task"] | {"base": random.choice([2, 7, 9, 11, 36])}},
            {"format": random.choice([1, 2, 3.0, 4, True])},
        ]
    )
    tree |= change
    if "task" in change and isinstance(tree["task"]["digits"], int) and tree["task"]["digits"] < 1000:
        tree["inputs"] = str(find_base(tree) ** (2 * tree["task"]["digits"]))
        if random.random() < 0.5:
            tree["model"]["architecture"]["context"] = 700


def change_model(tree: Tree, random: Random) -> None:
    """A weight by one unit, by a share, or wild; another precision or context."""
    model = tree["model"]
    if random.random() < 0.15:
        model["architecture"]["precision"] = random.choice(["float32", "float64"])
        return
    if random.random() < 0.15:
        model["architecture"]["context"] += random.choice([-1, 1, 1000])
        return
    stored = random.choice([one for one in model["params"].values() if one["values"]])
    at, single = random.randrange(len(stored["values"])), model["architecture"]["precision"] == "float32"
    kind = np.float32 if single else np.float64
    value = kind(float.fromhex(stored["values"][at]))
    step = np.nextafter(value, kind(np.inf))
    with np.errstate(over="ignore"):
        value = random.choice(
            [step, value * kind(1.001), value * kind(2), -value, kind(3e38), kind("nan"), kind(0)]
        )
    stored["values"][at] = float(value).hex()


def change_axes(tree: Tree, random: Random) -> None:
    if not tree["axes"]:
        return
    head = random.choice(tree["axes"])
    kind, i = random.randrange(6), random.randrange(len(head["axes"]))
    if kind == 0:
        head["centre"] = [x + random.choice([1e-12, 1e-3, 1.0, 1e6, 1e200]) for x in head["centre"]]
    elif kind == 1:
        head["axes"][i] = [x * random.choice([1e200, 1e-200, 0.0, -1.0, 1.001]) for x in head["axes"][i]]
    elif kind == 2:
        head["axes"].pop(i)
    elif kind == 3:
        head["axes"].append(list(head["axes"][i]))
    elif kind == 4:
        head["axes"][i] = [random.gauss(0, 1) for _ in head["axes"][i]]
    else:
        tree["axes"].append(copy.deepcopy(head))


def add_field(tree: Tree, random: Random) -> None:
    places = [tree, tree["model"], tree["task"], tree["classes"], *tree["hardest"], *tree["axes"]]
    if tree["counterexample"]:
        places.append(tree["counterexample"])
    random.choice(places)[random.choice(["note", "proof", "backend2", "Verdict"])] = random.choice(ODD)


def remove_field(tree: Tree, random: Random) -> None:
    place = random.choice(
        [tree, tree["model"], tree["task"], tree["classes"], *tree["hardest"], *tree["axes"]]
    )
    del place[random.choice(list(place))]


def odd_value(tree: Tree, random: Random) -> None:
    """Any value, at any depth, becomes another."""
    place: Any = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = random.choice(keys)
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.2:
            place[key] = random.choice(ODD)
            return
        place = inner


def nest_deeply(tree: Tree, random: Random) -> None:
    deep: Any = []
    for _ in range(random.choice([50, 900])):
        deep = [deep]
    tree[random.choice(["hardest", "rows", "axes", "counterexample", "made_with"])] = deep


def change_words(tree: Tree, random: Random) -> None:
    """What is no claim: another name is accepted, and not repeated as if it were checked."""
    name = random.choice(["glass-29", "proved by all", "x" * 500, "\u202e", "a\nb", 7])
    if random.random() < 0.5:
        tree["made_with"] = name
    else:
        tree["model"]["origin"] = name


def move_hardest(tree: Tree, random: Random) -> None:
    """A hardest pair by numbers that have more digits than the task, the last of which are the same."""
    if tree["hardest"]:
        end = find_base(tree) ** tree["task"]["digits"]
        random.choice(tree["hardest"])[random.choice("ab")] += random.choice([-end, end, end * 10**20])


def change_mixing(tree: Tree, random: Random) -> None:
    """Another layer, none, or what is no layer; sometimes without axes."""
    tree["mixing"] = random.choice([0, 1, 2, -1, 10**30, None, "0", 0.0, True, [0]])
    if random.random() < 0.3:
        tree["axes"] = []


def name_axes(tree: Tree, random: Random) -> None:
    """Axes, or a layer, of a certificate that bounds nothing."""
    for row in tree["rows"]:
        row[4] = row[4] if row[4][0] == "run" else ["undecided"]
    recount(tree)
    if tree["classes"]["undecided"]:
        give_up(tree)
    kept = tree["axes"] or [{"centre": [0.0], "axes": [[1.0]]}]
    tree |= {"mixing": random.choice([None, 0]), "axes": random.choice([[], kept])}


def round_runs(tree: Tree, random: Random) -> None:
    """A rounding bound, where runs leave nothing to round."""
    if tree["rounding_bound"] is not None:
        tree["rounding_bound"] = random.choice([5e-324, 1e-9, 1.0, 1e300])


def give_up(tree: Tree) -> None:
    """A verdict without numbers, as far as refuted leaves allow."""
    tree |= {"verdict": "undecided", "hardest": [], "counterexample": None}
    tree |= dict.fromkeys(("smallest_margin", "margin_bound", "rounding_bound"))
    if tree["classes"]["refuted"]:
        tree["verdict"] = "refuted"
    if not list_leaves(tree, "proved"):
        tree |= {"mixing": None, "axes": []}


CHANGES: dict[str, Callable[[Tree, Random], None]] = {
    change.__name__: change
    for change in (
        *(scale_field, scale_margin, scale_all_margins, scale_hardest, widen_rounding_and_margin),
        *(replace_hardest, reorder_hardest, swap_pair, change_got, move_bound, widen_all_boxes, swap_ends),
        *(change_rows, split_row, nest_row, change_leaf_kind, change_verdict, claim_less, change_setting),
        *(change_model, change_axes, change_turn, add_field, remove_field, odd_value, nest_deeply),
        *(change_words, change_mixing, scale_run, exchange_kinds, hide_run, name_axes, round_runs),
        move_hardest,
    )
}
