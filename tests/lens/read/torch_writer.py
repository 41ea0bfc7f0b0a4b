"""PyTorch files made by hand: the opcodes of the pickle and a zip of plain members, as torch.save writes them."""

import struct
import zipfile
from pathlib import Path

import numpy as np

STORAGES = {"<f4": "FloatStorage", "<f8": "DoubleStorage", "<f2": "HalfStorage", "<i8": "LongStorage"}


def text(value):
    return b"X" + struct.pack("<L", len(value.encode())) + value.encode()


def number(value):
    return b"J" + struct.pack("<l", value)


def numbers(values):
    return b"(" + b"".join(map(number, values)) + b"t"


def name_of(module, name):
    return f"c{module}\n{name}\n".encode()


def tensor(key, storage, count, shape, strides, offset=0):
    """_rebuild_tensor_v2((storage ...), offset, shape, strides, False, OrderedDict())"""
    identity = (
        b"(" + text("storage") + name_of("torch", storage) + text(key) + text("cpu") + number(count) + b"tQ"
    )
    hooks = name_of("collections", "OrderedDict") + b")R"
    arguments = b"(" + identity + number(offset) + numbers(shape) + numbers(strides) + b"\x89" + hooks + b"t"
    return name_of("torch._utils", "_rebuild_tensor_v2") + arguments + b"R"


def dict_of(items):
    return b"}(" + b"".join(text(name) + value for name, value in items.items()) + b"u"


def write(
    path: Path, body: bytes, storages: dict[str, bytes], root="archive/", method=zipfile.ZIP_STORED, others=()
):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(root + "data.pkl", b"\x80\x02" + body + b".")
        archive.writestr(root + "byteorder", b"little")
        for key, content in storages.items():
            archive.writestr(f"{root}data/{key}", content)
        for name, content in others:
            archive.writestr(root + name, content)
    return path


def write_arrays(path: Path, arrays: dict[str, np.ndarray], wrap=lambda body: body):
    """A state_dict of arrays, each in its own storage; a transposed one keeps its strides."""
    items, storages = {}, {}
    for index, (name, array) in enumerate(arrays.items()):
        base = array if array.flags.c_contiguous else array.T
        strides = [step // array.itemsize for step in array.strides]
        items[name] = tensor(str(index), STORAGES[array.dtype.str], array.size, array.shape, strides)
        storages[str(index)] = base.tobytes()
    return write(path, wrap(dict_of(items)), storages)
