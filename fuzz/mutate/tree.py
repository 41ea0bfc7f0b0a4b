"""Damage to a parsed tree: one value replaced, a key deleted or renamed, a branch of another tree grafted.

Trees are not copied: only what lies above a change is new.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from fuzz.mutate.values import draw_text, draw_value, nudge

Path = tuple[Any, ...]
STOP = 0.12  # chance at each node on the way down that it is taken, rather than one below it


def mutate_tree(tree: Any, random: Random, donors: Sequence[Any] = (), most: int = 3) -> Any:
    """The tree with one to `most` changes; branches of donors may be grafted in."""
    for _ in range(random.choice((1, 1, *range(1, most + 1)))):
        tree = random.choice(CHANGES)(tree, random, donors or (tree,))
    return tree


def draw_path(tree: Any, random: Random) -> Path:
    """The way to some node below the root, or to the root where nothing is below it."""
    path: Path = ()
    while isinstance(tree, dict | list) and tree and not (path and random.random() < STOP):
        key = random.choice(list(tree)) if isinstance(tree, dict) else random.randrange(len(tree))
        path, tree = (*path, key), tree[key]
    return path


def get_node(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def change_node(tree: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A tree whose node at the path is another."""
    if not path:
        return change(tree)
    key, *rest = path
    result = dict(tree) if isinstance(tree, dict) else list(tree)
    result[key] = change_node(tree[key], tuple(rest), change)
    return result


def replace_value(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    return change_node(tree, draw_path(tree, random), lambda _: draw_value(random))


def nudge_value(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    return change_node(tree, draw_path(tree, random), lambda value: nudge(value, random))


def graft(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    """A branch of a donor, at the same path where it has one, else at any."""
    donor, path = random.choice(donors), draw_path(tree, random)
    try:
        branch = get_node(donor, path)
    except (KeyError, IndexError, TypeError):
        branch = get_node(donor, draw_path(donor, random))
    return change_node(tree, path, lambda _: branch)


def graft_anywhere(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    donor = random.choice(donors)
    branch = get_node(donor, draw_path(donor, random))
    return change_node(tree, draw_path(tree, random), lambda _: branch)


def change_holder(tree: Any, random: Random, change: Callable[[Any, Any], Any]) -> Any:
    """Change the dict or list that some node lies in; `change` gets it, as a copy, and the node's key."""
    path = draw_path(tree, random)
    if not path:
        return tree
    return change_node(
        tree,
        path[:-1],
        lambda holder: change(dict(holder) if isinstance(holder, dict) else list(holder), path[-1]),
    )


def delete(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    def without(holder: Any, key: Any) -> Any:
        del holder[key]
        return holder

    return change_holder(tree, random, without)


def duplicate(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    """An item many times, or a value under another name too."""

    def doubled(holder: Any, key: Any) -> Any:
        if isinstance(holder, dict):
            return holder | {f"{key}{draw_text(random)}": holder[key]}
        return holder[:key] + [holder[key]] * random.choice((1, 2, 50)) + holder[key:]

    return change_holder(tree, random, doubled)


def rename(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    def renamed(holder: Any, key: Any) -> Any:
        if isinstance(holder, dict):
            return {(draw_text(random) if name == key else name): value for name, value in holder.items()}
        return holder[::-1]

    return change_holder(tree, random, renamed)


def swap(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    """Two values of a table or a list change places."""

    def swapped(holder: Any, key: Any) -> Any:
        other = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
        holder[key], holder[other] = holder[other], holder[key]
        return holder

    return change_holder(tree, random, swapped)


def wrap(tree: Any, random: Random, donors: Sequence[Any]) -> Any:
    """A value as the only one of a list or a table, or many tables deep."""
    path, depth = draw_path(tree, random), random.choice((1, 1, 2, 200))

    def wrapped(value: Any) -> Any:
        for _ in range(depth):
            value = [value] if depth == 1 else {"a": value}
        return value

    return change_node(tree, path, wrapped)


Change = Callable[[Any, Random, Sequence[Any]], Any]
CHANGES: tuple[Change, ...] = (
    *(replace_value, replace_value, replace_value, nudge_value, nudge_value, graft, graft, graft_anywhere),
    *(delete, duplicate, rename, swap, wrap),
)
