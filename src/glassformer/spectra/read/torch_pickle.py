"""The names and places of tensors out of a PyTorch file's pickle, without running it.

A pickle is a program that may call anything. Here its opcodes are walked one by one, and only those are
understood that dicts, lists, numbers, texts and tensors are written in; no function is ever called.

>>> unpickled(b"\\x80\\x02}X\\x01\\x00\\x00\\x00aK\\x03s.", "example.bin")
{'a': 3}
>>> unpickled(b"cos\\nsystem\\n(X\\x02\\x00\\x00\\x00lstR.", "example.bin")
Traceback (most recent call last):
glassformer.errors.UserError: example.bin holds 'os.system', but only tensors by name are read
"""

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from glassformer.errors import UserError
from glassformer.spectra.read.quoted import quoted

MOST_OPCODES = 4_000_000  # about 30 a tensor
STORAGES = {
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
UNTYPED = "torch.storage UntypedStorage"
DTYPES = {
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
ORDERED, SIZE = "collections OrderedDict", "torch Size"
TENSOR, TENSOR_TYPED = "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3"
PARAMETER = "torch._utils _rebuild_parameter"
KNOWN = {*STORAGES, UNTYPED, *DTYPES, ORDERED, SIZE, TENSOR, TENSOR_TYPED, PARAMETER}
LITERALS = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"}
LITERALS |= {"BINUNICODE8", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES"}


@dataclass(frozen=True)
class Global:
    """A name of Python's that the pickle refers to; it is never looked up."""

    name: str  # module and name, with a space between


@dataclass(frozen=True)
class Storage:
    """A run of numbers in the zip file."""

    key: str  # its member is data/KEY
    dtype: str | None  # none: the tensor says it


@dataclass(frozen=True)
class Strided:
    """A tensor as the pickle describes it; not yet checked against its storage."""

    storage: Storage
    dtype: str
    offset: Any
    shape: Any
    strides: Any


@dataclass
class Machine:
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


def unpickled(program: bytes, place: str) -> Any:
    """What the pickle describes, with `Strided` for each tensor."""
    machine = Machine(place)
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(program)):
            if count == MOST_OPCODES:
                raise UserError(
                    f"{place} has a pickle of more than {MOST_OPCODES} steps, too many for weights"
                )
            if opcode.name == "STOP":
                return machine.pop()
            if opcode.name not in STEPS:
                raise UserError(f"{place} holds a pickled {opcode.name}, but only tensors by name are read")
            STEPS[opcode.name](machine, argument)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError):
        pass
    raise UserError(f"{place} is damaged: its pickle cannot be followed to its end")


def known_global(name: str, place: str) -> Global:
    if name not in KNOWN:
        shown = quoted(name.replace(" ", "."))
        raise UserError(f"{place} holds {shown}, but only tensors by name are read")
    return Global(name)


def built(function: str, arguments: tuple[Any, ...], place: str) -> Any:
    """What a call that a pickle asks for would give."""
    if function == ORDERED and not arguments:
        return {}
    if function == SIZE:
        return of_type(arguments[0], tuple)
    if function == PARAMETER:
        return of_type(arguments[0], Strided)
    if function in (TENSOR, TENSOR_TYPED):
        storage, offset, shape, strides = of_type(arguments[0], Storage), *arguments[1:4]
        given = DTYPES.get(of_type(arguments[6], Global).name) if function == TENSOR_TYPED else storage.dtype
        if given is None:
            raise UserError(f"{place} holds a tensor without a type of numbers")
        return Strided(storage, given, offset, shape, strides)
    return known_global(f"{function}()", place)


def storage_of(identity: Any) -> Storage:
    """("storage", its type, its key, its device, its size)."""
    word, kind, key, *_ = of_type(identity, tuple)
    name = of_type(kind, Global).name
    if word != "storage" or name not in {*STORAGES, UNTYPED}:
        raise ValueError("no storage")
    return Storage(of_type(key, str), STORAGES.get(name))


def of_type(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"no {kind.__name__}")
    return value


def put(machine: Machine, argument: Any) -> None:
    machine.memo[len(machine.memo) if argument is None else argument] = machine.stack[-1]


def append(machine: Machine, items: list[Any]) -> None:
    of_type(machine.stack[-1], list).extend(items)


def set_items(machine: Machine, items: list[Any]) -> None:
    target = of_type(machine.stack[-1], dict)
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, str | int | float | None):  # the hash of a deep tuple overflows the stack
            raise TypeError("a key that is no text or number")
        target[key] = value


def build(machine: Machine, _: Any) -> None:
    """Attributes of a dict, which hold the versions of modules: left out."""
    machine.pop()
    of_type(machine.stack[-1], dict)


def reduce(machine: Machine, _: Any) -> None:
    function, arguments = machine.pops(2)
    machine.stack.append(built(of_type(function, Global).name, of_type(arguments, tuple), machine.place))


Step = Callable[[Machine, Any], None]
STEPS: dict[str, Step] = {
    **{name: lambda machine, argument: machine.stack.append(argument) for name in LITERALS},
    **dict.fromkeys(("BINPUT", "LONG_BINPUT", "MEMOIZE"), put),
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
    "APPEND": lambda machine, _: append(machine, machine.pops(1)),
    "APPENDS": lambda machine, _: append(machine, machine.pop_to_mark()),
    "SETITEM": lambda machine, _: set_items(machine, machine.pops(2)),
    "SETITEMS": lambda machine, _: set_items(machine, machine.pop_to_mark()),
    "GLOBAL": lambda machine, name: machine.stack.append(known_global(name, machine.place)),
    "STACK_GLOBAL": lambda machine, _: machine.stack.append(
        known_global(" ".join(machine.pops(2)), machine.place)
    ),
    "BINPERSID": lambda machine, _: machine.stack.append(storage_of(machine.pop())),
    "REDUCE": reduce,
    "BUILD": build,
}
