"""Bugs that are planted to see that the fuzzer finds them; none unless a test asks for it."""

import time
from collections.abc import Callable

from fuzz.place import Place


def plant(name: str, place: Place) -> None:
    """The safetensors reader does this in place of its work; an empty name plants nothing."""
    if not name:
        return
    from dataclasses import replace

    from glassformer.lens.read import assemble

    def reader(source: object) -> dict[str, object]:
        BUGS[name](place)
        return {}

    assemble.SAFETENSORS = replace(assemble.SAFETENSORS, reader=reader)  # type: ignore[arg-type]


def raise_key_error(place: Place) -> None:
    raise KeyError("planted")


def use_time(place: Place) -> None:
    end = time.process_time() + 2.2
    while time.process_time() < end:
        sum(range(1000))


def use_memory(place: Place) -> None:
    bytearray(700_000_000)


def use_memory_and_refuse(place: Place) -> None:
    from glassformer.core.errors import UserError

    try:
        bytearray(700_000_000)
    except MemoryError:
        raise UserError("too large") from None


def touch_marker(place: Place) -> None:
    place.marker.touch()


def die(place: Place) -> None:
    import os

    os.abort()


def exit_quietly(place: Place) -> None:
    raise SystemExit(0)


def hang(place: Place) -> None:
    time.sleep(600)


BUGS: dict[str, Callable[[Place], None]] = {
    "key_error": raise_key_error,
    "time": use_time,
    "memory": use_memory,
    "memory_refused": use_memory_and_refuse,
    "marker": touch_marker,
    "death": die,
    "exit": exit_quietly,
    "hang": hang,
}
