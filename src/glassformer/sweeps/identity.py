"""A digest of the settings that a result depends on: two configurations with the same digest are the same.

Where it runs, what it is called, what is drawn and how many seeds there are make no other configuration. Only
what differs from the defaults counts, so that a setting that is added some day leaves old results valid.
"""

import hashlib
import json
from functools import cache
from typing import Any

from glassformer.runs.config import Run
from glassformer.runs.resolve import list_setting_leaves
from glassformer.runs.tree import to_tree

_WITHOUT = {"name", "about", "prove.seeds", "rule_file"}  # the last is of older versions, and empty
_WITHOUT |= {f"train.{name}" for name in ("seeds", "first_seed", "device", "threads", "keep_checkpoints")}
_PARTS_WITHOUT = ("draw.", "measure.")  # what `run` does at its end and a sweep does not
_LETTERS = 12  # of the digest: 48 bits, far beyond the number of configurations of any sweep


def digest_settings(tree: dict[str, Any]) -> str:
    """Twelve hexadecimal digits."""
    counted = json.dumps(select_counted_settings(tree), sort_keys=True)
    return hashlib.sha256(counted.encode()).hexdigest()[:_LETTERS]


def select_counted_settings(tree: dict[str, Any]) -> dict[str, Any]:
    """The settings that count and are not the defaults, by their dotted paths."""
    usual = _list_default_settings()
    return {
        path: value
        for path, value in list_setting_leaves(tree).items()
        if is_counted_setting(path) and usual.get(path) != value
    }


def is_counted_setting(path: str) -> bool:
    """Whether a result depends on this setting."""
    return path not in _WITHOUT and not path.startswith(_PARTS_WITHOUT)


@cache
def _list_default_settings() -> dict[str, Any]:
    return list_setting_leaves(to_tree(Run()))
