"""Doors: a package's `DOORS` lists what other packages may import; what stays in its file begins with `_`."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import glassformer

ROOT = Path(glassformer.__file__).parent
HOUSE = ROOT.parents[1]
PACKAGES = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())
# Names that a protocol asks a module for: the pictures' own, and a program's entry.
PROTOCOL = {"compute", "draw", "caption", "title", "perform", "main"}
COPIED = "glassformer.exports.plain_arrays"  # its functions are copied into exported files as they are
Use = tuple[str, str]  # module, name


def modules(folder: Path) -> dict[str, ast.Module]:
    """Dotted name to syntax tree, of all files below a folder of the house."""
    base = ROOT.parent if folder.is_relative_to(ROOT) else HOUSE
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(base).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text())
    return found


SOURCE = modules(ROOT)
OUTSIDE = {
    name: tree
    for folder in ("tests", "tools", "benchmarks", "fuzz")
    for name, tree in modules(HOUSE / folder).items()
}


def imported(tree: ast.Module) -> Iterator[Use]:
    """What a module takes from others of glassformer, by `from m import name` or as `m.name`."""
    aliases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glassformer"):
            for one in node.names:
                full = f"{node.module}.{one.name}"
                if full in SOURCE:
                    aliases[one.asname or one.name] = full
                else:
                    yield node.module or "", one.name
        elif isinstance(node, ast.Import):
            aliases |= {one.asname or one.name: one.name for one in node.names if one.name in SOURCE}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = aliases.get(ast.unparse(node.value))
            if module and f"{module}.{node.attr}" not in SOURCE:
                yield module, node.attr


def package_of(module: str) -> str:
    """glassformer.proofs.verdict is of proofs; the root is of no package."""
    return module.split(".")[1] if "." in module else ""


def allowed(module: str, name: str) -> bool:
    package = import_module(f"glassformer.{package_of(module)}")
    inner = module.removeprefix(f"{package.__name__}").removeprefix(".")
    return name in package.DOORS.get(inner, "").split() or (
        not inner and name in getattr(package, "__all__", ())
    )


def test_other_packages_come_in_by_the_doors():
    strange = [
        f"{module} imports {name} from {source}"
        for module, tree in SOURCE.items()
        for source, name in imported(tree)
        if source != "glassformer" and package_of(module) != package_of(source) and not allowed(source, name)
    ]
    assert strange == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_door_leads_somewhere(package):
    """A name that no other package imports any more is not offered."""
    used = {use for module, tree in SOURCE.items() if package_of(module) != package for use in imported(tree)}
    offered = {
        (f"glassformer.{package}.{module}".rstrip("."), name)
        for module, names in import_module(f"glassformer.{package}").DOORS.items()
        for name in names.split()
    }
    assert offered - used == set()


def test_no_module_imports_what_another_keeps_to_itself():
    taken = [
        f"{module} imports {name} from {source}"
        for module, tree in SOURCE.items()
        for source, name in imported(tree)
        if name.startswith("_") and not name.startswith("__")
    ]
    assert taken == []


def top_functions(tree: ast.Module) -> Iterator[str]:
    yield from (node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_what_stays_in_its_file_is_marked():
    """Public functions are used by another file, or are called by a name that stands in a text."""
    every = {**SOURCE, **OUTSIDE}
    used = {use for module, tree in every.items() for use in imported(tree) if use[0] != module}
    called = {
        node.value.rpartition(":")[2].rpartition(".")[2]
        for tree in every.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200
    }
    attributes = {
        node.attr for tree in SOURCE.values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }
    unmarked = [
        f"{module}.{name}"
        for module, tree in SOURCE.items()
        for name in top_functions(tree)
        if not name.startswith("_")
        and (module, name) not in used
        and name not in PROTOCOL | called | attributes
        and module != COPIED
    ]
    assert unmarked == []


def test_what_tools_benchmarks_and_tests_import_is_there():
    """They are run now and then, and no type checker reads them."""
    uses = {use for tree in OUTSIDE.values() for use in imported(tree) if use[0] in SOURCE}
    lost = [use for use in sorted(uses) if not hasattr(import_module(use[0]), use[1])]
    assert lost == []
