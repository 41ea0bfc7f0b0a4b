"""The state of the house in numbers: doors, names, sizes, types, imports and what must be installed.

    python -m tools.house                     this tree
    python -m tools.house OLD/src/glassformer --against src/glassformer      two trees, side by side

Only sources are read; nothing is imported.
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

SOURCE = Path("src/glassformer")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
_TYPES = ast.Name | ast.Subscript | ast.BinOp  # what an alias of a type can be written as


@dataclass(frozen=True)
class House:
    """What is counted of one tree."""

    files: int
    lines: int
    functions: int  # at the top of a module or a class, and inside others
    median_function_lines: int
    median_file_lines: int
    largest_file_lines: int
    public_names: int  # functions, classes and constants at the top of a module
    private_names: int
    functions_used_in_one_file: int  # public functions that no other file of the package names
    names_defined_more_than_once: int  # functions and classes, public ones
    functions_with_any_percent: float  # whose signature says Any, itself or by an alias of it
    longest_import_chain: int  # modules that import one another at their top, one after the other
    longest_package_chain: int  # the same for packages
    modules_with_a_mirrored_test: float  # percent of all modules, for which find_mirrored_test finds a file


class Tree:
    """The modules of a package, by dotted name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.texts = {
            self._name(path): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))
        }
        self.modules = {name: ast.parse(text) for name, text in self.texts.items()}

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self.root.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def functions(self) -> Iterator[Function]:
        for module in self.modules.values():
            yield from (node for node in ast.walk(module) if isinstance(node, Function))

    @cached_property
    def top_names(self) -> dict[str, list[str]]:
        """Module to the names that it defines at its top."""
        return {name: list(_top_names(module)) for name, module in self.modules.items()}

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Module to the modules of the package that it imports at its top."""
        return {name: _imported_modules(module, set(self.modules)) for name, module in self.modules.items()}


def _top_names(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


def _imported_modules(module: ast.Module, known: set[str]) -> set[str]:
    found = set[str]()
    for node in module.body:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found & known


def measure_house(root: Path) -> House:
    """Count one tree."""
    tree = Tree(root)
    functions = list(tree.functions())
    files = [text.count("\n") for text in tree.texts.values()]
    names = [name for names in tree.top_names.values() for name in names if not name.startswith("__")]
    return House(
        files=len(files),
        lines=sum(files),
        functions=len(functions),
        median_function_lines=_median([(node.end_lineno or 0) - node.lineno + 1 for node in functions]),
        median_file_lines=_median(files),
        largest_file_lines=max(files),
        public_names=sum(not name.startswith("_") for name in names),
        private_names=sum(name.startswith("_") for name in names),
        functions_used_in_one_file=count_kept_functions(tree),
        names_defined_more_than_once=len(find_repeated_names(tree)),
        functions_with_any_percent=round(100 * count_any_functions(tree) / len(functions), 1),
        longest_import_chain=measure_chain(tree.imports),
        longest_package_chain=measure_chain(_package_imports(tree)),
        modules_with_a_mirrored_test=measure_mirrored_modules(root),
    )


def measure_mirrored_modules(root: Path) -> float:
    """Percent of the modules below a root that have a test of their name; the tests are beside src/."""
    modules = list_modules(root)
    mirrored = [
        find_mirrored_test(one.relative_to(root), root.resolve().parents[1] / "tests") for one in modules
    ]
    return round(100 * sum(path.exists() for path in mirrored) / len(modules), 1)


def list_modules(root: Path) -> list[Path]:
    """All files of a package but those that only join others: __init__.py and __main__.py."""
    return [path for path in sorted(root.rglob("*.py")) if not path.stem.startswith("__")]


def find_mirrored_test(module: Path, tests: Path) -> Path:
    """Where the test of a module is looked for first.

    >>> find_mirrored_test(Path("proofs/question.py"), Path("tests")).as_posix()
    'tests/proofs/test_question.py'
    """
    return tests / module.parent / f"test_{module.name}"


def count_kept_functions(tree: Tree) -> int:
    """Public functions at the top of a module that no other module has the name of."""
    words = {name: set(_words(module)) for name, module in tree.modules.items()}
    used = Counter(word for found in words.values() for word in found)
    return sum(
        used[node.name] <= 1 and not node.name.startswith("_")
        for module in tree.modules.values()
        for node in module.body
        if isinstance(node, Function)
    )


def _words(module: ast.Module) -> Iterator[str]:
    """All names that a module defines, reads or imports."""
    for node in ast.walk(module):
        if isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name


def find_repeated_names(tree: Tree) -> dict[str, list[str]]:
    """Public functions and classes that several modules define, with the modules."""
    places: dict[str, list[str]] = {}
    for name, module in tree.modules.items():
        for node in module.body:
            if isinstance(node, Definition) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name)
    return {name: found for name, found in places.items() if len(found) > 1}


def count_any_functions(tree: Tree) -> int:
    """Functions whose signature says Any or an alias that does: Data, where Data = dict[str, Any]."""
    aliases = find_any_aliases(tree)
    return sum(
        any(_names(one) & aliases[name] for one in _annotations(node))
        for name, module in tree.modules.items()
        for node in ast.walk(module)
        if isinstance(node, Function)
    )


def find_any_aliases(tree: Tree) -> dict[str, set[str]]:
    """Module to the names that stand for Any in it: Any, its own aliases and those that it imports."""
    found = {name: {"Any"} for name in tree.modules}
    while True:
        size = sum(map(len, found.values()))
        for name, module in tree.modules.items():
            for node in ast.walk(module):
                found[name] |= _new_aliases(node, found[name], found)
        if sum(map(len, found.values())) == size:
            return found


def _new_aliases(node: ast.AST, known: set[str], found: dict[str, set[str]]) -> set[str]:
    """The aliases of a type that a statement makes of known ones, or imports."""
    if isinstance(node, ast.ImportFrom) and node.module in found:
        return {one.asname or one.name for one in node.names if one.name in found[node.module]}
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, _TYPES):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {one.id for one in targets if isinstance(one, ast.Name) and one.id.lstrip("_")[:1].isupper()}
        return names if _names(node.value) & known else set()
    return set()


def _annotations(function: Function) -> Iterator[ast.expr]:
    said = [one.annotation for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    yield from (one for one in [*said, function.returns] if one is not None)


def _names(hint: ast.expr) -> set[str]:
    """Every name in a hint, also in one that is quoted."""
    if isinstance(hint, ast.Constant) and isinstance(hint.value, str) and hint.value.isidentifier():
        return {hint.value}
    return {node.id for node in ast.walk(hint) if isinstance(node, ast.Name)}


def measure_chain(imports: dict[str, set[str]]) -> int:
    """Members of the longest way along imports; a circle counts once.

    >>> measure_chain({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    3
    """
    known: dict[str, int] = {}

    def length(name: str, seen: frozenset[str]) -> int:
        if name not in known:
            further = imports[name] - seen - {name}
            known[name] = 1 + max((length(one, seen | {name}) for one in sorted(further)), default=0)
        return known[name]

    return max(length(name, frozenset()) for name in imports)


def _package_imports(tree: Tree) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, imported in tree.imports.items():
        parts = {one.split(".")[1] for one in imported if "." in one}
        if "." in name:
            found.setdefault(name.split(".")[1], set()).update(parts)
    return found


def _median(numbers: list[int]) -> int:
    return sorted(numbers)[len(numbers) // 2]


def measure_folder(folder: Path) -> int:
    """Megabytes of all files in a folder: an installed environment."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) // 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("root", nargs="?", type=Path, default=SOURCE)
    parser.add_argument("--against", type=Path, help="a second tree")
    parser.add_argument("--environment", type=Path, help="an installed environment, for its size")
    parser.add_argument("--repeated", action="store_true", help="the names that are defined more than once")
    asked = parser.parse_args()
    houses = [asdict(measure_house(root)) for root in (asked.root, asked.against) if root]
    for name in houses[0]:
        print(f"| {name.replace('_', ' ')} |", " | ".join(f"{house[name]:,}" for house in houses), "|")
    if asked.environment:
        print(f"| installed, MB | {measure_folder(asked.environment):,} |")
    for name, modules in find_repeated_names(Tree(asked.root)).items() if asked.repeated else ():
        print(f"{name}: {', '.join(modules)}")


if __name__ == "__main__":
    main()
