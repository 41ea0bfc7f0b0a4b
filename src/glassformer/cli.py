"""The command line: `glassformer VERB ...`. Verbs load what they need, so that help comes at once.

Options with a dot set one leaf of the configuration: `--train.steps 5000`, `--task.p 0.4`.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from glassformer.errors import UserError, unknown

GOOD, NEGATIVE, BAD_INPUT, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130
ABOUT = "glassformer: transformers you can see through."
EXAMPLES = """examples:
  glassformer list                                 what there is to train
  glassformer run plus_last_even                   train 16 seeds, keep the best, measure it
  glassformer run lucky7 --seeds 32 --steps 5000 --task.s 0.3
  glassformer test runs/plus_last_even             measure a finished run on fresh sequences
  glassformer test nanogpt-58                      an adder: the board's protocol and hard pairs
  glassformer add nanogpt-58 5388742030 746297626  one sum, as the model writes it
  glassformer prove glass-29                       right on all 10^20 pairs, with a certificate
  glassformer check glass-29.certificate.json      verify it with independent code
  glassformer count plus_last_even                 every way to count its parameters
"""
RUN_EXAMPLES = """examples:
  glassformer {verb} plus_last_even
  glassformer {verb} copy_modulo --seeds 8 --seed 100 --out runs/copy
  glassformer {verb} runs/copy/run.toml --out runs/again      repeat a run, bit for bit
  glassformer {verb} my_rule.py                               a rule of your own (docs/add-a-rule.md)

any setting of the configuration is an option too (glassformer list settings):
  --train.batch 128 --train.peak_rate 0.003 --model.width 3 --task.p 0.5 --model.layers.0.residual false
"""
TEST_EXAMPLES = """examples:
  glassformer test runs/plus_last_even --positions 500000
  glassformer test nanogpt-58                             10 edge cases, 10,000 pairs of seed 2025, hard pairs
  glassformer test nanogpt-58 --seed 7 --pairs 1000000 --hard 0
  glassformer test mine.safetensors --model glass-39      a file that does not say its architecture

exit status: 1 for an adder with less than 99% of the protocol right
"""
ADD_EXAMPLES = """examples:
  glassformer add nanogpt-58 5388742030 746297626
  glassformer add runs/glass-39 57 68 --json

exit status: 1 where the sum is wrong
"""
PROVE_EXAMPLES = """examples:
  glassformer prove glass-29                              all 10^20 pairs, in the arithmetic that it runs in
  glassformer prove nanogpt-58                            refuted: a pair that it gets wrong
  glassformer prove runs/plus_last_even --time 120        a rule: the exact share of contexts that break it
  glassformer prove mine.safetensors --model microadder-57
  glassformer prove runs/glass-39 --population            every seed of a run

exit status: 0 proved, 1 refuted, 2 bad input, 3 undecided or outside the method
"""
CHECK_EXAMPLES = """examples:
  glassformer check glass-29.certificate.json
  glassformer check runs/glass-39/certificate.json --for runs/glass-39

exit status: 0 valid, 1 not valid, 2 not a certificate, or that of another model
"""
TARGET = "a zoo id, a run folder, a run's name or a .safetensors file"


class Parser(argparse.ArgumentParser):
    """Errors are sentences like all others."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} ({self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        status = dispatch(arguments)
        sys.stdout.flush()
        return status
    except UserError as error:
        print(f"glassformer: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        resumes = any(verb in arguments for verb in ("run", "train"))
        kept = "; nothing is lost, the same command goes on from here" if resumes else ""
        print(f"glassformer: stopped{kept}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough: `glassformer list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except OSError as error:
        print(f"glassformer: {error}", file=sys.stderr)
        return BAD_INPUT


def dispatch(arguments: list[str]) -> int:
    parser, verbs = make_parser()
    plain, options = split_dotted(refuse_signs(arguments))
    word = next((argument for argument in plain if not argument.startswith("-")), None)
    if word is not None and word not in verbs:
        raise unknown("command", word, verbs, "glassformer --help")
    known, rest = parser.parse_known_args(plain)
    if rest:
        raise unknown_option(rest[0].partition("=")[0], known.verb, verbs.get(known.verb, parser))
    if known.verb is None:
        parser.print_help()
        return GOOD
    if options and known.verb not in ("run", "train"):
        raise unknown_option(f"--{next(iter(options))}", known.verb, verbs[known.verb])
    from glassformer.commands import verbs as actions
    from glassformer.runs.atomic import plain as plain_data

    answer: tuple[dict[str, Any], str, int] = getattr(actions, f"{known.verb}_verb")(known, options)
    content, words, status = answer
    print(json.dumps(plain_data(content)) if known.json else words)
    return status


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
        ("run", "train a population, keep the best seed, measure and prove it, write the run folder"),
        ("train", "the same as run, without what comes after the measurement"),
    ):
        add_run_options(verb(name, about, RUN_EXAMPLES.format(verb=name)))
    add_test_options(verb("test", "measure a model on fresh data", TEST_EXAMPLES))
    add_add_options(verb("add", "one sum, as the model writes it", ADD_EXAMPLES))
    add_prove_options(verb("prove", "right on every input, or an input where it fails", PROVE_EXAMPLES))
    add_check_options(verb("check", "verify a certificate with independent code", CHECK_EXAMPLES))
    count = verb(
        "count",
        "count a model's parameters, in every convention",
        "examples:\n  glassformer count plus_last_even\n  glassformer count zoo       all adders in a table",
    )
    count.add_argument("target", metavar="TARGET", help=f"{TARGET}, a configuration's name, or zoo")
    add_model_option(count)
    listing = verb("list", "tasks, models, runs, settings", "example:\n  glassformer list tasks")
    listing.add_argument(
        "what", nargs="?", default="all", metavar="WHAT", help="tasks, models, figures, runs or settings"
    )
    return parser, made


def add_run_options(parser: Parser) -> None:
    parser.add_argument(
        "target", metavar="NAME|FILE", help="a configuration's name, a .toml file, or a .py file with a rule"
    )
    parser.add_argument("--out", metavar="FOLDER", help="run folder (default: runs/NAME)")
    parser.add_argument("--seeds", metavar="N", help="models in the population")
    parser.add_argument("--seed", metavar="N", help="number of the first seed")
    parser.add_argument("--steps", metavar="N", help="optimiser steps")
    parser.add_argument("--mine", metavar="N", help="adders: rounds of training on the prover's worst sums")
    parser.add_argument("--device", metavar="auto|cpu|gpu", help="where to train")
    parser.add_argument("--threads", metavar="N", help="CPU threads (default: one a core)")
    parser.add_argument("--resume", action="store_true", help="go on with the run that the folder holds")
    parser.add_argument("--overwrite", action="store_true", help="replace the run that the folder holds")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def add_test_options(parser: Parser) -> None:
    parser.add_argument("target", metavar="TARGET", help=TARGET)
    parser.add_argument("--seed", type=int, metavar="N", help="of the data (adders: 2025; rules: 1)")
    parser.add_argument(
        "--pairs", type=int, default=10_000, metavar="N", help="adders: random pairs (default: 10000)"
    )
    parser.add_argument(
        "--hard",
        type=int,
        default=2_000,
        metavar="N",
        help="adders: pairs a hard distribution (default: 2000)",
    )
    parser.add_argument(
        "--positions", type=int, default=100_000, metavar="N", help="rules: constrained positions at least"
    )
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
    parser.add_argument("--population", action="store_true", help="every seed of a run, adders only")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_model_option(parser)


def add_check_options(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a certificate.json")
    parser.add_argument("--for", dest="target", metavar="TARGET", help="the model that it must be about")
    add_model_option(parser)


def add_model_option(parser: Parser) -> None:
    parser.add_argument(
        "--model", metavar="ID", help="whose architecture a .safetensors file has that does not say it"
    )


def refuse_signs(arguments: list[str]) -> list[str]:
    """The same words, if none after `add` is a signed number, which would be taken for an option."""
    for word in arguments if arguments[:1] == ["add"] else []:
        if word.startswith("-") and word.lstrip("-")[:1].isdigit():
            raise UserError(f"A and B must be integers from 0 up, without a sign, but one is '{word}'")
    return arguments


def split_dotted(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    """The plain words, and `--train.steps 5000` or `--train.steps=5000` as a dict.

    >>> split_dotted(["run", "--task.p", "0.4", "lucky7", "--quiet"])
    (['run', 'lucky7', '--quiet'], {'task.p': '0.4'})
    """
    plain: list[str] = []
    options: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or "." not in name:
            plain.append(word)
            continue
        text = value if equals else next(words, "--")
        if not equals and text.startswith("--"):
            raise UserError(f"{name} needs a value")
        options[name.removeprefix("--")] = text
    return plain, options


def unknown_option(name: str, verb: str | None, parser: Parser) -> UserError:
    command = f"glassformer {verb}" if verb else "glassformer"
    if not name.startswith("-"):
        return UserError(f"'{name}' is one word too many for {command} ({command} --help)")
    flags = [flag for action in parser._actions for flag in action.option_strings]
    if name in flags:
        return UserError(f"{name} comes after the command: {command} ... {name}")
    return unknown("option", name, flags, f"{command} --help")


def version_text() -> str:
    from importlib.metadata import version

    return f"glassformer {version('glassformer')}"


if __name__ == "__main__":
    sys.exit(main())
