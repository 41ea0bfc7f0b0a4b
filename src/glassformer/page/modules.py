"""The page's modules as one: imports and `export` removed, each module once, in the order of need.

`import { h } from "./dom.js"` puts dom.js before what imports it. All modules share one scope then, so a name
may be declared once over all of them; what cannot be joined is refused when the page is written.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from glassformer.page.scan import code_alone, outermost

ASSETS = Path(__file__).parent / "assets"
IMPORT = re.compile(r'^import\s*\{(?P<names>[^{}]*)\}\s*from\s*"(?P<place>[^"\n]*)"\s*;?[^\S\n]*\n?', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.M)
DECLARATION = re.compile(
    r"^(?P<export>export )?(?:async )?(?:function\*?|const|let|var|class)\s+(?P<name>[\w$]+)", re.M
)
NAME = re.compile(r"[A-Za-z_$][\w$]*")


class ModuleError(ValueError):
    """A module that cannot be joined with the others; its file and the reason."""


@dataclass
class Joined:
    """What is joined so far."""

    root: Path
    sources: dict[str, str] = field(default_factory=dict)  # module to its source, what is needed first
    exports: dict[str, set[str]] = field(default_factory=dict)  # module to the names that it gives
    declared: dict[str, str] = field(default_factory=dict)  # name to the module that has it


@cache
def join_modules(entry: str, root: Path = ASSETS) -> str:
    """One script of the entry and all that it imports, what is needed first."""
    joined = Joined(root)
    add(PurePosixPath(entry), joined, ())
    text = "\n".join(f"// {path}\n{source.strip()}\n" for path, source in joined.sources.items())
    if found := re.search(r"</script|<!--", text, re.I):
        raise ModuleError(f"{entry}: '{found[0]}' would end the script inside the page")
    return text


def add(path: PurePosixPath, joined: Joined, chain: tuple[str, ...]) -> set[str]:
    """Add a module after those that it needs, once; returns the names that it exports."""
    name = str(path)
    if name in chain:
        raise ModuleError(f"modules import each other in a circle: {' > '.join((*chain, name))}")
    if name in joined.sources:
        return joined.exports[name]
    source = read_module(joined.root, path, chain)
    code = code_alone(source)
    for found in IMPORT.finditer(code):
        place = beside(path, source[found.start("place") : found.end("place")])
        exported = add(place, joined, (*chain, name))
        check_names(name, str(place), found["names"], exported)
    joined.exports[name] = own_names(name, code, joined.declared)
    joined.sources[name] = stripped(name, source, code)
    return joined.exports[name]


def read_module(root: Path, path: PurePosixPath, chain: tuple[str, ...]) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except FileNotFoundError:
        wanted = f", which {chain[-1]} imports" if chain else ""
        raise ModuleError(f"there is no module {path}{wanted}") from None


def beside(path: PurePosixPath, place: str) -> PurePosixPath:
    """Where a relative import leads: "../dom.js" in panels/proof.js is dom.js.

    >>> beside(PurePosixPath("panels/proof.js"), "../dom.js")
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


def check_names(module: str, place: str, names: str, exported: set[str]) -> None:
    for name in filter(None, (word.strip() for word in names.split(","))):
        if not NAME.fullmatch(name):
            raise ModuleError(f"{module} imports '{name}' from {place}; a name cannot be changed on the way")
        if name not in exported:
            raise ModuleError(f"{module} imports {name} from {place}, which does not export it")


def own_names(module: str, code: str, declared: dict[str, str]) -> set[str]:
    """The names that a module exports; all that it declares must be new over the whole page."""
    found = list(DECLARATION.finditer(outermost(code)))
    for name in (one["name"] for one in found):
        if name in declared:
            raise ModuleError(f"{name} is declared in {declared[name]} and in {module}; one must give way")
        declared[name] = module
    return {one["name"] for one in found if one["export"]}


def stripped(module: str, source: str, code: str) -> str:
    """The source without its imports and the word `export`; any other form of them is refused."""
    left, kept, place = [], [], 0
    cuts = sorted(found.span() for pattern in (IMPORT, EXPORT) for found in pattern.finditer(code))
    for start, end in (*cuts, (len(code), len(code))):
        left.append(code[place:start])
        kept.append(source[place:start])
        place = end
    if strange := re.search(r"(?<![.\w$])(?:import|export)\b.*", "".join(left)):
        raise ModuleError(f"{module}: '{strange[0].strip()}' cannot be joined with other modules")
    return "".join(kept)
