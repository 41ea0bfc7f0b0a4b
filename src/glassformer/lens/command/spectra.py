"""`glassformer spectra`: the spectra of every weight matrix and attention head of a checkpoint."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glassformer.core.answer import Answer, Request
from glassformer.core.errors import UserError
from glassformer.core.values import split_list

if TYPE_CHECKING:
    from glassformer.lens.command.analyse import SpectraResult


def spectra(
    target: str | Path,
    other: str | Path | None = None,
    *,
    compare: str | Path | None = None,
    out: str | Path | None = None,
    layers: str | None = None,
    heads_only: bool = False,
    treatments: str = "raw",
    relations: Literal["near", "all", "none"] = "near",
    top: int = 16,
    workers: int | None = None,
    engine: Literal["here", "processes", "ray"] = "here",
    address: str | None = None,
    device: Literal["cpu", "gpu"] = "cpu",
    singular_values: bool = False,
    formats: str | Sequence[str] = "png",
    theme: Literal["light", "dark", "print"] = "light",
    overwrite: bool = False,
    show: bool = False,
) -> "SpectraResult":
    """Analyse the weight matrices and attention heads of any checkpoint.

    Args:
        target (PATH|HUB_ID): a folder or file of weights (safetensors, GGUF, PyTorch), a Hugging Face hub
            id, or a glassformer model
        other (OTHER): a second model, to compare with the first
        compare (OTHER): the second model, as an option
        out (FOLDER): where to write (default: NAME.spectra/)
        layers (0-5,8): layers to analyse (default: all layers and the embeddings)
        heads_only (--heads): only the attention heads, no weight matrices
        treatments (raw,folded,rope:128): weights as stored; with norm gains folded in; with RoPE at an
            offset of 128 positions
        relations: composition between heads of neighbouring layers, of all layers, or none
        top (N): leading directions to compare
        workers (N): matrices to analyse at the same time (default: one per core)
        engine: run in this process, or one layer per worker in several processes or on a Ray cluster
        address (auto|HOST:PORT): address of the Ray cluster (default: start one on this machine)
        device: where to compute the matrices' spectra
        singular_values: also write a table of all singular values
        formats (--format png,svg,pdf): figure formats, or none (default: png)
        theme: colour theme
        overwrite: replace the analysis in the folder
        show: show progress on standard error

    Examples:
        glassformer spectra model.gguf                              all matrices and heads, into model.spectra
        glassformer spectra checkpoints/llama --heads               only the attention heads, in seconds
        glassformer spectra model.safetensors --layers 0-5,8 --treatments raw,folded,rope:128
        glassformer spectra Qwen/Qwen2.5-0.5B --out qwen --format svg,pdf
        glassformer spectra base tuned                              two models, and the spectrum of the change
        glassformer spectra nanogpt-58                              a glassformer model
        glassformer spectra qwen/weights.csv                        a table: its phases and trends over depth
        glassformer spectra /shared/llama --engine ray --address auto    on a cluster, one layer per worker

    Notes:
        if the command is stopped or killed, run it again to resume; a run with more layers or treatments
        reuses what is there
    """
    from glassformer.lens.command.analyse import analyse_target
    from glassformer.lens.command.input import AnalysisStyle, AnalysisWish
    from glassformer.lens.treatments import parse_treatments

    if other and compare:
        raise UserError(
            "--compare names the second model, and so does the second word: one of them is enough"
        )
    style = AnalysisStyle(
        singular_values, split_list(formats), theme, workers, engine, address, overwrite, show
    )
    is_here = engine == "here"
    wish = AnalysisWish(layers, heads_only, parse_treatments(treatments), relations, top, device, is_here)
    return analyse_target(str(target), str(other or compare) if other or compare else None, out, wish, style)


def answer_spectra(result: "SpectraResult", request: Request) -> Answer:
    """The summary for people."""
    return Answer(asdict(result), _describe_result(result, request.target))


def _describe_result(result: "SpectraResult", target: str) -> str:
    from glassformer.core.words import format_count
    from glassformer.lens.command.analyse import REPORT
    from glassformer.lens.command.pages import describe_analysis_page
    from glassformer.lens.summary import describe_summary

    where = f"{result.folder}: " if result.folder else ""
    size = format_count(result.layers, "layer")
    first = f"{where}{result.model}, {result.architecture}, {size}, in {result.seconds:.1f} s"
    lines = [first, *(f"  {line}" for line in describe_summary(vars(result)))]
    if result.folder is None:
        return "\n".join(lines)
    if result.comparison:
        from glassformer.lens.command.compare import describe_comparison_result

        return "\n".join([*lines, *describe_comparison_result(result)])
    lines.append(f"  {len(result.files)} files; what they say in words: {Path(result.folder) / REPORT}")
    lines += describe_analysis_page(result.folder, result.files)
    if not result.weights:
        lines.append(f"next: glassformer spectra {target}    (the matrices too; the heads are kept)")
    elif result.treatments == ["raw"] and result.heads:
        lines.append(f"next: glassformer spectra {target} --treatments folded    (with the norm gains)")
    return "\n".join(lines)
