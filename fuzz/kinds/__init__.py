"""The kinds of input, by name."""

from fuzz.kinds import certificate, folder, gguf, metadata, options, pytorch, safetensors, toml
from fuzz.kinds.kind import Kind

KINDS: dict[str, Kind] = {
    "folder": folder.KIND,
    "metadata": metadata.KIND,
    "toml": toml.KIND,
    "options": options.KIND,
    "certificate": certificate.KIND,
    "safetensors": safetensors.KIND,
    "gguf": gguf.KIND,
    "pytorch": pytorch.KIND,
}
