"""The zoo: adders by id, hand-built (nanoGPT, TinyAdder, our smallest) or trained (MicroAdder, glass, RoPE).

A hand-built model's numbers are computed by its module; a trained one's lie in `weights/ID.safetensors`.
"""

from glassformer.zoo import glass, microadder, mirror, nanogpt, rope, smallest, tinyadder
from glassformer.zoo.entry import Entry

FAMILIES = (microadder, glass, mirror, rope, nanogpt, tinyadder, smallest)
ZOO: dict[str, Entry] = {entry.id: entry for family in FAMILIES for entry in family.ENTRIES}
