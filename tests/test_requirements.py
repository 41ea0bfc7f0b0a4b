"""The lock files: they agree, they have hashes, and what make run installs is all that the package imports."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
UNHASHED = (
    "requirements-bench.lock",
    "requirements-export.lock",
)  # torch has builds that the registry does not list
LINE = re.compile(r"^([\w.-]+)==([\w.]+)(.*)$", re.MULTILINE)
LOCKS = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("requirements*.lock")}


def locked(name: str) -> dict[str, str]:
    return {canonicalize_name(package): version for package, version, _ in LINE.findall(LOCKS[name])}


def test_no_two_locks_disagree():
    versions: dict[str, str] = {}
    for name in LOCKS:
        for package, version in locked(name).items():
            assert versions.setdefault(package, version) == version, (name, package)


def test_every_package_has_hashes_where_the_registry_allows():
    for name, text in LOCKS.items():
        bare = [package for package, _, rest in LINE.findall(text) if not rest.endswith("\\")]
        assert bool(bare) is (name in UNHASHED), (name, bare)
        assert "://" not in text  # nor does a lock name a registry


def test_no_tool_of_development_comes_with_make_run():
    tools = {
        "pytest",
        "ruff",
        "mypy",
        "playwright",
        "hypothesis",
        "beartype",
        "pre-commit",
        "imageio-ffmpeg",
        "pyarrow",
    }
    assert not tools & {*locked("requirements.lock")}
    assert tools - {"pyarrow"} <= {*locked("requirements-dev.lock")}


def test_what_modules_import_at_their_top_is_in_the_run_time_lock():
    """Inside functions they may import what an extra brings."""
    run_time, distributions = locked("requirements.lock"), packages_distributions()
    for path in sorted((ROOT / "src").rglob("*.py")):
        for name in imported_at_top(ast.parse(path.read_text(encoding="utf-8"))):
            if name not in sys.stdlib_module_names and name != "glassformer":
                owners = {canonicalize_name(owner) for owner in distributions[name]}
                assert owners & {*run_time}, (path.name, name)


def imported_at_top(module: ast.Module) -> set[str]:
    names = [alias.name for node in module.body if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in module.body if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}
