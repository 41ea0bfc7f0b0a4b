"""`glassformer prove --bits`: how few mantissa bits were found with which a proved model stays proved."""

import time as clock
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.core.answer import Answer, Request
from glassformer.core.errors import UserError, require_value
from glassformer.core.waiting import show_count_bar

if TYPE_CHECKING:
    from glassformer.models.model import Model
    from glassformer.proofs.rounding import Rounding
    from glassformer.runs.load import LoadedModel


_LEAST_TRY, _TRY_FACTOR = 5.0, 10.0  # seconds of a try, at least; and times the model's own proof


@dataclass(frozen=True)
class RoundedProof:
    """What `glassformer prove --bits --json` prints."""

    target: str
    verdict: str  # of the rounded model
    bits_before: int  # mantissa bits of all learned parameters, as stored
    bits: int  # and rounded
    parameters: list[dict[str, Any]]  # each with name, place, value, rounded, bits
    is_settled: bool  # no parameter alone can be rounded further; false where the time ran out
    try_seconds: float  # that a proof may take; what takes longer is not kept
    smallest_margin: float | None
    proofs: int  # that were tried
    file: str  # the rounded model
    certificate: str | None
    seconds: float


def prove_bits(
    target: str | Path,
    *,
    out: str | Path | None = None,
    seconds: float = 60.0,
    model: str | None = None,
    show: bool = False,
) -> RoundedProof:
    """Round each parameter to few mantissa bits, as far as the model stays proved.

    The search is greedy. When it ends, no parameter alone can be rounded further; other values may need fewer
    bits, so the number is an upper bound of what is needed.

    Args:
        target (TARGET): a zoo id, a run folder, a run's name or a .safetensors file
        out (FILE): file of the rounded model (default: TARGET-rounded.safetensors)
        seconds (--time SECONDS): time limit of the search; what is found by then is kept
        model (ID): architecture of a .safetensors file that names none: a zoo id or configuration
        show: show progress on standard error

    Examples:
        glassformer prove glass-8 --bits                    189 bits as stored, 26 are enough
    """
    from glassformer.proofs.prove import prove_model
    from glassformer.proofs.rounding import Rounding
    from glassformer.runs.load import load_model

    require_value(seconds > 0, "time", "above 0 seconds", seconds)
    began, loaded = clock.perf_counter(), load_model(target, model)
    path = _choose_rounded_file(loaded, out)
    with show_count_bar(None, show, "proofs") as tell:
        until = clock.monotonic() + seconds
        limit = _find_try_limit(target, loaded, seconds)
        search = Rounding(loaded, lambda one: _is_proved(loaded, one, limit), until, tell)
        before = search.bits
        search.search()
    rounded = search.make_model(search.values)
    _write_rounded(loaded, rounded, path)
    proof = prove_model(
        rounded, loaded.task, loaded.data, str(path), False, seconds, path.with_suffix(".certificate.json")
    )
    return RoundedProof(
        target=str(target),
        verdict=proof.main_verdict,
        bits_before=before,
        bits=search.bits,
        parameters=_list_parameters(search),
        is_settled=search.is_settled,
        try_seconds=round(limit, 3),
        smallest_margin=proof.smallest_margin,
        proofs=search.proofs,
        file=str(path),
        certificate=proof.certificate,
        seconds=round(clock.perf_counter() - began, 3),
    )


def answer_prove_bits(result: RoundedProof, request: Request) -> Answer:
    """Bits before and after, then each parameter."""
    words = f"{result.bits_before} mantissa bits as stored, {result.bits} are enough"
    margin = "" if result.smallest_margin is None else f", smallest margin {result.smallest_margin:.4g}"
    lines = [f"{result.target}: {words}; {result.verdict}{margin}"]
    names = [_name_parameter(one) for one in result.parameters]
    width = max(map(len, names), default=0)
    lines += [
        f"  {name:<{width}}  {one['value']:>13.9g}  {one['rounded']:>13.9g}  {one['bits']:>2} bits"
        for name, one in zip(names, result.parameters, strict=True)
    ]
    reach = f"no parameter alone can be rounded further and proved within {result.try_seconds:.2g} s"
    reach = reach if result.is_settled else "the time ran out: more may give fewer bits (--time)"
    lines += [f"  {result.proofs} proofs in {result.seconds:.1f} s; {reach}"]
    lines += [f"{result.file}, with its architecture"]
    if result.certificate:
        lines += [f"next: glassformer check {result.certificate}"]
    return Answer(asdict(result), "\n".join(lines))


def _find_try_limit(target: str | Path, loaded: "LoadedModel", seconds: float) -> float:
    """Ten times what the model's own proof takes: a try that no bound decides must not use up the time."""
    began = clock.perf_counter()
    if not _is_proved(loaded, loaded, seconds):
        raise UserError(f"{target} is not proved as it is: there is no proof that a rounding could keep")
    return min(seconds, max(_LEAST_TRY, _TRY_FACTOR * (clock.perf_counter() - began)))


def _is_proved(loaded: "LoadedModel", model: "Model", seconds: float) -> bool:
    """Values that overflow or leave the format are no proof."""
    from glassformer.proofs.prove import prove_model

    try:
        proof = prove_model(
            model, loaded.task, loaded.data, loaded.origin, False, seconds, None, margins=False
        )
    except UserError:
        return False
    return proof.main_verdict == "proved"


def _choose_rounded_file(loaded: "LoadedModel", out: str | Path | None) -> Path:
    path = Path(out) if out else Path(f"{loaded.name}-rounded.safetensors")
    return path if path.suffix == ".safetensors" else path.with_name(f"{path.name}.safetensors")


def _write_rounded(loaded: "LoadedModel", rounded: "Model", path: Path) -> None:
    from glassformer.core.atomic import write_arrays
    from glassformer.runs.load import make_file_metadata

    write_arrays(
        path, dict(rounded.params), make_file_metadata(loaded.task, loaded.data, rounded.architecture)
    )


def _list_parameters(search: "Rounding") -> list[dict[str, Any]]:
    """Every learned parameter with what it was, what it is, and its bits."""
    from glassformer.models.mantissa import count_mantissa_bits

    return [
        {
            "name": name,
            "place": list(place),
            "value": search.original[name, place],
            "rounded": rounded,
            "bits": count_mantissa_bits(rounded),
        }
        for (name, place), rounded in search.values.items()
    ]


def _name_parameter(one: dict[str, Any]) -> str:
    place = f"[{','.join(map(str, one['place']))}]" if one["place"] else ""
    return f"{one['name']}{place}"
