"""What a checkpoint says about itself: typed values, with one sentence where one is missing or absurd.

>>> config = CheckpointConfig({"num_attention_heads": 16, "hidden_size": "wide"}, "config.json")
>>> config.count("n_head", "num_attention_heads")
16
>>> config.count("hidden_size")
Traceback (most recent call last):
glassformer.core.errors.UserError: config.json: 'hidden_size' must be a whole number above 0, but it is 'wide'
"""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from glassformer.core.errors import UserError
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.quoted import quote_name

_LARGEST = 2**24  # of a count: no model has more layers, heads, experts or dimensions
_SMALL, _LARGE = 1e-12, 1e15  # of a base or a factor: beyond them arithmetic overflows
_NESTED = (
    "text_config",
    "llm_config",
    "language_config",
)  # where multimodal models keep the decoder's values


@dataclass(frozen=True)
class CheckpointConfig:
    """Values by name; every method takes names in order of preference."""

    values: Mapping[str, Any]
    source: str  # for errors

    def get(self, *names: str) -> Any:
        """The first value that is there; None where none is."""
        return next((self.values[name] for name in names if self.values.get(name) is not None), None)

    def count(self, *names: str, default: int | None = None) -> int:
        """A positive whole number."""
        return self.checked_count(names, self.found(names, default))

    def counts(self, layers: int, *names: str, default: int | None = None) -> tuple[int, ...]:
        """One positive number per layer; a single one is for all of them."""
        value = self.found(names, default)
        listed = (
            list(value) if isinstance(value, list | tuple) or hasattr(value, "tolist") else [value] * layers
        )
        if len(listed) != layers:
            raise UserError(f"{self.source}: '{names[0]}' has {len(listed)} values for {layers} layers")
        return tuple(self.checked_count(names, entry) for entry in listed)

    def number(self, *names: str, default: float | None = None) -> float:
        """A number above 0, within _SMALL and _LARGE."""
        value = self.found(names, default)
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not _SMALL <= value <= _LARGE:
            expected = f"a number from {_SMALL:g} to {_LARGE:g}"
            raise UserError(f"{self.source}: '{names[0]}' must be {expected}, but it is {quote_name(value)}")
        return float(value)

    def flag(self, *names: str, default: bool = False) -> bool:
        """True or false; `default` where it is not said."""
        value = self.get(*names)
        return default if value is None else bool(value)

    def word(self, *names: str, default: str = "") -> str:
        """A word; `default` where it is not said."""
        value = self.get(*names)
        return value if isinstance(value, str) else default

    def table(self, *names: str) -> "CheckpointConfig | None":
        """A table inside this one; None where there is none."""
        value = self.get(*names)
        return CheckpointConfig(value, f"{self.source}, '{names[0]}'") if isinstance(value, Mapping) else None

    def found(self, names: tuple[str, ...], default: float | None) -> Any:
        value = self.get(*names)
        if value is None and default is None:
            raise UserError(f"{self.source} does not say '{names[0]}', which its architecture needs")
        return default if value is None else value

    def checked_count(self, names: tuple[str, ...], value: object) -> int:
        whole = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else 0
        if whole < 1:
            raise UserError(
                f"{self.source}: '{names[0]}' must be a whole number above 0, but it is {quote_name(value)}"
            )
        if whole > _LARGEST:
            raise UserError(
                f"{self.source}: '{names[0]}' is {quote_name(whole)}, and more than {_LARGEST} is no model's"
            )
        return whole


def read_model_config(checkpoint: Checkpoint) -> CheckpointConfig:
    """The decoder's values: of config.json (a nested text_config goes first), or of a GGUF file.

    GGUF's names come without the architecture: 'llama.block_count' is 'block_count'.
    """
    if checkpoint.kind == "gguf":
        start = str(checkpoint.config.get("general.architecture", "")) + "."
        own = {name.removeprefix(start): value for name, value in checkpoint.config.items()}
        return CheckpointConfig(own, checkpoint.source)
    nested = [checkpoint.config[name] for name in _NESTED if isinstance(checkpoint.config.get(name), Mapping)]
    values = {**checkpoint.config, **(nested[0] if nested else {})}
    return CheckpointConfig(values, f"{checkpoint.source}: config.json")


def list_architecture_names(checkpoint: Checkpoint) -> tuple[str, ...]:
    """What the model is called in its configuration, the surest name first."""
    if checkpoint.kind == "gguf":
        said = [checkpoint.config.get("general.architecture")]
    else:
        config = read_model_config(checkpoint)
        classes = config.get("architectures")
        said = [config.get("model_type"), *(classes if isinstance(classes, list) else [])]
    return tuple(name for name in said if isinstance(name, str) and name)


def normalize_architecture(name: str) -> str:
    """A model type or the name of a class, comparable.

    >>> normalize_architecture("GPTNeoXForCausalLM"), normalize_architecture("gpt_neox")
    ('gptneox', 'gptneox')
    >>> normalize_architecture("GPT2LMHeadModel"), normalize_architecture("BertModel")
    ('gpt2', 'bert')
    """
    stem = name.split("For")[0].removesuffix("LMHeadModel").removesuffix("Model")
    return stem.lower().replace("_", "").replace("-", "")
