"""A test lies where its module lies: tests/<package>/test_<module>.py; what does not is named here with its reason."""

from pathlib import Path

from tools.house import SOURCE, find_mirrored_test, list_modules, measure_mirrored_modules

TESTS = Path(__file__).parent
ROOT = TESTS.parent
OTHER_FOLDERS = {"bench": "benchmarks/", "e2e": "the command from end to end"}
BROWSER = "a whole page in a browser"
SEVERAL = {
    "checker/test_every_length_mutations.py": "forged certificates for every length, against the whole check",
    "checker/test_mutations.py": "forged certificates, against the whole check",
    "commands/test_nothing_ignored.py": "options of every verb",
    "exports/test_files.py": "all kinds of file beside one another",
    "lens/figures/test_comparison.py": "all figures of two models",
    "lens/figures/test_figures.py": "all figures of one model",
    "models/test_fixed.py": "fixed entries, from the architecture to the file",
    "models/test_imports.py": "what every module imports",
    "models/test_ties.py": "ties, from the architecture to the gradient",
    "pages/families/test_families.py": "what the package itself lists",
    "pages/test_any_length.py": BROWSER,
    "pages/test_hostile.py": BROWSER,
    "pages/test_kit.py": BROWSER,
    "pages/test_proof_panel.py": BROWSER,
    "pages/test_question_page.py": BROWSER,
    "pages/test_required.py": BROWSER,
    "pages/test_story_mode.py": BROWSER,
    "pages/test_truth.py": BROWSER,
    "pages/test_untouched.py": BROWSER,
    "pictures/poster/test_any_length.py": "all panels of an adder of every length",
    "pictures/test_claims.py": "sentences of all figures",
    "pictures/test_faults.py": "the inspector of figures, tests/pictures/faults.py",
    "pictures/test_questions.py": "all figures of a question",
    "pictures/test_set.py": "all figures of all models",
    "proofs/test_traps.py": "models made against all provers",
    "runs/test_unsealed.py": "a process killed between two files, by every verb",
    "sweeps/test_cluster.py": "a sweep on a cluster, end to end",
    "sweeps/test_interruption.py": "a sweep that is killed, end to end",
    "tasks/test_rules.py": "all rules, in four modules",
    "zoo/test_families.py": "how the families of the zoo nest",
    "zoo/test_weights.py": "the files that ship",
}  # fmt: skip


def list_package_tests() -> list[str]:
    """Tests inside a folder, without those of another subject than the package."""
    paths = (path.relative_to(TESTS) for path in sorted(TESTS.glob("*/**/test_*.py")))
    return [path.as_posix() for path in paths if path.parts[0] not in OTHER_FOLDERS]


def list_mirrors() -> set[str]:
    """Where the tests of modules and of scripts of the page are looked for first, and those of pages in docs/."""
    found = {
        find_mirrored_test(path.relative_to(ROOT / SOURCE), Path()) for path in list_modules(ROOT / SOURCE)
    }
    for script in (ROOT / SOURCE).rglob("assets/**/*.js"):
        package = script.relative_to(ROOT / SOURCE).as_posix().partition("/assets/")[0]
        found.add(Path(package) / f"test_{script.stem}.py")
    docs = {path.relative_to(TESTS) for path in TESTS.glob("*/test_docs.py")}
    return {path.as_posix() for path in found | docs}


def test_every_test_mirrors_a_module_or_is_named_with_its_reason():
    assert sorted({*list_package_tests()} - list_mirrors()) == sorted(SEVERAL)


def test_other_folders_have_their_own_subject():
    benchmarks = {f"test_{path.name}" for path in (ROOT / "benchmarks").glob("*.py")}
    assert {path.name for path in (TESTS / "bench").glob("test_*.py")} <= benchmarks


def test_the_share_is_that_of_the_modules_with_a_test(tmp_path):
    package = tmp_path / "src" / "package"
    for name in (
        "__init__.py",
        "__main__.py",
        "a.py",
        "b.py",
        "inner/__init__.py",
        "inner/a.py",
        "inner/c.py",
    ):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    assert measure_mirrored_modules(package) == 0
    (tmp_path / "tests" / "inner").mkdir(parents=True)
    (tmp_path / "tests" / "inner" / "test_a.py").touch()
    assert measure_mirrored_modules(package) == 25
