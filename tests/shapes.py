"""Shapes and dtypes, checked at run time in tests: every signature of the package that names an array, at every call.

    def count(ids: Int[Array, "pos"]) -> int:    count(jnp.zeros(3)) ends in an error that names ids and its type

Jaxtyping remembers an axis during a call and beartype asks each argument. What is no array is mypy's: settings of the
wrong type must reach the sentences that users see, and tests stand small objects in for models. In the modules named
as fully checked everything is asked. A function inside another is not: it would be wrapped anew at every call.
"""

import ast
import doctest
import functools
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Collection
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

import numpy as np
from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, jaxtyped

PACKAGE = "glassformer"
_NAME = "_check_arrays"  # what the decorator is called in a module
_CHECKED = beartype(conf=BeartypeConf(is_pep484_tower=True))  # an int is a float too, as mypy has it


def install_shape_check(fully: Collection[str], left_out: Collection[str] = ()) -> None:
    """Check every module of the package that is imported from now on; some fully, some not at all."""
    whole, without = (frozenset(f"{PACKAGE}.{name}" for name in names) for names in (fully, left_out))
    sys.meta_path.insert(0, _Finder(whole, without))
    # doctest takes a wrapped function for one of the wrapper's module, and would leave its examples out
    is_of_module = doctest.DocTestFinder._from_module
    doctest.DocTestFinder._from_module = lambda self, module, one: is_of_module(
        self, module, inspect.unwrap(one)
    )


class _Finder(MetaPathFinder):
    def __init__(self, fully: frozenset[str], left_out: frozenset[str]) -> None:
        self.fully, self.left_out = fully, left_out

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.split(".")[0] != PACKAGE or name in self.left_out:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path, name in self.fully)
        return spec


class _Loader(SourceFileLoader):
    """Puts the decorator there; what it compiles is not kept: a cache would have to know of the decorator."""

    def __init__(self, name: str, path: str, is_full: bool) -> None:
        super().__init__(name, path)
        self.is_full = is_full

    def get_code(self, name: str) -> types.CodeType:
        path = self.get_filename(name)
        tree = ast.parse(self.get_data(path), path)
        _decorate_functions(tree)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module: types.ModuleType) -> None:
        setattr(module, _NAME, functools.partial(_check_definition, is_full=self.is_full))
        super().exec_module(module)
        delattr(module, _NAME)


def _decorate_functions(node: ast.Module | ast.ClassDef) -> None:
    for one in node.body:
        decorator = ast.copy_location(ast.Name(_NAME, ast.Load()), one)
        if isinstance(one, ast.FunctionDef):
            one.decorator_list.append(decorator)  # innermost: what jit and cache are given
        elif isinstance(one, ast.ClassDef):
            _decorate_functions(one)
            one.decorator_list.insert(0, decorator)  # outermost: what dataclass made


def _check_definition(one: Any, is_full: bool) -> Any:
    """The function, or the class with what dataclass made for it, with its calls checked."""
    if not isinstance(one, type):
        return _check_function(one, is_full)
    if {"__init__", "__dataclass_fields__"} <= vars(one).keys():
        one.__init__ = _check_function(one.__init__, is_full)
    return one


def _check_function(function: Callable[..., Any], is_full: bool) -> Callable[..., Any]:
    known = vars(sys.modules[function.__module__])
    hints = {name: _make_checkable(hint, known) for name, hint in function.__annotations__.items()}
    has_array = any(map(_names_array, hints.values()))
    if not (has_array or is_full):
        return function
    asked = {name: hint if is_full or _names_array(hint) else Any for name, hint in hints.items()}
    function.__annotations__ = asked
    return jaxtyped(function, typechecker=_CHECKED) if has_array else _CHECKED(function)


def _make_checkable(hint: Any, known: dict[str, Any]) -> Any:
    """The hint with Any for what no object can be asked: protocols, Self, and names that only mypy imports."""
    if isinstance(hint, str):
        try:
            return _make_checkable(eval(hint, known), known)
        except (NameError, TypeError):  # TypeError: only its stub takes a parameter
            return Any
    if hint is typing.Self or getattr(hint, "_is_protocol", False):
        return Any
    if isinstance(hint, list):
        return [_make_checkable(one, known) for one in hint]
    if _is_shape(hint):
        return _add_scalars(hint)
    parts = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return hint
    new = tuple(_make_checkable(one, known) for one in parts)
    if new == parts:
        return hint
    if isinstance(hint, types.UnionType):
        return functools.reduce(operator.or_, new)
    return hint.copy_with(new) if hasattr(hint, "copy_with") else typing.get_origin(hint)[new]


def _add_scalars(hint: Any) -> Any:
    """NumPy hands out numbers for arrays of no axes: where there may be none, they are as good."""
    may_be_scalar = all(axis.startswith(("*", "...")) for axis in hint.dim_str.split())
    return hint | np.generic if may_be_scalar and hint.array_type is np.ndarray else hint


def _names_array(hint: Any) -> bool:
    return _is_shape(hint) or any(map(_names_array, typing.get_args(hint)))


def _is_shape(hint: Any) -> bool:
    return isinstance(hint, type) and not typing.get_args(hint) and issubclass(hint, AbstractArray)
