"""The definitions of a module that a text needs, and those that they need in turn, word for word.

>>> print(excerpt_definitions("def one():\\n    return 1\\n\\n\\ndef two():\\n    return 2\\n", {"two"}))
def two():
    return 2
"""

import ast
from collections.abc import Iterable


def excerpt_definitions(source: str, wanted: Iterable[str]) -> str:
    """Top-level functions and classes by name, in the order of the module."""
    lines, tree = source.splitlines(), ast.parse(source)
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    kept, open_names = set[str](), [name for name in wanted if name in defined]
    while open_names:
        name = open_names.pop()
        if name not in kept:
            kept.add(name)
            open_names += [found for found in _list_read_names(defined[name]) if found in defined]
    texts = [
        "\n".join(lines[node.lineno - 1 : node.end_lineno]) for name, node in defined.items() if name in kept
    ]
    return "\n\n\n".join(texts)


def _list_read_names(node: ast.AST) -> set[str]:
    """The names that a definition reads."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
