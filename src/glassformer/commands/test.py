"""`glassformer test`: an adder by the board's protocol and on hard pairs, other models on fresh inputs."""

from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.commands.values import read_digits, refuse_unused
from glassformer.core.answer import Answer, Request
from glassformer.core.errors import require_value

if TYPE_CHECKING:
    from glassformer.commands.measure_target import Measurement

_LEAST = 4  # pairs of each kind, however long
_ORDINARY = 20  # digits up to which all pairs are taken
_PAIRS, _HARD, _POSITIONS = 10_000, 2_000, 100_000  # that are taken where nothing is said


def test(
    target: str | Path,
    *,
    seed: int | None = None,
    pairs: int | None = None,
    hard: int | None = None,
    positions: int | None = None,
    digits: int | None = None,
    model: str | None = None,
    no_limit: bool = False,
    show: bool = False,
) -> "Measurement":
    """Measure a model on fresh inputs.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        seed (N): random seed of the inputs (default: 2025 for adders, 1 for others)
        pairs (N): adders: number of random pairs (default: 10000, fewer of long numbers)
        hard (N): adders: pairs per hard distribution (default: 2000, fewer of long numbers)
        positions (N): number of constrained positions (rules) or prompts (questions) (default: 100000)
        digits (N): adders of every length, and hand-built ones with formulas for it (hand-6): digits of the
            numbers (default: as trained or published)
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        no_limit: start even if the estimate exceeds this machine's memory or disk, or a week
        show: show progress on standard error

    Examples:
        glassformer test runs/plus_last_even --positions 500000
        glassformer test runs/modular                     a question: all prompts, if there are not too many
        glassformer test any-8 --digits 1000 --pairs 20   numbers of a thousand digits
        glassformer test nanogpt-58                       10 edge cases, 10,000 random pairs, hard pairs
        glassformer test nanogpt-58 --seed 7 --pairs 1000000 --hard 0
        glassformer test mine.safetensors --model glass-39  a file that does not name its architecture

    Exit status: 1 if an adder gets less than 99% of the random pairs and edge cases right, else 0
    """
    for name, value, least in (("positions", positions, 1), ("pairs", pairs, 1), ("hard", hard, 0)):
        require_value(value is None or value >= least, f"--{name}", f"at least {least}", value)
    if seed is not None:
        require_value(0 <= seed < 2**31, "--seed", "between 0 and 2^31 - 1", seed)
    from glassformer.commands.measure_target import measure_adder, measure_strings
    from glassformer.runs.load import load_model

    loaded = load_model(target, model)
    if loaded.task.family != "addition":
        does = loaded.task.words.ability
        refuse_unused(
            {"pairs": pairs, "hard": hard, "digits": digits}, f"adders; {target} {does}: --positions"
        )
        return measure_strings(loaded, positions or _POSITIONS, seed, no_limit)
    refuse_unused({"positions": positions}, f"rules and questions; {target} adds: --pairs")
    digits = read_digits(digits)
    loaded = loaded.with_digits(digits)
    usual, usual_hard = (max(_LEAST, count // _measure_length(digits)) for count in (_PAIRS, _HARD))
    return measure_adder(loaded, seed, pairs or usual, usual_hard if hard is None else hard, show, no_limit)


def _measure_length(digits: int | None) -> int:
    """How many times as long a sum takes as one of some twenty digits."""
    return max(1, ((digits or 0) // _ORDINARY) ** 2)


def answer_test(result: "Measurement", request: Request) -> Answer:
    """The measures in words; status 1 for an adder that does not qualify."""
    return Answer(result.content, result.words, 0 if result.qualified else 1)
