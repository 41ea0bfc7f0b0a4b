"""The zoo: adders by id, trained (MicroAdder, glass, any length, RoPE) or hand-built (nanoGPT, our smallest).

A few subtract, multiply or have another base. A hand-built model's parameters are computed by its module; a
trained one's lie in `weights/ID.safetensors`.
"""

from glassformer.zoo import (
    any_length,
    glass,
    microadder,
    mirror,
    nanogpt,
    products,
    pure,
    rope,
    smallest,
    tinyadder,
)
from glassformer.zoo.entry import ZooEntry

__all__ = ["ZOO"]
_FAMILIES = (microadder, glass, mirror, any_length, pure, rope, nanogpt, tinyadder, smallest, products)
ZOO: dict[str, ZooEntry] = {entry.id: entry for family in _FAMILIES for entry in family.ENTRIES}

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "any_length": "ENTRIES",
    "entry": "VERDICTS ZooEntry",
    "glass": "ENTRIES",
    "microadder": "ENTRIES",
    "mirror": "ENTRIES",
    "pure": "ENTRIES",
    "rope": "ENTRIES",
}
