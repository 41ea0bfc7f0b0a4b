"""The page's modules as one: imports and `export` removed, each module once, after those that it imports.

`import { h } from "./dom.js"` puts dom.js before what imports it. All modules share one scope then, so a name
may be declared once over all of them; what cannot be joined is refused when the page is written.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from glassformer.pages.scan import blank_literals, blank_nested

PACKAGE = Path(__file__).parents[1]  # where an entry is looked for
ASSETS = Path(__file__).parent / "assets"
_IMPORT = re.compile(r'^import\s*\{(?P<names>[^{}]*)\}\s*from\s*"(?P<place>[^"\n]*)"\s*;?[^\S\n]*\n?', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.M)
_DECLARATION = re.compile(
    r"^(?P<export>export )?(?:async )?(?:function\*?|const|let|var|class)\s+(?P<name>[\w$]+)", re.M
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


class ModuleError(ValueError):
    """A module that cannot be joined with the others; its file and the reason."""


@dataclass
class _ModuleBundle:
    """What is joined so far."""

    root: Path
    sources: dict[str, str] = field(default_factory=dict)  # module to its source, imports first
    exports: dict[str, set[str]] = field(default_factory=dict)  # module to the names that it gives
    declared: dict[str, str] = field(default_factory=dict)  # name to the module that has it


@cache
def join_modules(entry: str, root: Path = PACKAGE) -> str:
    """One script of the entry and all that it imports, imports first."""
    joined = _ModuleBundle(root)
    _add_module(PurePosixPath(entry), joined, ())
    text = "\n".join(f"// {path}\n{source.strip()}\n" for path, source in joined.sources.items())
    if found := re.search(r"</script|<!--", text, re.I):
        raise ModuleError(f"{entry}: '{found[0]}' would end the script inside the page")
    return text


def _add_module(path: PurePosixPath, joined: _ModuleBundle, chain: tuple[str, ...]) -> set[str]:
    """Add a module after those that it needs, once; returns the names that it exports."""
    name = str(path)
    if name in chain:
        raise ModuleError(f"modules import each other in a circle: {' > '.join((*chain, name))}")
    if name in joined.sources:
        return joined.exports[name]
    source = _read_module(joined.root, path, chain)
    code = blank_literals(source)
    for found in _IMPORT.finditer(code):
        place = _resolve_import(path, source[found.start("place") : found.end("place")])
        exported = _add_module(place, joined, (*chain, name))
        _check_imported_names(name, str(place), found["names"], exported)
    joined.exports[name] = _list_exports(name, code, joined.declared)
    joined.sources[name] = _strip_imports(name, source, code)
    return joined.exports[name]


def _read_module(root: Path, path: PurePosixPath, chain: tuple[str, ...]) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except FileNotFoundError:
        wanted = f", which {chain[-1]} imports" if chain else ""
        raise ModuleError(f"there is no module {path}{wanted}") from None


def _resolve_import(path: PurePosixPath, place: str) -> PurePosixPath:
    """Where a relative import leads: "../dom.js" in panels/proof.js is dom.js.

    >>> _resolve_import(PurePosixPath("panels/proof.js"), "../dom.js")
    PurePosixPath('dom.js')
    """
    if not place.startswith(("./", "../")) or not place.endswith(".js"):
        raise ModuleError(f'{path} imports "{place}"; only "./x.js" and "../x.js" can be joined')
    parts = list(path.parent.parts)
    for part in PurePosixPath(place).parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            raise ModuleError(f'{path} imports "{place}", which is outside the assets')
    return PurePosixPath(*parts)


def _check_imported_names(module: str, place: str, names: str, exported: set[str]) -> None:
    for name in filter(None, (word.strip() for word in names.split(","))):
        if not _NAME.fullmatch(name):
            raise ModuleError(f"{module} imports '{name}' from {place}; an import cannot rename it")
        if name not in exported:
            raise ModuleError(f"{module} imports {name} from {place}, which does not export it")


def _list_exports(module: str, code: str, declared: dict[str, str]) -> set[str]:
    """The names that a module exports; all that it declares must be new over the whole page."""
    found = list(_DECLARATION.finditer(blank_nested(code)))
    for name in (one["name"] for one in found):
        if name in declared:
            raise ModuleError(f"{name} is declared in {declared[name]} and in {module}; rename one")
        declared[name] = module
    return {one["name"] for one in found if one["export"]}


def _strip_imports(module: str, source: str, code: str) -> str:
    """The source without its imports and the word `export`; any other form of them is refused."""
    left, kept, place = [], [], 0
    cuts = sorted(found.span() for pattern in (_IMPORT, _EXPORT) for found in pattern.finditer(code))
    for start, end in (*cuts, (len(code), len(code))):
        left.append(code[place:start])
        kept.append(source[place:start])
        place = end
    if strange := re.search(r"(?<![.\w$])(?:import|export)\b.*", "".join(left)):
        raise ModuleError(f"{module}: '{strange[0].strip()}' cannot be joined with other modules")
    return "".join(kept)
