"""True certificates hold; anything changed in one is found; what is no certificate is an error."""

import copy
import random

import numpy as np
import pytest

from glassformer.checker.certificate import check_certificate
from glassformer.checker.claims import hash_model_tree
from glassformer.checker.columns import PairClass, open_class
from glassformer.checker.reading import read_adder_certificate
from glassformer.core.errors import UserError
from glassformer.tasks import Addition
from tests.checker.conftest import altered, proved
from tests.checker.originals import make_original
from tests.proofs.small import nanogpt
from tests.proofs.stacked import stack_layer
from tests.selection import each

HEX = 16


def leaf(tree, row=1000):
    """A proved leaf, in the middle of the file."""
    return tree["rows"][row][4]


def mask_text(mask):
    return f"{sum(1 << int(bit) for bit in np.flatnonzero(mask)):x}"


def some_pair(here):
    """Any pair of a part."""
    numbers, carry = [0, 0], 0
    for column in range(len(here.columns)):
        _, x, y = (int(n) for n in np.argwhere(here.reachable(column))[0])
        case = np.zeros((2, 10, 10), bool)
        case[carry, x, y] = True
        here = here.within(column, case)
        numbers = [numbers[0] + x * 10**column, numbers[1] + y * 10**column]
        carry = (carry + x + y) // 10
    return numbers


def split(tree, row=1000, column=7):
    """A row's leaf in two parts, by the parity of one digit; bounds of a class hold for its parts."""
    task, one = Addition(layout="lsb"), PairClass(*tree["rows"][row][:4], 10)
    here, parts = open_class(task, one), []
    for parity in (0, 1):
        mask = np.broadcast_to((np.arange(10) % 2 == parity)[:, None], (2, 10, 10))
        inner = copy.deepcopy(leaf(tree, row))
        inner[4:6] = some_pair(here.within(column, mask))
        parts.append([mask_text(mask), inner])
    tree["rows"][row][4] = ["split", column, parts]


@pytest.mark.parametrize("name", ["glass-23", "hand-5", "nanogpt-58"])
def test_a_certificate_of_the_prover_holds(name):
    assert check_certificate(proved(name)).valid


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["microadder-57", "hand-4", "tinyadder-95-repaired", "tinyadder-95", "rope-62"]
)
def test_a_certificate_of_any_kind_of_model_holds(name):
    assert check_certificate(proved(name)).valid


def test_a_split_class_holds(glass):
    result = check_certificate(altered(glass, split))
    assert result.valid, result.reason


def set_item(*path):
    *inner, last, value = path

    def change(tree):
        for key in inner:
            tree = tree[key]
        tree[last] = value

    return change


def narrow(end, by):
    def change(tree):
        low, high = leaf(tree)[1], leaf(tree)[2]
        leaf(tree)[end][0] += by * (high[0] - low[0])

    return change


def move_mask(tree):
    """One case of a column goes missing from the first part."""
    split(tree)
    first = leaf(tree)[2][0]
    first[0] = f"{int(first[0], HEX) & ~(1 << int(first[0], HEX).bit_length() - 1):x}"


def double_mask(tree):
    split(tree)
    leaf(tree)[2][1][0] = f"{int(leaf(tree)[2][1][0], HEX) | int(leaf(tree)[2][0][0], HEX):x}"


def swap_pairs(tree):
    split(tree)
    first, second = (part[1] for part in leaf(tree)[2])
    first[4:6], second[4:6] = second[4:6], first[4:6]


def other_weight(tree):
    values = tree["model"]["params"]["attn.out.weight"]["values"]
    values[0] = float(np.float32(float.fromhex(values[0])) * np.float32(1.001)).hex()


def other_weight_and_hash(tree):
    other_weight(tree)
    found = read_adder_certificate(tree)
    written = tree["model"]["architecture"]
    tree["model"]["sha256"] = hash_model_tree(written, found.architecture.precision, found.params)


def add_margin(tree):
    tree["hardest"][4]["margin"] *= 1.001


def without_margins(verdict):
    """Another verdict, and no numbers that only a proof has."""

    def change(tree):
        tree |= {"verdict": verdict, "hardest": []}
        tree |= dict.fromkeys(("smallest_margin", "margin_bound", "rounding_bound"))

    return change


def scale_margins(tree, by):
    """Every margin, and all that is said of them."""
    for row in tree["rows"]:
        row[4][3] *= by
    fit_bounds(tree)


def fit_bounds(tree):
    """The bounds of steps and of all, and which pairs are hardest, as the rows have them."""
    for one in tree["hardest"]:
        one["bound"] = min(row[4][3] for row in tree["rows"] if row[0] == one["step"])
        one["is_hardest"] = one["bound"] >= 0.995 * one["margin"]
    tree["margin_bound"] = min(one["bound"] for one in tree["hardest"])
    tree["smallest_margin"] = min(one["margin"] for one in tree["hardest"])


def raise_bounds(tree):
    """By a thousandth: the bound of a step is the margin of its hardest pair."""
    for row in tree["rows"]:
        row[4][3] = max(row[4][3], tree["hardest"][row[0]]["margin"])
    fit_bounds(tree)


def scale_hardest(tree, by):
    for one in tree["hardest"]:
        one["margin"] *= by
    fit_bounds(tree)


def easier_pair(tree):
    """Another pair of step 4, with its own margin, said to be the hardest."""
    tree["hardest"][4] |= {"a": 0, "b": 0, "margin": 100.0, "is_hardest": True}
    tree["smallest_margin"] = min(one["margin"] for one in tree["hardest"])


TAMPERED = {
    "verdict": (without_margins("undecided"), "verdict"),
    "refuted": (without_margins("refuted"), "verdict"),
    "low bound": (narrow(1, 1e-6), "low bound"),
    "high bound": (narrow(2, -1e-6), "high bound"),
    "empty box": (narrow(1, 2.0), "above its high bound"),
    "margin": (lambda tree: leaf(tree).__setitem__(3, leaf(tree)[3] * 20), "is said to lead by"),
    "margin bound": (set_item("margin_bound", 1e9), "bound of all margins"),
    "lower margin bound": (set_item("margin_bound", 1e-9), "bound of all margins"),
    "smallest": (set_item("smallest_margin", 1e9), "smallest margin"),
    "rounding": (set_item("rounding_bound", 1e-9), "rounding moves a logit"),
    "class dropped": (lambda tree: tree["rows"].pop(77), "is missing"),
    "class doubled": (lambda tree: tree["rows"].append(tree["rows"][5]), "is there 2 times"),
    "class of nothing": (lambda tree: tree["rows"].append([1, 9, 3, 1, tree["rows"][5][4]]), "holds no pair"),
    "pair": (lambda tree: leaf(tree).__setitem__(4, leaf(tree)[4] + 1), "not a pair of the class"),
    "large pair": (lambda tree: leaf(tree).__setitem__(4, 10**10), "no pair of 10-digit numbers"),
    "leaf": (lambda tree: tree["rows"][1000].__setitem__(4, ["undecided"]), "the classes are"),
    "false refutation": (
        lambda tree: tree["rows"][1000].__setitem__(4, ["refuted", *leaf(tree)[4:6], 3]),
        "the classes are",
    ),
    "counts": (set_item("classes", "total", 3441), "the classes are"),
    "inputs": (set_item("inputs", "10"), "inputs"),
    "hash": (set_item("model", "sha256", "0" * 64), "sha256"),
    "weight": (other_weight, "sha256"),
    "weight and hash": (other_weight_and_hash, ""),
    "hardest": (add_margin, "has the margin"),
    "hardest step": (lambda tree: tree["hardest"].pop(3), "hardest pair"),
    "arithmetic": (set_item("arithmetic", "float64"), "float64"),
    "axes": (set_item("axes", []), "axes"),
    "axis": (lambda tree: tree["axes"][0]["axes"].append([1.0]), "not of length 1"),
    "turn": (lambda tree: leaf(tree).append([[1.0, 0.0], [0.0, 1.0]]), "matrix of another size"),
    "scaled turn": (lambda tree: leaf(tree).append([[2.0]]), "no turn"),
    "scaled axes": (lambda tree: tree["axes"][0].update(axes=[[1e200]]), "not of length 1"),
    "far centre": (lambda tree: tree["axes"][0].update(centre=[1e6]), "not among its values"),
    "wide box": (lambda tree: leaf(tree)[2].__setitem__(0, 1e9), "outside of all values"),
    "bound as large as the margin": (raise_bounds, "is said to lead by"),
    "vast rounding": (set_item("rounding_bound", 1e13), "all that is found is"),
    "twice the smallest margin": (lambda tree: scale_hardest(tree, 2.0), "has the margin"),
    "an easier pair": (easier_pair, "to be the hardest pair"),
    "counterexample": (
        set_item("counterexample", {"a": 1, "b": 2, "expected": 3, "got": 4}),
        "verdict",
    ),
    "case left out": (move_mask, "leaves out"),
    "case twice": (double_mask, "overlap"),
    "pairs of parts": (swap_pairs, "not of its part"),
}


@pytest.mark.parametrize("kind", each(2, TAMPERED, also=("low bound", "margin", "class doubled")))
def test_whatever_is_changed_is_found(glass, kind):
    change, reason = TAMPERED[kind]
    result = check_certificate(altered(glass, change))
    assert not result.valid
    assert reason in result.reason


def test_lower_claims_hold_and_say_how_little_they_say(glass):
    """Half of every margin is true too, but then no pair is called the hardest."""
    result = check_certificate(altered(glass, lambda tree: scale_margins(tree, 0.5)))
    assert result.valid, result.reason
    assert result.margin_bound == 0.5 * glass["margin_bound"]
    said = check_certificate(altered(glass, half_of_every_margin_and_still_the_hardest))
    assert "to be the hardest pair" in said.reason


def half_of_every_margin_and_still_the_hardest(tree):
    scale_margins(tree, 0.5)
    for one in tree["hardest"]:
        one["is_hardest"] = True


@pytest.mark.parametrize("where", [(), ("model",), ("task",), ("classes",), ("hardest", 2), ("axes", 0)])
def test_a_field_that_no_certificate_has_is_refused(glass, where):
    def change(tree):
        for key in where:
            tree = tree[key]
        tree["note"] = "checked by a notary"

    with pytest.raises(UserError, match="note"):
        check_certificate(altered(glass, change))


UNTIDY = {
    "true for a number": set_item("classes", "undecided", False),
    "a float for a whole number": set_item("classes", "total", 3440.0),
    "a whole number for a float": set_item("margin_bound", 1),
    "-0.0": lambda tree: leaf(tree)[1].__setitem__(0, -0.0),
    "a number as text": lambda tree: leaf(tree).__setitem__(3, str(leaf(tree)[3])),
    "a longer leaf": lambda tree: leaf(tree).extend([[[1.0]], 7]),
    "a setting of training": set_item("task", "carry_mix", 0.5),
    "7.0 for 7": set_item("task", "digits", 10.0),
    "another architecture text": lambda tree: tree["model"]["architecture"].pop("context"),
    "capital hexadecimal": set_item("model", "sha256", "A" * 64),
    "a long origin": set_item("model", "origin", "x" * 401),
    "an origin that turns the line": set_item("model", "origin", "glass\u202e92"),
    "made with a bell": set_item("made_with", "\a"),
    "a parameter written otherwise": lambda tree: tree["model"]["params"]["attn.out.weight"][
        "values"
    ].__setitem__(0, "0X" + tree["model"]["params"]["attn.out.weight"]["values"][0][2:]),
    "deep splits": lambda tree: tree["rows"][9].__setitem__(4, nested(70)),
    "margins of a refuted one": set_item("verdict", "refuted"),
}


def nested(depth):
    return ["undecided"] if not depth else ["split", 0, [["f" * 50, nested(depth - 1)]]]


@pytest.mark.parametrize("kind", UNTIDY)
def test_every_value_has_one_form(glass, kind):
    with pytest.raises(UserError):
        check_certificate(altered(glass, UNTIDY[kind]))


def test_a_changed_file_is_found_by_its_digest(glass):
    assert "digest" in check_certificate({**glass, "made_with": "another"}).reason


def test_a_counterexample_must_be_wrong_as_it_says():
    tree = proved("nanogpt-58")
    for key, value, reason in (
        ("got", 3, "the model says"),
        ("a", 1, "the model says"),
    ):
        result = check_certificate(altered(tree, set_item("counterexample", key, value)))
        assert not result.valid
        assert reason in result.reason


def test_a_refuted_class_must_be_wrong_as_it_says():
    tree = proved("nanogpt-58")
    row = next(i for i, row in enumerate(tree["rows"]) if row[4][0] == "refuted")
    result = check_certificate(altered(tree, lambda tree: tree["rows"][row][4].__setitem__(3, 0)))
    assert not result.valid
    assert "is claimed" in result.reason


NEEDED = ("format", "model", "task", "arithmetic", "verdict", "inputs", "smallest_margin", "margin_bound")
NEEDED += ("rounding_bound", "hardest", "classes", "axes", "rows", "digest")


@pytest.mark.parametrize("key", NEEDED)
def test_a_field_that_is_missing_is_an_error(glass, key):
    with pytest.raises(UserError):
        check_certificate({name: value for name, value in glass.items() if name != key})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"format": 1}',
        '{"format": 3, "task": {}}',
        '{"format": 3.0}',
        '{"format": NaN}',
        "[" * 9999,
    ],
)
def test_a_file_that_is_no_certificate_is_an_error(tmp_path, text):
    path = tmp_path / "certificate.json"
    path.write_text(text)
    with pytest.raises(UserError):
        check_certificate(path)
    with pytest.raises(UserError):
        check_certificate(tmp_path / "nothing.json")


def nodes(tree, path=()):
    """Paths to some of everything in a tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree[:3]) if isinstance(tree, list) else ()
    for key, value in items:
        yield from nodes(value, (*path, key))


def test_no_value_of_any_type_breaks_the_check():
    tree = proved("hand-10", Addition(digits=1, layout="lsb24"))  # made for ten digits: refuted, and small
    paths, dice = [path for path in nodes(tree) if path], random.Random(0)
    for path in dice.sample(paths, 150):
        value = dice.choice([None, True, -1, 10**400, 1.5, 1e308, "x", [], {}, [[]], ["proved"], [1, 2]])
        try:
            assert isinstance(check_certificate(altered(tree, set_item(*path, value))).reason, str)
        except UserError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("size, behind", [(1e-6, True), (1e-8, False)])
def test_a_second_layer_that_writes_little_is_enclosed(size, behind):
    """And only the layer that the rows are about will do."""
    model, task = nanogpt(1)
    tree = make_original(stack_layer(model, size, behind), task, False)
    assert tree["mixing"] == (0 if behind else 1) and {row[4][0] for row in tree["rows"]} == {"proved"}
    assert check_certificate(tree).valid
    assert "is not named" in check_certificate(altered(tree, set_item("mixing", None))).reason
    assert not check_certificate(altered(tree, set_item("mixing", 1 - tree["mixing"]))).valid
    rounding = 2 * tree["margin_bound"]
    assert "rounding" in check_certificate(altered(tree, set_item("rounding_bound", rounding))).reason


def test_a_bound_may_be_beyond_all_values_by_what_these_are_unsure_of():
    model, task = nanogpt(1)
    assert check_certificate(make_original(stack_layer(model, 1e-6, behind=False), task, False)).valid


@pytest.mark.parametrize("mixing", [-1, 7, 10**30, "0", 0.0, True, [0]])
def test_what_is_no_layer_is_an_error(glass, mixing):
    with pytest.raises(UserError):
        check_certificate(altered(glass, set_item("mixing", mixing)))


def test_real_numbers_are_never_rounded():
    model, task = nanogpt(1)
    tree = make_original(stack_layer(model, 1e-6), task, True)
    assert check_certificate(tree).valid and tree["rounding_bound"] == 0.0
    assert "rounding" in check_certificate(altered(tree, set_item("rounding_bound", 1e-9))).reason
