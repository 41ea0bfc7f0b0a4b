"""PyTorch files (.bin, .pt, .pth): a zip of a pickle and plain numbers, read without PyTorch, without pickle.

archive/data.pkl    names, shapes, strides, and the storage that each tensor lies in
archive/data/0      the numbers of storage 0, uncompressed
"""

import math
import re
from collections.abc import Mapping
from itertools import pairwise

from glassformer.core.errors import UserError
from glassformer.lens.read.mapped import ByteSource, refuse_pointer
from glassformer.lens.read.quoted import quote_name
from glassformer.lens.read.stored import STORED, make_stored_tensor, require_tensor_name, require_tensor_shape
from glassformer.lens.read.tensor import Tensor
from glassformer.lens.read.torch_pickle import StridedTensor, walk_pickle
from glassformer.lens.read.zip_members import ZipMember, find_member_start, list_zip_members

MAGIC = b"PK\3\4"
LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # what PyTorch wrote first before version 1.6
_LARGEST_PICKLE = 32_000_000  # bytes; a tensor takes about 200
_NESTED = ("state_dict", "model_state_dict", "model", "module")  # where trainers put the weights


def read_torch_tensors(source: ByteSource) -> dict[str, Tensor]:
    """All tensors of the state_dict by name; none is read yet."""
    members = list_zip_members(_require_zip_magic(source))
    root = _find_zip_root(members, source.place)
    pickle = members[root + "data.pkl"]
    if pickle.size > _LARGEST_PICKLE:
        raise UserError(
            f"{source.place} has a pickle of {pickle.size} bytes; at most {_LARGEST_PICKLE} are expected"
        )
    start = find_member_start(source, pickle)
    content = walk_pickle(source.bytes(start, start + pickle.size).tobytes(), source.place)
    _refuse_big_endian(members, root, source)
    return {
        require_tensor_name(name, source.place): _make_strided_tensor(name, one, members, root, source)
        for name, one in _find_state_dict(content, source.place).items()
    }


def _require_zip_magic(source: ByteSource) -> ByteSource:
    refuse_pointer(source)
    first = source.bytes(0, min(source.size, len(LEGACY))).tobytes()
    if first == LEGACY:
        raise UserError(
            f"{source.place} was written before PyTorch 1.6; load it there and save it again with torch.save"
        )
    if not first.startswith(MAGIC):
        raise UserError(
            f"{source.place} is no PyTorch file: it starts with {first[:4]!r}, not with {MAGIC!r}"
        )
    return source


def _find_zip_root(members: Mapping[str, ZipMember], place: str) -> str:
    """The folder inside the zip that data.pkl lies in."""
    roots = [name.removesuffix("data.pkl") for name in members if re.fullmatch(r"([^/]*/)?data\.pkl", name)]
    if len(roots) != 1:
        raise UserError(f"{place} is a zip file, but no PyTorch file: it has {len(roots)} members data.pkl")
    if roots[0] + "constants.pkl" in members:
        raise UserError(f"{place} is a TorchScript program; save its state_dict with torch.save instead")
    return roots[0]


def _refuse_big_endian(members: Mapping[str, ZipMember], root: str, source: ByteSource) -> None:
    order = members.get(root + "byteorder")
    start = find_member_start(source, order) if order else 0
    if order and source.bytes(start, start + order.size)[:3].tobytes() == b"big":
        raise UserError(
            f"{source.place} was written on a machine with another byte order; little is expected"
        )


def _find_state_dict(content: object, place: str) -> dict[str, StridedTensor]:
    """The tensors by name, wherever trainers put them; what else a checkpoint holds is left out."""
    outer = content if isinstance(content, dict) else {}
    for candidate in [*(outer.get(key) for key in _NESTED), outer]:
        if isinstance(candidate, dict):
            tensors = {name: one for name, one in candidate.items() if isinstance(one, StridedTensor)}
            if tensors:
                return tensors
    raise UserError(f"{place} holds no tensors by name; a state_dict is expected")


def _make_strided_tensor(
    name: str, one: StridedTensor, members: Mapping[str, ZipMember], root: str, source: ByteSource
) -> Tensor:
    """The tensor in its storage, once its shape and strides are known to stay inside."""
    member = members.get(f"{root}data/{one.storage.key}")
    if member is None:
        raise UserError(
            f"{source.place} lacks the storage {quote_name(one.storage.key)} of tensor {quote_name(name)}"
        )
    shape = require_tensor_shape(one.shape, one.dtype, name, source.place)
    offset, *strides = _require_strides(one, len(shape), name, source.place)
    held = member.size // STORED[one.dtype].itemsize
    reach = offset + sum((side - 1) * stride for side, stride in zip(shape, strides, strict=True)) + 1
    if 0 not in shape and (reach > held or math.prod(shape) > held):
        raise UserError(
            f"{source.place} lets tensor {quote_name(name)} reach number {reach} of a "
            f"storage that holds {held}"
        )
    start = find_member_start(source, member) + (0 if 0 in shape else offset) * STORED[one.dtype].itemsize
    steps = _compute_matrix_strides(shape, strides, name, source.place)
    return make_stored_tensor(name, shape, one.dtype, source, start, steps)


def _require_strides(one: StridedTensor, axes: int, name: str, place: str) -> tuple[int, ...]:
    """The offset and the strides, as integers that are not negative."""
    is_list = isinstance(one.strides, tuple | list) and len(one.strides) == axes
    numbers = (one.offset, *one.strides) if is_list else (None,)
    if any(type(number) is not int or number < 0 for number in numbers):
        raise UserError(f"{place} gives tensor {quote_name(name)} an offset or strides that fit no tensor")
    return numbers


def _compute_matrix_strides(
    shape: tuple[int, ...], strides: list[int], name: str, place: str
) -> tuple[int, int]:
    """Numbers from a row to the next and from a column to the next, with all leading axes as rows.

    >>> _compute_matrix_strides((2, 3, 4), [12, 4, 1], "w", "a.bin")
    (4, 1)
    >>> _compute_matrix_strides((3, 2), [1, 3], "w", "a.bin")
    (1, 3)
    """
    if not shape or 0 in shape:
        return 1, 1
    leading = [(side, stride) for side, stride in zip(shape[:-1], strides[:-1], strict=True) if side > 1]
    if any(stride != side * inner for (_, stride), (side, inner) in pairwise(leading)):
        raise UserError(
            f"{place} stores tensor {quote_name(name)} of {len(shape)} axes in permuted order, which is not "
            "read; save it with .contiguous()"
        )
    return leading[-1][1] if leading else 0, strides[-1] if shape[-1] > 1 else 1  # no step is taken there
