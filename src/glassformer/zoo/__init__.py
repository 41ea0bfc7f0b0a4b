"""The zoo: adders of every family that the field knows, hand-built or trained, by their id.

A hand-built model's numbers are computed by its module; a trained one's lie in `weights/ID.safetensors`.
"""

from glassformer.zoo.entry import Entry

ZOO: dict[str, Entry] = {}
