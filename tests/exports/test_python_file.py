"""The file of plain Python needs the standard library alone."""

import ast

from glassformer.exports.python_file import format_python_file
from tests.exports.exported import zoo


def test_plain_python_imports_the_standard_library_alone():
    tree = ast.parse(format_python_file(zoo("tinyadder-95")))
    modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules <= {"math", "operator", "array", "itertools"}
