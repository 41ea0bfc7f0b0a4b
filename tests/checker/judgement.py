"""Whether the claims of a certificate are true, by running every pair: at two digits there are 10,000.

Nothing of the checker or the prover is used, only the model's own pass; margins are those of the same pass in
float64, so a certificate in float32 is judged up to what float32 can move a logit by.
"""

import hashlib
import json
from functools import lru_cache
from typing import Any

import numpy as np

from glassformer.models.architecture import Architecture
from glassformer.models.model import Model, to_float64
from glassformer.runs.tree import from_tree
from glassformer.tasks.layouts import make_layout
from tests.checker.leaf_changes import list_leaves
from tests.checker.sealing import hash_stored

SAME = 2e-4  # relative: the stated tolerance of a margin, and our own rounding
HARDEST = 0.995
SPREAD = 1e-8  # of the coordinates: bounds may be off by a thousandth of that
UNITS = {"float32": 2.0**-24, "float64": 2.0**-53}
NOISE = 256  # units of the largest logit that a margin in float64 may be off by
Tree = dict[str, Any]


class Pairs:
    """All pairs of a task, the model's logits for each step, and its mixes."""

    def __init__(self, tree: Tree) -> None:
        shape = from_tree(Architecture, tree["model"]["architecture"], "")
        params = {
            name: np.array([float.fromhex(value) for value in one["values"]]).reshape(one["shape"])
            for name, one in tree["model"]["params"].items()
        }
        self.model = Model(shape, params)
        self.digits, self.base = tree["task"]["digits"], tree["task"].get("base", 10)
        self.layout = make_layout(tree["task"]["layout"], self.digits, self.base)
        count = self.base**self.digits
        self.a, self.b = np.divmod(np.arange(count * count), count)
        powers = self.base ** np.arange(self.digits + 1)[:, None]
        x, y = (number // powers[:-1] % self.base for number in (self.a, self.b))
        z = (self.a + self.b) // powers % self.base
        self.carry = np.concatenate(
            [np.zeros((1, len(self.a)), int), (self.a % powers[1:] + self.b % powers[1:]) // powers[1:]]
        )
        self.x, self.y = x, y
        self.tokens = self.layout.encode(x, y, z)
        exact, steps = to_float64(self.model), range(self.digits + 1)
        self.right = [self.tokens[self.layout.prompt_length + step] for step in steps]
        self.deployed = [self._logits(self.model, step) for step in steps]
        self.logits = [self._logits(exact, step) for step in steps]
        self.gaps = [self._gap(logits, right) for logits, right in zip(self.logits, self.right, strict=True)]
        self.run = [self._gap(logits, right) for logits, right in zip(self.deployed, self.right, strict=True)]
        self.noise = NOISE * UNITS[shape.precision] * max(float(np.abs(one).max()) for one in self.logits)
        self.traced = exact.trace(self.tokens[:-1].T)

    def _logits(self, model: Model, step: int) -> np.ndarray:
        return model.logits(self.tokens[: self.layout.prompt_length + step], last=1)[:, 0].astype(float)

    def _gap(self, logits: np.ndarray, right: np.ndarray) -> np.ndarray:
        every = np.arange(len(right))
        others = logits.copy()
        others[right, every] = -np.inf
        return logits[right, every] - others.max(0)

    def index(self, a: int, b: int) -> int:
        if not (0 <= a < self.base**self.digits and 0 <= b < self.base**self.digits):
            raise ValueError(f"{a} + {b} is no pair")
        return a * self.base**self.digits + b

    def classes(self, step: int) -> np.ndarray:
        """Previous token, sum of the column and carry into it, of every pair."""
        at = self.layout.prompt_length + step
        column = list(self.layout.z_positions).index(at)
        sums = self.x[column] + self.y[column] if column < self.digits else np.full(len(self.a), -1)
        return np.stack([self.tokens[at - 1], sums, self.carry[column]], 1)

    def coordinates(self, tree: Tree, step: int) -> np.ndarray:
        """axis . (mix - centre) of every head, `pair coordinate`."""
        at, layer = self.layout.prompt_length - 1 + step, tree["mixing"]
        name = f"layer{layer}.attn." if len(self.model.architecture.layers) > 1 else "attn."
        mixed, found, first = self.traced[f"{name}mixed"][:, at], [], 0
        is_split = sum(len(one["centre"]) for one in tree["axes"]) == mixed.shape[1]
        for head, one in enumerate(tree["axes"]):
            mix = mixed[:, first : first + len(one["centre"])]
            if not is_split:  # the head carries the stream itself
                weights, inner = self.traced[f"{name}weights.{head}"][:, at], self.traced[f"{name}input"]
                mix = np.einsum("bk,bkd->bd", weights, inner)
            first += len(one["centre"])
            found.append((mix - one["centre"]) @ np.array(one["axes"]).T)
        return np.concatenate(found, 1)


@lru_cache(maxsize=8)
def _run_pairs(text: str) -> Pairs:
    return Pairs(json.loads(text))


def find_false_claim(tree: Tree) -> str:
    """The first claim that is not true, within the stated tolerances; empty: all are."""
    rest = {key: value for key, value in tree.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    if (
        hashlib.sha256(text.encode()).hexdigest() != tree["digest"]
        or hash_stored(tree["model"]) != tree["model"]["sha256"]
    ):
        return "a hash"
    model = {key: tree["model"][key] for key in ("architecture", "params")}
    pairs = _run_pairs(json.dumps({"model": model, "task": tree["task"]}))
    if tree["inputs"] != str(len(pairs.a)) or tree["format"] != 3:
        return "inputs"
    if tree["arithmetic"] not in (pairs.model.architecture.precision, "real"):
        return "arithmetic"
    return (
        _judge_kinds(tree, pairs)
        or _judge_verdict(tree, pairs)
        or _judge_margins(tree, pairs)
        or _judge_rows(tree, pairs)
    )


def _judge_kinds(tree: Tree, pairs: Pairs) -> str:
    """Bounds have a layer and axes, and runs have neither, nor rounding, nor another arithmetic."""
    is_bounded, is_run = (bool(list_leaves(tree, kind)) for kind in ("proved", "run"))
    attending = [index for index, layer in enumerate(pairs.model.architecture.layers) if layer.attention]
    if is_bounded and (type(tree["mixing"]) is not int or tree["mixing"] not in attending):
        return "the layer of the mix"
    if not is_bounded and (tree["mixing"] is not None or tree["axes"]):
        return "a mix that nothing rests on"
    is_deployed = tree["arithmetic"] == pairs.model.architecture.precision and tree["backend"] == "own"
    return "a run" if is_run and (is_bounded or not is_deployed or tree["rounding_bound"]) else ""


def _judge_verdict(tree: Tree, pairs: Pairs) -> str:
    steps = list(
        zip(pairs.deployed if tree["arithmetic"] != "real" else pairs.logits, pairs.right, strict=True)
    )
    wrong = np.any([pairs._gap(logits, right) <= 0 for logits, right in steps], 0)
    claim = tree["counterexample"]
    if (tree["verdict"] == "refuted") != (claim is not None):
        return "the counterexample"
    if tree["verdict"] == "proved":
        return "proved" if wrong.any() else ""
    if claim is None:
        return ""
    is_wrong = [
        pairs._gap(logits, right) <= 0 for logits, right in zip(pairs.deployed, pairs.right, strict=True)
    ]
    if (
        claim["expected"] != claim["a"] + claim["b"]
        or not np.any(is_wrong, 0)[pairs.index(claim["a"], claim["b"])]
    ):
        return "the counterexample"
    return "" if claim["got"] != claim["expected"] else "what the model says"


def _judge_margins(tree: Tree, pairs: Pairs) -> str:
    if tree["verdict"] != "proved":
        said = [tree[name] for name in ("smallest_margin", "margin_bound", "rounding_bound")]
        return "" if said == [None] * 3 and not tree["hardest"] else "numbers without a proof"
    is_run = bool(list_leaves(tree, "run"))
    gaps = pairs.run if is_run else pairs.gaps
    for step, one in enumerate(tree["hardest"]):
        least, margin = gaps[step].min(), gaps[step][pairs.index(one["a"], one["b"])]
        room = 0.0 if is_run else SAME * abs(margin) + pairs.noise
        if one["step"] != step or abs(one["margin"] - margin) > room or one["bound"] > least + room:
            return f"hardest of step {step}"
        if one["is_hardest"] and least < HARDEST * margin - room:
            return f"step {step} has a harder pair"
    every = min(gap.min() for gap in gaps)
    room = 0.0 if is_run else SAME * every + pairs.noise
    if tree["margin_bound"] > every + room or not every - room <= tree["smallest_margin"]:
        return "margins"
    if tree["smallest_margin"] != min(one["margin"] for one in tree["hardest"]):
        return "the smallest margin"
    return "" if is_run else _judge_rounding(tree, pairs)


def _judge_rounding(tree: Tree, pairs: Pairs) -> str:
    if tree["arithmetic"] == "real":
        return "rounding" if tree["rounding_bound"] else ""
    steps = zip(pairs.deployed, pairs.right, pairs.gaps, strict=True)
    moved = max(float(np.abs(pairs._gap(logits, right) - gap).max()) for logits, right, gap in steps)
    noise = moved if pairs.model.architecture.precision == "float64" else 0.0  # float64 against itself
    return "rounding" if moved - noise > 2 * tree["rounding_bound"] + pairs.noise else ""


def _judge_rows(tree: Tree, pairs: Pairs) -> str:
    seen = {step: np.zeros(len(pairs.a), int) for step in range(pairs.digits + 1)}
    counts = {"total": len(tree["rows"]), "proved": 0, "refuted": 0, "undecided": 0}
    for step, previous, total, carry, leaf in tree["rows"]:
        held = (pairs.classes(step) == [previous, total, carry]).all(1)
        seen[step] += held
        kinds: set[str] = set()
        said = _judge_leaf(tree, pairs, step, held, leaf, kinds)
        if said or not held.any():
            return said or "a class without pairs"
        counts["refuted" if "refuted" in kinds else "undecided" if "undecided" in kinds else "proved"] += 1
    if counts != tree["classes"] or any((times != 1).any() for times in seen.values()):
        return "classes"
    return ""


def _judge_leaf(tree: Tree, pairs: Pairs, step: int, held: np.ndarray, leaf: Any, kinds: set[str]) -> str:
    if leaf[0] == "split":
        column, base = leaf[1], pairs.base
        case = base**2 * pairs.carry[column] + base * pairs.x[column] + pairs.y[column]
        cases = range(2 * base**2)
        inside = np.array([[int(mask, 16) >> c & 1 for c in cases] for mask, _ in leaf[2]], bool)[:, case]
        if (inside[:, held].sum(0) != 1).any():
            return "a split"
        parts = zip(inside, leaf[2], strict=True)
        return next(
            (s for mask, (_, one) in parts if (s := _judge_leaf(tree, pairs, step, held & mask, one, kinds))),
            "",
        )
    kinds.add("proved" if leaf[0] == "run" else leaf[0])
    if leaf[0] == "run":
        at, least = pairs.index(leaf[2], leaf[3]), pairs.run[step][held].min()
        return "" if held[at] and leaf[1] == least == pairs.run[step][at] and least > 0 else "a run's margin"
    if leaf[0] == "undecided":
        return ""
    if leaf[0] == "refuted":
        at = pairs.index(leaf[1], leaf[2])
        said = int(pairs.deployed[step][:, at].argmax())
        return "" if held[at] and said == leaf[3] != pairs.right[step][at] else "a refuted leaf"
    _, low, high, margin, a, b, *turn = leaf
    if (
        not held[pairs.index(a, b)]
        or pairs.gaps[step][held].min() * (1 + SAME) + pairs.noise < margin
        or margin <= 0
    ):
        return f"a margin of step {step}"
    where = pairs.coordinates(tree, step)[held] @ np.array(turn[0] if turn else np.eye(len(low))).T
    room = SPREAD * (1 + np.abs(where).max()) * (1 if pairs.noise < 1e-6 else 100)
    return (
        "" if (where >= np.array(low) - room).all() and (where <= np.array(high) + room).all() else "bounds"
    )
