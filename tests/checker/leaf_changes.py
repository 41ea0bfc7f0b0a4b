"""Changes to the rows of a certificate: margins, bounds, pairs, splits, and the kinds of leaves.

Each takes the tree and a source of chance, and changes the tree in place.
"""

import copy
import math
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


def list_leaves(tree: Tree, *kinds: str) -> list[list[Any]]:
    """Every leaf of some kinds, however deep."""
    left, found = [row[4] for row in tree["rows"]], []
    while left:
        leaf = left.pop()
        found += [leaf] if leaf[0] in kinds else []
        left += [part for _, part in leaf[2]] if leaf[0] == "split" else []
    return found


def pick_leaf(tree: Tree, random: Random, kind: str = "proved") -> list[Any]:
    return random.choice(list_leaves(tree, kind) or [["none", [0.0], [0.0], 0.0, 0, 0]])


def fit_bounds(tree: Tree) -> None:
    """Bounds of steps and of all, and what is called hardest, as the leaves now have them."""
    margins: dict[int, float] = {}
    for row in tree["rows"]:
        for leaf in list_leaves({"rows": [row]}, "proved", "run"):
            margins[row[0]] = min(leaf[3 if leaf[0] == "proved" else 1], margins.get(row[0], math.inf))
    for one in tree["hardest"]:
        one["bound"] = margins.get(one["step"], 0.0)
        one["is_hardest"] = one["bound"] >= 0.995 * one["margin"]
    if tree["hardest"]:
        tree["margin_bound"] = min(one["bound"] for one in tree["hardest"])
        tree["smallest_margin"] = min(one["margin"] for one in tree["hardest"])


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


def swap_pair(tree: Tree, random: Random) -> None:
    leaf = pick_leaf(tree, random, random.choice(["proved", "refuted", "run"]))
    at = {"refuted": (1, 2), "run": (2, 3)}.get(leaf[0], (4, 5))
    if random.random() < 0.5:
        leaf[at[0]], leaf[at[1]] = leaf[at[1]], leaf[at[0]]
    else:
        leaf[random.choice(at)] = random.randrange(-1, find_base(tree) ** tree["task"]["digits"] + 1)


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
    row, base = random.choice(tree["rows"]), find_base(tree)
    cases = 2 * base * base
    odd = sum(1 << case for case in range(cases) if case // base % base % 2)
    masks = [odd, 2**cases - 1 - odd]
    kind = random.randrange(5)
    masks[0] ^= {0: 0, 1: 1 << random.randrange(cases), 2: masks[1], 3: masks[0] ^ 1, 4: 0}[kind]
    column = random.randrange(-1, tree["task"]["digits"] + 1)
    row[4] = ["split", column, [[f"{mask:x}", copy.deepcopy(row[4])] for mask in masks]]


def nest_row(tree: Tree, random: Random) -> None:
    """Splits inside of splits that part nothing."""
    row, every = random.choice(tree["rows"]), f"{2 ** (2 * find_base(tree) ** 2) - 1:x}"
    for _ in range(random.choice([3, 30, 63, 65, 300])):
        row[4] = ["split", 0, [[every, row[4]]]]


def change_leaf_kind(tree: Tree, random: Random) -> None:
    row, others = random.choice(tree["rows"]), [["undecided"], ["refuted", 0, 0, 1], ["proved"], ["sure"]]
    others += [["proved", [0.0], [0.0], 1.0, 0, 0], ["run", 1.0, 0, 0], ["run"], [], {}, 7, None]
    row[4] = random.choice(others)
    if random.random() < 0.7:
        recount(tree)


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


def recount(tree: Tree) -> None:
    """Counts, and a verdict, that fit leaves which are not split."""
    kinds = [row[4][0] if isinstance(row[4], list) and row[4] else "odd" for row in tree["rows"]]
    counts = {kind: kinds.count(kind) for kind in ("proved", "refuted", "undecided")}
    counts["proved"] += kinds.count("run")
    tree["classes"] = {"total": len(kinds), **counts}


def scale_run(tree: Tree, random: Random) -> None:
    """The margin of a leaf that is run, by a factor or by one unit in the last place."""
    leaf = pick_leaf(tree, random, "run")
    if leaf[0] == "run":
        toward = random.choice([-math.inf, math.inf])
        scaled = leaf[1] * random.choice(FACTORS)
        leaf[1] = random.choice([math.nextafter(leaf[1], toward), scaled])
        if random.random() < 0.8:
            fit_bounds(tree)


def exchange_kinds(tree: Tree, random: Random) -> None:
    """Runs in place of bounds, or bounds in place of runs: one leaf, or all."""
    old, new = random.choice([("proved", "run"), ("run", "proved")])
    leaves = list_leaves(tree, old)
    count = sum(len(head["axes"]) for head in tree["axes"] if isinstance(head["axes"], list)) or 1
    for leaf in leaves if random.random() < 0.5 else leaves[: random.randint(0, 1)]:
        at = (3, 4, 5) if old == "proved" else (1, 2, 3)
        said = [leaf[i] for i in at]
        leaf[:] = ["run", *said] if new == "run" else ["proved", [-9.0] * count, [9.0] * count, *said]
    if new == "run" and random.random() < 0.7:
        tree |= {"mixing": None, "axes": []}
        tree["rounding_bound"] = None if tree["rounding_bound"] is None else 0.0
    if new == "proved" and random.random() < 0.7:
        tree |= {"mixing": 0, "axes": [{"centre": [0.0], "axes": [[1.0]]}]}
    fit_bounds(tree)


def hide_run(tree: Tree, random: Random) -> None:
    """A leaf that is run, inside of a split that parts nothing; a longer task would take for ever."""
    row, base = random.choice(tree["rows"]), find_base(tree)
    row[4] = ["split", 0, [[f"{2 ** (2 * base * base) - 1:x}", ["run", 1.0, 0, 0]]]]
    if random.random() < 0.5:
        tree["task"]["digits"] = random.choice([3, 4, 10])
        tree["inputs"] = str(base ** (2 * tree["task"]["digits"]))


def find_base(tree: Tree) -> int:
    return int(tree["task"].get("base", 10))
