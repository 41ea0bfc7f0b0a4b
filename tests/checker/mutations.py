"""Certificates with one thing changed, by a seed; digest and, where it makes sense, model hash fit again.

`mutate_certificate(tree, Random(7))` gives the name of the change and the changed copy. Many changes are lies,
some are true (a margin a little lower), some are nonsense: a check must tell them apart.
"""

import copy
import hashlib
import json
import math
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

Tree = dict[str, Any]
FACTORS = (
    1 - 1e-12,
    1 + 1e-12,
    1 - 1e-7,
    1 + 1e-7,
    1 + 1e-5,
    0.999,
    1.001,
    0.98,
    1.02,
    0.5,
    2.0,
    1e13,
    1e-13,
    -1.0,
)
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


def seal_certificate(tree: Tree, random: Random) -> Tree:
    """With a hash and a digest that fit, as far as they can be made; sometimes the hash is left."""
    if random.random() < 0.8:
        with suppress(Exception):  # damaged beyond a hash
            tree["model"]["sha256"] = hash_stored(tree["model"])
    with suppress(TypeError, ValueError, RecursionError):
        rest = {key: value for key, value in tree.items() if key != "digest"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
        tree["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return tree


def hash_stored(model: Tree) -> str:
    """SHA-256 of arrays and architecture, by docs/certificate.md."""
    found, kind = hashlib.sha256(), "<f4" if model["architecture"]["precision"] == "float32" else "<f8"
    for name in sorted(model["params"]):
        stored = model["params"][name]
        values = np.array([float.fromhex(value) for value in stored["values"]]).astype(kind)
        found.update(f"{name}\0{tuple(stored['shape'])!r}\0".encode() + values.tobytes())
    found.update(json.dumps(model["architecture"], sort_keys=True, separators=(",", ":")).encode())
    return found.hexdigest()


def list_leaves(tree: Tree, kind: str) -> list[list[Any]]:
    """Every leaf of a kind, however deep."""
    left, found = [row[4] for row in tree["rows"]], []
    while left:
        leaf = left.pop()
        found += [leaf] if leaf[0] == kind else []
        left += [part for _, part in leaf[2]] if leaf[0] == "split" else []
    return found


def pick_leaf(tree: Tree, random: Random, kind: str = "proved") -> list[Any]:
    return random.choice(list_leaves(tree, kind) or [["none", [0.0], [0.0], 0.0, 0, 0]])


def fit_bounds(tree: Tree) -> None:
    """Bounds of steps and of all, and what is called hardest, as the leaves now have them."""
    margins: dict[int, float] = {}
    for row in tree["rows"]:
        for leaf in list_leaves({"rows": [row]}, "proved"):
            margins[row[0]] = min(leaf[3], margins.get(row[0], math.inf))
    for one in tree["hardest"]:
        one["bound"] = margins[one["step"]]
        one["is_hardest"] = one["bound"] >= 0.995 * one["margin"]
    if tree["hardest"]:
        tree["margin_bound"] = min(one["bound"] for one in tree["hardest"])
        tree["smallest_margin"] = min(one["margin"] for one in tree["hardest"])


def scale_field(tree: Tree, random: Random) -> None:
    """One of the numbers on all inputs."""
    name = random.choice(["smallest_margin", "margin_bound", "rounding_bound"])
    if tree[name] is not None:
        tree[name] *= random.choice(FACTORS)


def scale_margin(tree: Tree, random: Random) -> None:
    """A leaf's margin; mostly with bounds that fit it."""
    leaf = pick_leaf(tree, random)
    leaf[3] *= random.choice(FACTORS)
    if random.random() < 0.8:
        fit_bounds(tree)


def scale_all_margins(tree: Tree, random: Random) -> None:
    factor = random.choice(FACTORS)
    for leaf in list_leaves(tree, "proved"):
        leaf[3] *= factor
    fit_bounds(tree)


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
        one, end = random.choice(tree["hardest"]), 10 ** tree["task"]["digits"]
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


def swap_pair(tree: Tree, random: Random) -> None:
    leaf = pick_leaf(tree, random, random.choice(["proved", "refuted"]))
    at = (4, 5) if leaf[0] != "refuted" else (1, 2)
    if random.random() < 0.5:
        leaf[at[0]], leaf[at[1]] = leaf[at[1]], leaf[at[0]]
    else:
        leaf[random.choice(at)] = random.randrange(-1, 10 ** tree["task"]["digits"] + 1)


def change_got(tree: Tree, random: Random) -> None:
    leaf = pick_leaf(tree, random, "refuted")
    if leaf[0] == "refuted":
        leaf[3] = random.randrange(11)
    elif tree["counterexample"]:
        tree["counterexample"]["got"] = random.randrange(99)


def move_bound(tree: Tree, random: Random) -> None:
    """A low or high bound, inwards or outwards, by a little or a lot."""
    leaf = pick_leaf(tree, random)
    end, i = random.choice([1, 2]), random.randrange(len(leaf[1]))
    width = abs(leaf[2][i] - leaf[1][i]) + random.choice([0.0, 1e-9, 1e-3])
    leaf[end][i] += width * random.choice([-1, 1]) * 10.0 ** random.randint(-14, 3)


def widen_all_boxes(tree: Tree, random: Random) -> None:
    """Boxes so wide that each has to be halved."""
    share = 10.0 ** random.randint(-6, 1)
    for leaf in list_leaves(tree, "proved"):
        for i in range(len(leaf[1])):
            leaf[1][i], leaf[2][i] = leaf[1][i] - share, leaf[2][i] + share


def swap_ends(tree: Tree, random: Random) -> None:
    leaf = pick_leaf(tree, random)
    leaf[1], leaf[2] = leaf[2], leaf[1]


def change_rows(tree: Tree, random: Random) -> None:
    """Dropped, doubled, moved to another class, or in another order."""
    rows, at = tree["rows"], random.randrange(len(tree["rows"]))
    kind = random.randrange(5)
    if kind == 0:
        rows.pop(at)
    elif kind == 1:
        rows.append(copy.deepcopy(rows[at]))
    elif kind == 2:
        rows[at][random.randrange(4)] += random.choice([-1, 1, 100])
    elif kind == 3:
        other = random.randrange(len(rows))
        rows[at][4], rows[other][4] = rows[other][4], rows[at][4]
    else:
        random.shuffle(rows)


def split_row(tree: Tree, random: Random) -> None:
    """A leaf in two parts, by the parity of a digit; sometimes a case is missing, doubled, or a part empty."""
    row = random.choice(tree["rows"])
    odd = sum(1 << case for case in range(200) if case // 10 % 10 % 2)
    masks = [odd, 2**200 - 1 - odd]
    kind = random.randrange(5)
    masks[0] ^= {0: 0, 1: 1 << random.randrange(200), 2: masks[1], 3: masks[0] ^ 1, 4: 0}[kind]
    column = random.randrange(-1, tree["task"]["digits"] + 1)
    row[4] = ["split", column, [[f"{mask:x}", copy.deepcopy(row[4])] for mask in masks]]


def nest_row(tree: Tree, random: Random) -> None:
    """Splits inside of splits that part nothing."""
    row = random.choice(tree["rows"])
    for _ in range(random.choice([3, 30, 63, 65, 300])):
        row[4] = ["split", 0, [["f" * 50, row[4]]]]


def change_leaf_kind(tree: Tree, random: Random) -> None:
    row, others = random.choice(tree["rows"]), [["undecided"], ["refuted", 0, 0, 1], ["proved"], ["sure"]]
    row[4] = random.choice([*others, ["proved", [0.0], [0.0], 1.0, 0, 0]])
    if random.random() < 0.7:
        recount(tree)


def recount(tree: Tree) -> None:
    """Counts, and a verdict, that fit leaves which are not split."""
    kinds = [row[4][0] for row in tree["rows"]]
    counts = {kind: kinds.count(kind) for kind in ("proved", "refuted", "undecided")}
    tree["classes"] = {"total": len(kinds), **counts}


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
    tree |= {"verdict": "undecided", "hardest": [], "counterexample": None}
    tree |= dict.fromkeys(("smallest_margin", "margin_bound", "rounding_bound"))
    if tree["classes"]["refuted"]:
        tree["verdict"] = "refuted"


def change_setting(tree: Tree, random: Random) -> None:
    """Another arithmetic, task, number of inputs, or precision."""
    change = random.choice(
        [
            {"arithmetic": random.choice(["float32", "float64", "real", "float16"])},
            {"inputs": str(10 ** random.randrange(1, 30))},
            {"task": tree["task"] | {"digits": random.choice([0, 1, 2, 3, 9, 10, 200, 10**9])}},
            {"task": tree["task"] | {"layout": random.choice(["lsb", "msb", "lsb24", "nanogpt", "x"])}},
            {"task": tree["task"] | {"name": random.choice(["lucky7", "max_of", "x"])}},
            {"format": random.choice([1, 2.0, 3, True])},
        ]
    )
    tree |= change
    if "task" in change and isinstance(tree["task"]["digits"], int) and tree["task"]["digits"] < 1000:
        tree["inputs"] = str(10 ** (2 * tree["task"]["digits"]))
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


def change_turn(tree: Tree, random: Random) -> None:
    """A matrix where there was none, or another."""
    leaf = pick_leaf(tree, random)
    count, angle = len(leaf[1]), random.choice([1e-9, 0.1, 1.0])
    turn = np.eye(count)
    if count > 1 and random.random() < 0.7:
        turn[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    else:
        turn[0] *= random.choice([-1.0, 2.0, 1e200, 1 + 1e-12])
    leaf[6:] = [(turn + 0.0).tolist()]


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


CHANGES = {
    change.__name__: change
    for change in (
        *(scale_field, scale_margin, scale_all_margins, scale_hardest, widen_rounding_and_margin),
        *(replace_hardest, reorder_hardest, swap_pair, change_got, move_bound, widen_all_boxes, swap_ends),
        *(change_rows, split_row, nest_row, change_leaf_kind, change_verdict, claim_less, change_setting),
        *(change_model, change_axes, change_turn, add_field, remove_field, odd_value, nest_deeply),
        change_words,
    )
}


def make_originals() -> dict[str, Tree]:
    """True certificates of one and two digits, proved and refuted, each checked within two seconds."""
    from glassformer.proofs.adder import prove_adder
    from glassformer.proofs.adder_certificate import make_adder_certificate
    from tests.proofs.small import drawn, nanogpt, tinyadder

    adders = {
        "one digit": (*nanogpt(1), False),
        "one digit, real": (*nanogpt(1), True),
        "two digits": (*nanogpt(2), False),
        "two digits, float32": (*nanogpt(2, "float32"), False),
        "two layers": (*tinyadder(2), False),
        "drawn": (*drawn("glass-8", 2, 0, "float32"), False),
    }
    made = {
        name: make_adder_certificate(prove_adder(model, task, real=real), model, task, name)
        for name, (model, task, real) in adders.items()
    }
    stored = Path(__file__).parents[2] / "fuzz/runs/adder/certificate.json"
    return {name: json.loads(json.dumps(tree)) for name, tree in made.items()} | {
        "two axes": json.loads(stored.read_text(encoding="utf-8"))
    }
