"""The names and places of tensors out of a PyTorch file's pickle, without running it.

A pickle is a program that may call anything. Here its opcodes are walked one by one, and only those are
understood that dicts, lists, numbers, texts and tensors are written in; no function is ever called.

>>> walk_pickle(b"\\x80\\x02}X\\x01\\x00\\x00\\x00aK\\x03s.", "example.bin")
{'a': 3}
>>> walk_pickle(b"cos\\nsystem\\n(X\\x02\\x00\\x00\\x00lstR.", "example.bin")
Traceback (most recent call last):
glassformer.core.errors.UserError: example.bin holds 'os.system', but only tensors by name are read
"""

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from glassformer.core.errors import UserError
from glassformer.lens.read.quoted import quote_name

_MOST_OPCODES = 4_000_000  # about 30 per tensor
_STORAGES = {
    "torch DoubleStorage": "F64",
    "torch FloatStorage": "F32",
    "torch HalfStorage": "F16",
    "torch BFloat16Storage": "BF16",
    "torch LongStorage": "I64",
    "torch IntStorage": "I32",
    "torch ShortStorage": "I16",
    "torch CharStorage": "I8",
    "torch ByteStorage": "U8",
    "torch BoolStorage": "BOOL",
}
_UNTYPED = "torch.storage UntypedStorage"
_DTYPES = {
    "torch float64": "F64",
    "torch float32": "F32",
    "torch float16": "F16",
    "torch bfloat16": "BF16",
    "torch float8_e4m3fn": "F8_E4M3",
    "torch float8_e5m2": "F8_E5M2",
    "torch float8_e4m3fnuz": "F8_E4M3FNUZ",
    "torch float8_e5m2fnuz": "F8_E5M2FNUZ",
    "torch int64": "I64",
    "torch int32": "I32",
    "torch int16": "I16",
    "torch int8": "I8",
    "torch uint64": "U64",
    "torch uint32": "U32",
    "torch uint16": "U16",
    "torch uint8": "U8",
    "torch bool": "BOOL",
}
_ORDERED, _SIZE = "collections OrderedDict", "torch Size"
_TENSOR, _TENSOR_TYPED = "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3"
_PARAMETER = "torch._utils _rebuild_parameter"
_KNOWN = {*_STORAGES, _UNTYPED, *_DTYPES, _ORDERED, _SIZE, _TENSOR, _TENSOR_TYPED, _PARAMETER}
_LITERALS = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"}
_LITERALS |= {"BINUNICODE8", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES"}


@dataclass(frozen=True)
class _Global:
    """A name of Python's that the pickle refers to; it is never looked up."""

    name: str  # module and name, with a space between


@dataclass(frozen=True)
class _Storage:
    """A run of numbers in the zip file."""

    key: str  # its member is data/KEY
    dtype: str | None  # none: the tensor says it


@dataclass(frozen=True)
class StridedTensor:
    """A tensor as the pickle describes it; not yet checked against its storage."""

    storage: _Storage
    dtype: str
    offset: Any
    shape: Any
    strides: Any


@dataclass
class _PickleMachine:
    """The state of the walk."""

    place: str  # for errors
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)  # heights of the stack
    memo: dict[int, Any] = field(default_factory=dict)

    def pop(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise ValueError("an empty stack")
        return self.stack.pop()

    def pops(self, count: int) -> list[Any]:
        return [self.pop() for _ in range(count)][::-1]

    def pop_to_mark(self) -> list[Any]:
        height = self.marks.pop()
        items = self.stack[height:]
        del self.stack[height:]
        return items


def walk_pickle(program: bytes, place: str) -> Any:
    """What the pickle describes, with `StridedTensor` for each tensor."""
    machine = _PickleMachine(place)
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(program)):
            if count == _MOST_OPCODES:
                raise UserError(
                    f"{place} has a pickle of more than {_MOST_OPCODES} steps, too many for weights"
                )
            if opcode.name == "STOP":
                return machine.pop()
            if opcode.name not in _STEPS:
                raise UserError(f"{place} holds a pickled {opcode.name}, but only tensors by name are read")
            _STEPS[opcode.name](machine, argument)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError):
        pass
    raise UserError(f"{place} is damaged: its pickle cannot be followed to its end")


def _require_known_global(name: str, place: str) -> _Global:
    if name not in _KNOWN:
        shown = quote_name(name.replace(" ", "."))
        raise UserError(f"{place} holds {shown}, but only tensors by name are read")
    return _Global(name)


def _evaluate_call(function: str, arguments: tuple[Any, ...], place: str) -> Any:
    """What a call that a pickle asks for would give."""
    if function == _ORDERED and not arguments:
        return {}
    if function == _SIZE:
        return _require_type(arguments[0], tuple)
    if function == _PARAMETER:
        return _require_type(arguments[0], StridedTensor)
    if function in (_TENSOR, _TENSOR_TYPED):
        storage, offset, shape, strides = _require_type(arguments[0], _Storage), *arguments[1:4]
        given = (
            _DTYPES.get(_require_type(arguments[6], _Global).name)
            if function == _TENSOR_TYPED
            else storage.dtype
        )
        if given is None:
            raise UserError(f"{place} holds a tensor without a data type")
        return StridedTensor(storage, given, offset, shape, strides)
    return _require_known_global(f"{function}()", place)


def _make_storage(identity: Any) -> _Storage:
    """("storage", its type, its key, its device, its size)."""
    word, kind, key, *_ = _require_type(identity, tuple)
    name = _require_type(kind, _Global).name
    if word != "storage" or name not in {*_STORAGES, _UNTYPED}:
        raise ValueError("no storage")
    return _Storage(_require_type(key, str), _STORAGES.get(name))


def _require_type(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"no {kind.__name__}")
    return value


def _memoize_top(machine: _PickleMachine, argument: Any) -> None:
    machine.memo[len(machine.memo) if argument is None else argument] = machine.stack[-1]


def _append_items(machine: _PickleMachine, items: list[Any]) -> None:
    _require_type(machine.stack[-1], list).extend(items)


def _set_items(machine: _PickleMachine, items: list[Any]) -> None:
    target = _require_type(machine.stack[-1], dict)
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, str | int | float | None):  # the hash of a deep tuple overflows the stack
            raise TypeError("a key that is no text or number")
        target[key] = value


def _drop_attributes(machine: _PickleMachine, _: Any) -> None:
    """Attributes of a dict, which hold the versions of modules: left out."""
    machine.pop()
    _require_type(machine.stack[-1], dict)


def _apply_reduce(machine: _PickleMachine, _: Any) -> None:
    function, arguments = machine.pops(2)
    machine.stack.append(
        _evaluate_call(_require_type(function, _Global).name, _require_type(arguments, tuple), machine.place)
    )


_Step = Callable[[_PickleMachine, Any], None]
_STEPS: dict[str, _Step] = {
    **{name: lambda machine, argument: machine.stack.append(argument) for name in _LITERALS},
    **dict.fromkeys(("BINPUT", "LONG_BINPUT", "MEMOIZE"), _memoize_top),
    **{
        name: lambda machine, key: machine.stack.append(machine.memo[key])
        for name in ("BINGET", "LONG_BINGET")
    },
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "NONE": lambda machine, _: machine.stack.append(None),
    "NEWTRUE": lambda machine, _: machine.stack.append(True),
    "NEWFALSE": lambda machine, _: machine.stack.append(False),
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "EMPTY_TUPLE": lambda machine, _: machine.stack.append(()),
    "TUPLE1": lambda machine, _: machine.stack.append(tuple(machine.pops(1))),
    "TUPLE2": lambda machine, _: machine.stack.append(tuple(machine.pops(2))),
    "TUPLE3": lambda machine, _: machine.stack.append(tuple(machine.pops(3))),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.pop_to_mark())),
    "APPEND": lambda machine, _: _append_items(machine, machine.pops(1)),
    "APPENDS": lambda machine, _: _append_items(machine, machine.pop_to_mark()),
    "SETITEM": lambda machine, _: _set_items(machine, machine.pops(2)),
    "SETITEMS": lambda machine, _: _set_items(machine, machine.pop_to_mark()),
    "GLOBAL": lambda machine, name: machine.stack.append(_require_known_global(name, machine.place)),
    "STACK_GLOBAL": lambda machine, _: machine.stack.append(
        _require_known_global(" ".join(machine.pops(2)), machine.place)
    ),
    "BINPERSID": lambda machine, _: machine.stack.append(_make_storage(machine.pop())),
    "REDUCE": _apply_reduce,
    "BUILD": _drop_attributes,
}
