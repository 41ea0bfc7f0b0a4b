"""The words that each command takes, and its help. Nothing is imported for it but argparse."""

import argparse
from typing import NoReturn

from glassformer.cli_examples import (
    ADD_EXAMPLES,
    CHECK_EXAMPLES,
    DRAW_EXAMPLES,
    EXAMPLES,
    EXPORT_EXAMPLES,
    PAGE_EXAMPLES,
    PROVE_EXAMPLES,
    PRUNE_EXAMPLES,
    RUN_EXAMPLES,
    SPECTRA_EXAMPLES,
    SWEEP_EXAMPLES,
    TEST_EXAMPLES,
    VIDEO_EXAMPLES,
)
from glassformer.errors import UserError

ABOUT = "glassformer: transformers you can see through."
TARGET = "a zoo id, a run folder, a run's name or a .safetensors file"


class Parser(argparse.ArgumentParser):
    """Errors are sentences like all others."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} ({self.prog} --help)")


def make_parser() -> tuple[Parser, dict[str, Parser]]:
    plain = argparse.RawDescriptionHelpFormatter
    parser = Parser(
        "glassformer", description=ABOUT, epilog=EXAMPLES, formatter_class=plain, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=version_text())
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND", parser_class=Parser)
    made: dict[str, Parser] = {}

    def verb(name: str, about: str, epilog: str = "") -> Parser:
        one = verbs.add_parser(
            name, help=about, description=about, epilog=epilog, formatter_class=plain, allow_abbrev=False
        )
        one.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        made[name] = one
        return one

    for name, about in (
        ("run", "train a population, keep the best seed, measure, prove, draw it, write its page"),
        ("train", "the same as run, without what comes after the measurement"),
    ):
        add_run_options(verb(name, about, RUN_EXAMPLES.format(verb=name)))
    add_sweep_options(
        verb("sweep", "configurations x seeds: success rates with their intervals", SWEEP_EXAMPLES)
    )
    add_test_options(verb("test", "measure a model on fresh data", TEST_EXAMPLES))
    add_add_options(verb("add", "one sum, as the model writes it", ADD_EXAMPLES))
    add_prove_options(verb("prove", "right on every input, or an input where it fails", PROVE_EXAMPLES))
    add_prune_options(verb("prune", "fix the numbers that its function does not need", PRUNE_EXAMPLES))
    add_check_options(verb("check", "verify a certificate with independent code", CHECK_EXAMPLES))
    add_draw_options(verb("draw", "every parameter and every step as figures", DRAW_EXAMPLES))
    add_video_options(verb("video", "how a run learned, as videos", VIDEO_EXAMPLES))
    add_page_options(verb("page", "an interactive page, in one file, for any browser", PAGE_EXAMPLES))
    add_spectra_options(
        verb("spectra", "spectra of a checkpoint's weights and attention heads", SPECTRA_EXAMPLES)
    )
    add_export_options(verb("export", "the model in a file of its own, tested equal", EXPORT_EXAMPLES))
    count = verb(
        "count",
        "count a model's parameters, in every convention",
        "examples:\n  glassformer count plus_last_even\n  glassformer count zoo       all adders in a table",
    )
    count.add_argument("target", metavar="TARGET", help=f"{TARGET}, a configuration's name, or zoo")
    add_model_option(count)
    listing = verb("list", "tasks, models, figures, runs, settings", "example:\n  glassformer list tasks")
    listing.add_argument(
        "what", nargs="?", default="all", metavar="WHAT", help="tasks, models, figures, runs or settings"
    )
    return parser, made


def add_run_options(parser: Parser) -> None:
    parser.add_argument(
        "target",
        metavar="NAME|FILE",
        help="a configuration's name, a .toml file, or a .py file with a rule or a question",
    )
    add_rule_option(parser)
    parser.add_argument("--out", metavar="FOLDER", help="run folder (default: runs/NAME)")
    parser.add_argument("--seeds", metavar="N", help="models in the population")
    parser.add_argument("--seed", metavar="N", help="number of the first seed")
    parser.add_argument("--steps", metavar="N", help="optimiser steps")
    parser.add_argument("--mine", metavar="N", help="adders: rounds of training on the prover's worst sums")
    parser.add_argument("--device", metavar="auto|cpu|gpu", help="where to train")
    add_limit_option(parser)
    parser.add_argument("--threads", metavar="N", help="CPU threads (default: one a core)")
    parser.add_argument("--resume", action="store_true", help="go on with the run that the folder holds")
    parser.add_argument("--overwrite", action="store_true", help="replace the run that the folder holds")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def add_limit_option(parser: Parser) -> None:
    parser.add_argument(
        "--no-limit", action="store_true", help="also what takes more memory, disk or time than there is"
    )


def add_rule_option(parser: Parser) -> None:
    parser.add_argument(
        "--rule", metavar="FILE.py", help="the rule or question of a .toml file's task, as Python"
    )


def add_sweep_options(parser: Parser) -> None:
    add_rule_option(parser)
    parser.add_argument(
        "target", metavar="FILE|NAME", help="a sweep's .toml file or folder, or what `run` takes, as the base"
    )
    parser.add_argument(
        "--grid", action="append", default=[], metavar="KEY=V1,V2", help="values to try; may be repeated"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="of each configuration (default: 64)")
    parser.add_argument("--seed", type=int, metavar="N", help="number of the first seed (default: 0)")
    parser.add_argument(
        "--block", type=int, metavar="N", help="seeds a unit (default: 64; where there is a GPU 1024)"
    )
    parser.add_argument("--out", metavar="FOLDER", help="where to (default: sweeps/NAME)")
    parser.add_argument(
        "--engine", default="here", metavar="here|processes|ray", help="where units run (default: here)"
    )
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="units at a time")
    parser.add_argument("--address", metavar="A", help="of the Ray cluster, or auto")
    parser.add_argument("--plan", action="store_true", help="train nothing: the units that are left as files")
    parser.add_argument("--certificates", action="store_true", help="one for every proved model")
    add_limit_option(parser)
    parser.add_argument("--resume", action="store_true", help="go on with the sweep that the folder holds")
    parser.add_argument("--overwrite", action="store_true", help="replace the sweep that the folder holds")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def add_test_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the data (default for adders: 2025, for others: 1)"
    )
    parser.add_argument("--pairs", type=int, metavar="N", help="adders: random pairs (default: 10000)")
    parser.add_argument(
        "--hard",
        type=int,
        metavar="N",
        help="adders: pairs a hard distribution (default: 2000)",
    )
    parser.add_argument(
        "--positions",
        type=int,
        metavar="N",
        help="rules: constrained positions; questions: prompts (default: 100000)",
    )
    add_limit_option(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_model_option(parser)


def add_add_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument("a", metavar="A", help="an integer from 0 up, of at most ten digits")
    parser.add_argument("b", metavar="B", help="the same")
    add_model_option(parser)


def add_prove_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--real", action="store_true", help="prove the model in real numbers, without rounding"
    )
    parser.add_argument("--time", type=float, default=60.0, metavar="SECONDS", help="budget (default: 60)")
    parser.add_argument("--out", metavar="FILE", help="certificate (default: in the run folder, or here)")
    parser.add_argument("--population", action="store_true", help="every seed of a run (adders, questions)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_model_option(parser)


def add_prune_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument(
        "--out", metavar="FILE", help="the reduced model (default: TARGET-pruned-N.safetensors)"
    )
    parser.add_argument(
        "--time", type=float, default=60.0, metavar="SECONDS", help="of the proof (default: 60)"
    )
    parser.add_argument("--quiet", action="store_true", help="no sign of work")
    add_model_option(parser)


def add_check_options(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a certificate.json")
    parser.add_argument("--for", dest="target", metavar="TARGET", help="the model that it must be about")
    add_model_option(parser)


def add_model_option(parser: Parser) -> None:
    parser.add_argument(
        "--model", metavar="ID", help="whose architecture a .safetensors file has that does not say it"
    )


def add_draw_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument("--step", type=int, metavar="N", help="a saved step (default: the finished model)")
    parser.add_argument(
        "--sequence",
        action="append",
        default=[],
        metavar='"4 1 +"',
        help="an input, not of adders; may be repeated",
    )
    parser.add_argument("--pair", metavar="A+B", help="adders: the sum that is worked through")
    parser.add_argument("--query", metavar="TOKEN@PLACE", help="the query of figure 10, not of adders")
    parser.add_argument(
        "--dims", metavar="I,J", help="two dimensions in place of the main directions, not of adders"
    )
    parser.add_argument("--only", metavar="05,13,F1", help="these figures (glassformer list figures)")
    parser.add_argument("--format", default="png", metavar="png,svg,pdf", help="of the files (default: png)")
    parser.add_argument("--theme", default="light", metavar="light|dark|print", help="(default: light)")
    add_out_options(parser, "figures/ in the run folder, or TARGET.figures/ here")


def add_video_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a run folder or a run's name")
    parser.add_argument("--which", metavar="NAMES", help="some of them, parted by commas (default: all)")
    parser.add_argument(
        "--sequence",
        action="append",
        default=[],
        metavar='"4 1 +"',
        help="the input that is followed, not of adders",
    )
    parser.add_argument("--pair", metavar="A+B", help="adders: the sum that is followed")
    parser.add_argument("--fps", type=float, default=20.0, metavar="N", help="frames a second (default: 20)")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="every N-th saved step (default: 1)"
    )
    parser.add_argument("--width", type=int, default=1280, metavar="PIXELS", help="(default: 1280)")
    parser.add_argument("--format", default="mp4", metavar="mp4,gif", help="of the files (default: mp4)")
    parser.add_argument("--theme", default="light", metavar="light|dark|print", help="(default: light)")
    add_out_options(parser, "videos/ in the run folder")


def add_page_options(parser: Parser) -> None:
    parser.add_argument(
        "target", metavar="TARGET", help=f"{TARGET}, or a folder of runs or of spectra, or a sweep"
    )
    parser.add_argument("--out", metavar="FILE", help="(default: page.html in the folder, or NAME.page.html)")
    parser.add_argument(
        "--time", type=float, default=10.0, metavar="SECONDS", help="for a proof not made yet (default: 10)"
    )
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        help="in the browser (default: where standard output is a terminal with a display)",
    )
    parser.add_argument("--quiet", action="store_true", help="no sign of work, and no browser")
    add_model_option(parser)


def add_spectra_options(parser: Parser) -> None:
    parser.add_argument(
        "target",
        metavar="PATH|HUB_ID",
        help="a folder or file of weights (safetensors, GGUF, PyTorch), a hub id, or a model of ours",
    )
    parser.add_argument(
        "other", nargs="?", metavar="OTHER", help="a second model: what changed, and how much"
    )
    parser.add_argument("--compare", metavar="OTHER", help="the same")
    parser.add_argument("--out", metavar="FOLDER", help="where to (default: NAME.spectra/ here)")
    parser.add_argument("--layers", metavar="0-5,8", help="these layers (default: all, and the embeddings)")
    parser.add_argument("--heads", action="store_true", help="the attention heads alone, no weight matrices")
    parser.add_argument(
        "--treatments",
        default="raw",
        metavar="raw,folded,rope:128",
        help="norm gains folded in; queries and keys turned to an offset (default: raw)",
    )
    parser.add_argument(
        "--relations",
        default="near",
        metavar="near|all|none",
        help="composition of heads in neighbouring layers, in all, or nothing between layers (default: near)",
    )
    parser.add_argument(
        "--top", type=int, default=16, metavar="N", help="directions that are compared (default: 16)"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="matrices at a time (default: one a core)")
    parser.add_argument(
        "--engine",
        default="here",
        metavar="here|processes|ray",
        help="where the work is done; not here: a layer a worker (default: here)",
    )
    parser.add_argument(
        "--address", metavar="auto|HOST:PORT", help="of a Ray cluster (default: this machine)"
    )
    parser.add_argument("--device", default="cpu", metavar="cpu|gpu", help="for the matrices (default: cpu)")
    parser.add_argument("--singular-values", action="store_true", help="all of them, as a Parquet table")
    parser.add_argument(
        "--format", default="png", metavar="png,svg,pdf", help="of the figures, or none (default: png)"
    )
    parser.add_argument("--theme", default="light", metavar="light|dark|print", help="(default: light)")
    parser.add_argument("--overwrite", action="store_true", help="replace what the folder holds")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def add_export_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument("--to", required=True, metavar="torch|adderboard|onnx|python", help="kind of file")
    parser.add_argument("--out", metavar="FILE", help="(default: NAME_torch.py, NAME.onnx and so on, here)")
    parser.add_argument("--overwrite", action="store_true", help="replace another file of that name")
    parser.add_argument("--quiet", action="store_true", help="no sign of work")
    add_model_option(parser)


def add_out_options(parser: Parser, default: str) -> None:
    parser.add_argument("--out", metavar="FOLDER", help=f"where to (default: {default})")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_model_option(parser)


def version_text() -> str:
    from importlib.metadata import version

    return f"glassformer {version('glassformer')}"
