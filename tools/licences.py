"""Make the tables of docs/licences.md from what the installed packages say of themselves.

    python -m tools.licences

jaxlib's metadata says Apache-2.0, and one of its licence files holds the Mozilla Public License 2.0. So its
row is: jaxlib, the locked version, Apache-2.0, MPL-2.0. Every package of every lock file must be installed in
its locked version (plotly and narwhals come with `make bench`). What is said around the tables stays.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from glassformer.core.atomic import write_text
from glassformer.core.errors import UserError

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- tables -->", "<!-- end -->"
HEAD = "| package | version | its metadata says | copyleft named in its licence files |\n|---|---|---|---|"
RUN_TIME, EXTRAS, DEVELOPMENT = (
    "What `pip install` brings with glassformer",
    "What the extras hub, onnx, ray, torch and video add",
    "What only tests, development and benchmarks need",
)
LOCKED_EXTRAS = ("hub", "onnx", "ray", "torch", "video")  # bench is for us; cuda is in no lock file
# The machine that the lock files are for, so that the tables are the same wherever they are made.
MACHINE = {"python_version": "3.11", "python_full_version": "3.11.0", "implementation_name": "cpython"}
MACHINE |= {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "platform_machine": "x86_64",
}
MACHINE |= {"platform_python_implementation": "CPython"}

LICENCE_FILE = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
# Titles of whole texts, and the tags of lists such as NumPy's; a mere mention is neither.
TITLES = {
    "GPL": re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version (\d(?:\.\d)?)"),
    "LGPL": re.compile(r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version (\d(?:\.\d)?)"),
    "AGPL": re.compile(r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version (\d(?:\.\d)?)"),
    "MPL": re.compile(r"Mozilla Public License,? Version (\d\.\d)\s+={3,}", re.IGNORECASE),
}
TAG = re.compile(r"^License: (\S*(?:GPL|MPL)\S*(?: WITH \S+)?)\s*$", re.MULTILINE)
LONGEST_NAME = 60  # letters of a licence's name; longer fields hold the text itself


class Row(NamedTuple):
    """One package, as a line of the page."""

    name: str
    version: str
    licence: str
    copyleft: str  # licences whose text or tag is in its licence files


def main() -> None:
    try:
        fill_page(PAGE)
    except UserError as error:
        sys.exit(str(error))


def fill_page(page: Path) -> None:
    before, mark, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not mark or not ended:
        raise UserError(f"{page} has no place for the tables: {BEGIN} ... {END}")
    write_text(page, f"{before}{BEGIN}\n\n{make_tables()}\n{END}{after}")


def make_tables() -> str:
    locked = read_locks()
    tables = [make_table(title, names, locked) for title, names in sort_packages(locked).items()]
    unlocked = sorted(find_closure(wanted_by_extras()) - {*locked})
    note = (
        f"With the extras pip also brings {', '.join(unlocked)} and what these need; no lock file names them."
    )
    return "\n".join([*tables, note, ""])


def make_table(title: str, names: set[str], locked: Mapping[str, str]) -> str:
    rows = [make_row(name, locked[name]) for name in sorted(names)]
    return "\n".join([f"## {title}", "", HEAD, *(f"| {' | '.join(row)} |" for row in rows), ""])


def read_locks() -> dict[str, str]:
    """The version of every package of every lock file, but for those that only other systems need."""
    locked = {}
    for path in sorted(ROOT.glob("requirements*.lock")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(("#", " ")):  # a comment, a hash
                wanted = Requirement(line.removesuffix("\\"))
                if not wanted.marker or wanted.marker.evaluate(MACHINE):
                    locked[canonicalize_name(wanted.name)] = str(wanted.specifier).removeprefix("==")
    return locked


def sort_packages(locked: Mapping[str, str]) -> dict[str, set[str]]:
    """Each locked package in one section: at run time, else for an extra, else for development."""
    run_time = find_closure(read_project()["dependencies"])
    if missing := run_time - {*locked}:
        raise UserError(f"no lock file names {', '.join(sorted(missing))}, which glassformer needs")
    extras = (find_closure(wanted_by_extras()) & {*locked}) - run_time
    return {RUN_TIME: run_time, EXTRAS: extras, DEVELOPMENT: {*locked} - run_time - extras}


def read_project() -> dict[str, Any]:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(content["project"])


def wanted_by_extras() -> list[str]:
    extras = read_project()["optional-dependencies"]
    return [line for name in LOCKED_EXTRAS for line in extras[name]]


def find_closure(lines: Iterable[str]) -> set[str]:
    """The packages that pip would bring for these requirements, as far as they are installed here."""
    found, waiting = set[str](), [(Requirement(line), "") for line in lines]
    seen = set[tuple[str, str]]()
    while waiting:
        wanted, extra = waiting.pop()
        if wanted.marker and not wanted.marker.evaluate(MACHINE | {"extra": extra}):
            continue
        name = canonicalize_name(wanted.name)
        found.add(name)
        for inner in {"", *wanted.extras}:
            if (name, inner) not in seen:
                seen.add((name, inner))
                waiting += [(Requirement(line), inner) for line in read_requirements(name)]
    return found


def read_requirements(name: str) -> list[str]:
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:  # what the lock files leave out, as torch's own needs
        return []


def make_row(name: str, version: str) -> Row:
    try:
        package = distribution(name)
    except PackageNotFoundError:
        raise UserError(f"{name} is not installed (make test and make bench bring everything)") from None
    if package.version.partition("+")[0] != version:
        raise UserError(f"{name} is installed as {package.version}, but locked as {version}")
    return Row(name, version, read_licence(package), ", ".join(sorted(find_copyleft(package))))


def read_licence(package: Distribution) -> str:
    """The expression, else a short field, else the classifiers; never nothing."""
    about = package.metadata
    field = (about.get("License") or "").strip()
    classes = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    names = " AND ".join(line.rpartition(" :: ")[2] for line in classes)
    short = field if "\n" not in field and len(field) <= LONGEST_NAME else ""
    licence = about.get("License-Expression") or short or names
    if not licence or licence.upper() == "UNKNOWN":
        raise UserError(f"{about['Name']} names no licence")
    return str(licence)


def find_copyleft(package: Distribution) -> set[str]:
    found = set[str]()
    for path in package.files or []:
        if LICENCE_FILE.search(path.name) and path.suffix not in (".py", ".pyc", ".js", ".json"):
            found |= find_copyleft_names(
                package.locate_file(path).read_text(encoding="utf-8", errors="replace")
            )
    return found


def find_copyleft_names(text: str) -> set[str]:
    """
    >>> sorted(find_copyleft_names("Name: libquadmath\\nLicense: LGPL-2.1-or-later\\nthe GPL is mentioned"))
    ['LGPL-2.1-or-later']
    >>> sorted(find_copyleft_names("  GNU GENERAL PUBLIC LICENSE\\n   Version 3, 29 June 2007"))
    ['GPL-3']
    """
    titles = {f"{name}-{version}" for name, title in TITLES.items() for version in title.findall(text)}
    return titles | set(TAG.findall(text))


if __name__ == "__main__":
    main()
