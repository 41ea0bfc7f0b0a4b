"""The zoo: adders by id, hand-built (nanoGPT, TinyAdder, our smallest) or trained (MicroAdder, glass, RoPE).

A hand-built model's parameters are computed by its module; a trained one's lie in `weights/ID.safetensors`.
"""

from glassformer.zoo import glass, microadder, mirror, nanogpt, rope, smallest, tinyadder
from glassformer.zoo.entry import ZooEntry

__all__ = ["ZOO"]
_FAMILIES = (microadder, glass, mirror, rope, nanogpt, tinyadder, smallest)
ZOO: dict[str, ZooEntry] = {entry.id: entry for family in _FAMILIES for entry in family.ENTRIES}

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "entry": "VERDICTS ZooEntry",
    "glass": "ENTRIES",
    "microadder": "ENTRIES",
    "mirror": "ENTRIES",
    "rope": "ENTRIES",
}
