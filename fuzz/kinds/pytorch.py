"""PyTorch files: a zip of a pickle and numbers. Pickles are programs; none of their calls may ever run."""

import io
import pickletools
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from fuzz.kinds.kind import Kind
from fuzz.kinds.looking import look
from fuzz.mutate.bytes import mutate_bytes
from fuzz.mutate.values import draw_text
from fuzz.place import Place

Opcodes = tuple[bytes, ...]
Input = tuple[Opcodes, dict[str, bytes]]  # the pickle, and the other members by name
NUMBERS = (0, 1, 2, 3, 255, 2**16, 2**31 - 1, -1, -(2**31))


def prepare(folder: Path) -> list[Input]:
    """A state_dict of several types, the same in a trainer's checkpoint, and one with a shared storage."""
    from tests.lens.read import torch_writer as writer

    draw = np.random.default_rng(0).standard_normal
    arrays = {"a.weight": draw((4, 6)).astype("<f4"), "turned": draw((5, 3)).astype("<f4").T}
    arrays |= {
        "cube": draw((2, 3, 4)).astype("<f8"),
        "half": draw(7).astype("<f2"),
        "count": np.array(3, "<i8"),
    }

    def nested(body: bytes) -> bytes:
        return b"}(" + writer.text("epoch") + writer.number(3) + writer.text("state_dict") + body + b"u"

    shared = writer.tensor("0", "FloatStorage", 20, (2, 3), (5, 1), offset=6)
    files = [
        writer.write_arrays(folder / "plain.bin", arrays),
        writer.write_arrays(folder / "nested.pt", arrays, nested),
        writer.write(folder / "view.bin", writer.dict_of({"w": shared, "v": shared}), {"0": bytes(80)}),
    ]
    return [taken_apart(path) for path in files]


def taken_apart(path: Path) -> Input:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return opcodes_of(members.pop("archive/data.pkl")), members


def opcodes_of(program: bytes) -> Opcodes:
    """The pickle cut into its opcodes, each with its argument."""
    starts = [at for _, _, at in pickletools.genops(program) if at is not None]
    return tuple(program[start:stop] for start, stop in zip(starts, [*starts[1:], len(program)], strict=True))


def attempt(random: Random, inputs: list[Input], place: Place) -> int | None:
    """A file whose pickle, members or bytes are damaged."""
    opcodes, members = random.choice(inputs)
    chosen = random.random()
    if chosen < 0.6:
        for _ in range(random.randint(1, 3)):
            opcodes = random.choice(CHANGES)(opcodes, random, place)
    elif chosen < 0.8:
        members = change_members(members, random)
    program = b"".join(opcodes)
    if chosen > 0.95:
        program = mutate_bytes(program, random)
    content = zipped({"archive/data.pkl": program} | members, random)
    if 0.8 < chosen < 0.95:
        content = damaged_zip(content, random)
    path = place.folder / random.choice(("a.bin", "a.pt", "pytorch_model.bin", "a.safetensors"))
    path.write_bytes(content)
    return look(path, random)


def zipped(members: dict[str, bytes], random: Random) -> bytes:
    """A zip of plain members; now and then packed, which is refused."""
    content, is_packed = io.BytesIO(), random.random() < 0.03
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED) as archive:
        for name, one in members.items():
            archive.writestr(zipfile.ZipInfo(name), one)
    return content.getvalue()


def damaged_zip(content: bytes, random: Random) -> bytes:
    """Anywhere, or in the directory, which lies at the end."""
    start = content.rfind(b"PK\1\2") if random.random() < 0.5 else content.find(b"PK\1\2")
    if random.random() < 0.4:
        return mutate_bytes(content, random)
    return content[:start] + mutate_bytes(content[start:], random)


def change_members(members: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """A member renamed, emptied, cut, lost or added."""
    name = random.choice(list(members))
    content = members[name]
    others = {key: one for key, one in members.items() if key != name}
    strange = draw_text(random)[:1000].encode("utf-8", "replace").decode().replace("\0", "_") or "_"
    return random.choice(
        (
            others,
            others | {name: b""},
            others | {name: content[: random.randrange(len(content) + 1)]},
            others | {f"archive/{strange}": content},
            members | {"archive/byteorder": b"big"},
            members | {f"{strange}/data.pkl": b"."},
            members | {"archive/constants.pkl": b"."},
            members | {"archive/data/0": content * 3},
        )
    )


def delete(opcodes: Opcodes, random: Random, place: Place) -> Opcodes:
    at = random.randrange(len(opcodes))
    return opcodes[:at] + opcodes[at + 1 :]


def repeat(opcodes: Opcodes, random: Random, place: Place) -> Opcodes:
    start = random.randrange(len(opcodes))
    stop = min(len(opcodes), start + random.randint(1, 8))
    return opcodes[:stop] + opcodes[start:stop] * random.choice((1, 1, 100)) + opcodes[stop:]


def swap(opcodes: Opcodes, random: Random, place: Place) -> Opcodes:
    one, other = sorted(random.randrange(len(opcodes)) for _ in range(2))
    if one == other:
        return opcodes
    return (*opcodes[:one], opcodes[other], *opcodes[one + 1 : other], opcodes[one], *opcodes[other + 1 :])


def put_number(opcodes: Opcodes, random: Random, place: Place) -> Opcodes:
    """A number of a shape, a stride or an offset, also far beyond four bytes."""
    places = [at for at, one in enumerate(opcodes) if one[:1] == b"J"]
    if not places:
        return opcodes
    at, large = random.choice(places), random.choice((2**62, 2**63, 2**64, -(2**63), 10**400))
    packed = large.to_bytes(large.bit_length() // 8 + 1, "little", signed=True)
    long = b"\x8a" + bytes([len(packed)]) + packed
    plain = b"J" + struct.pack("<i", random.choice(NUMBERS))
    return (*opcodes[:at], random.choice((plain, plain, long, b"\x88", b"N")), *opcodes[at + 1 :])


def put_text(opcodes: Opcodes, random: Random, place: Place) -> Opcodes:
    places = [at for at, one in enumerate(opcodes) if one[:1] == b"X"]
    if not places:
        return opcodes
    at, content = random.choice(places), draw_text(random).encode("utf-8", "surrogatepass")
    return (*opcodes[:at], b"X" + struct.pack("<L", len(content)) + content, *opcodes[at + 1 :])


def insert(opcodes: Opcodes, random: Random, place: Place) -> Opcodes:
    """An opcode that a reader may not know, or that asks for much."""
    at = random.randrange(len(opcodes))
    return (*opcodes[:at], random.choice(ODD), *opcodes[at:])


def call(opcodes: Opcodes, random: Random, place: Place) -> Opcodes:
    """A call that would make the marker, in one of the ways that pickles have."""
    at = random.randrange(1, len(opcodes) + 1)
    return (*opcodes[:at], random.choice(calls(str(place.marker))), *opcodes[at:])


def calls(marker: str) -> tuple[bytes, ...]:
    """Programs that leave one value and would touch the marker."""
    shell = f"touch {marker}".encode()
    text = b"X" + struct.pack("<L", len(shell)) + shell
    path = b"X" + struct.pack("<L", len(marker)) + marker.encode()
    mode = b"X\x01\0\0\0w"
    return (
        b"cposix\nsystem\n(" + text + b"tR",
        b"cos\nsystem\n" + text + b"\x85R",
        b"\x8c\x02os\x8c\x06system\x93" + text + b"\x85R",
        b"(S'" + shell + b"'\nios\nsystem\n",
        b"(cos\nsystem\n" + text + b"o",
        b"cbuiltins\nopen\n(" + path + mode + b"tR",
        b"cbuiltins\nopen\n(" + path + mode + b"t\x81",
        b"c__builtin__\neval\n(X\x01\0\0\0" + b"1tR",
        b"cpathlib\nPosixPath\n(" + path + b"tR",
        b"\x8c\x02os\x94\x8c\x06system\x94\x93\x94" + text + b"\x94\x85\x94R\x94",
    )


ODD = (
    *(
        b"0",
        b"1",
        b"2",
        b"a",
        b"b",
        b"d",
        b"e",
        b"l",
        b"o",
        b"p0\n",
        b"g0\n",
        b"q\xff",
        b"h\xff",
        b"r\xff\xff\xff\x7f",
    ),
    *(
        b"\x80\x09",
        b"\x82\x01",
        b"\x84\xff\xff\xff\xff",
        b"\x8b\xff\xff\xff\x7f",
        b"\x8d" + b"\xff" * 8,
        b"\x95" + b"\xff" * 8,
    ),
    *(
        b"B\xff\xff\xff\x7f",
        b"L" + b"9" * 5001 + b"L\n",
        b"I1e9\n",
        b"Fnan\n",
        b"G" + b"\x7f\xf0" + b"\0" * 6,
        b"N",
        b".",
    ),
    *(
        b"(" * 3000,
        b"(" * 3000 + b"t" * 3000,
        b"]" * 3000,
        b"\x85" * 3000,
        b"\x8f",
        b"\x90",
        b"\x96" + b"\xff" * 8,
        b"Pid\n",
        b"Q",
        b"R",
    ),
    *(
        b"]2" * 100 + b"a" * 100,
        b"}" + b"2X\x01\0\0\0a}s" * 50,
        b")" + b"2\x86" * 60,
        b"\x94" * 1000,
        b"s",
        b"u",
        b"t",
    ),
)
Change = Callable[[Opcodes, Random, Place], Opcodes]
CHANGES: tuple[Change, ...] = (delete, repeat, swap, put_number, put_number, put_text, insert, call)
KIND = Kind(share=230, needs=("numpy", "jaxtyping"), prepare=prepare, attempt=attempt)
