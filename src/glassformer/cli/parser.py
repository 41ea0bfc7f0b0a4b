"""The parser of the command line, made from the verbs' own functions."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from glassformer import __version__
from glassformer.cli.options import Option, read_options, read_section, read_summary
from glassformer.cli.verbs import VERBS, Verb
from glassformer.core.errors import UserError

_ABOUT = "glassformer: transformers you can see through."
EXAMPLES = """examples:
  glassformer list                                 tasks, models, figures and runs
  glassformer run plus_last_even                   train 16 seeds, keep the best, measure, prove, draw
  glassformer run lucky7 --seeds 32 --steps 5000 --task.s 0.3
  glassformer run modular-11                       a question: addition modulo 11, with six parameters
  glassformer test runs/plus_last_even             measure a finished run on fresh sequences
  glassformer test nanogpt-58                      an adder: the board's protocol and hard pairs
  glassformer add nanogpt-58 5388742030 746297626  one sum, as the model writes it
  glassformer prove glass-29                       right on all 10^20 pairs, with a certificate
  glassformer check glass-29.certificate.json      verify it with independent code
  glassformer draw runs/plus_last_even             figures of every parameter and every step
  glassformer video runs/plus_last_even            videos of how it learned
  glassformer page runs/plus_last_even             an interactive page, one HTML file
  glassformer count plus_last_even                 its parameter counts
  glassformer spectra model.gguf                   every weight matrix and attention head of any checkpoint
  glassformer export glass-29 --to torch           a stand-alone file, compared with the model
  glassformer sweep glass-39 --seeds 256           how often a recipe succeeds
"""
_KINDS = {int: "an integer", float: "a number"}


class Parser(argparse.ArgumentParser):
    """Errors are sentences like all others."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} ({self.prog} --help)")


def make_parser() -> tuple[Parser, dict[str, Parser]]:
    """The parser of all words, and that of each verb."""
    style: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    parser = Parser("glassformer", description=_ABOUT, epilog=EXAMPLES, **style)
    parser.add_argument("--version", action="version", version=f"glassformer {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND", parser_class=Parser)
    made = dict[str, Parser]()
    for name, verb in VERBS.items():
        about = read_summary(verb.function)
        made[name] = verbs.add_parser(
            name,
            help=about.replace("%", "%%"),
            description=about,
            epilog=format_epilog(verb.function),
            **style,
        )
        _add_options(made[name], verb)
    return parser, made


def format_epilog(function: Callable[..., Any]) -> str:
    """What the help ends with: examples, notes, exit status."""
    examples = [f"  {line}".rstrip() for line in read_section(function, "Examples")]
    parts = [["examples:", *examples], read_section(function, "Notes"), read_section(function, "Exit status")]
    if parts[2]:
        parts[2][0] = f"exit status: {parts[2][0]}"
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _add_options(parser: Parser, verb: Verb) -> None:
    for option in read_options(verb.options_of or verb.function):
        _add_option(parser, option)
    for flag, variant in verb.variants.items():
        parser.add_argument(f"--{flag}", action="store_true", help=read_summary(variant.function))
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    if verb.may_be_quiet:
        parser.add_argument("--quiet", action="store_true", help="print only the result, no progress")


def _add_option(parser: Parser, option: Option) -> None:
    words: dict[str, Any] = {"help": option.help.replace("%", "%%"), "default": option.default}
    if option.has_opposite:
        words["action"] = argparse.BooleanOptionalAction
    elif option.kind is bool:
        words["action"] = "store_true"
    else:
        words |= {"metavar": option.metavar, "type": _make_reader(option.kind)}
        if option.may_repeat:
            words |= {"action": "append", "default": []}
    if not option.flag.startswith("--"):
        words |= {} if option.is_required else {"nargs": "?"}
        parser.add_argument(option.name, **words)
    else:
        parser.add_argument(option.flag, dest=option.name, required=option.is_required, **words)


def _make_reader(kind: type) -> Callable[[str], Any]:
    """What reads a value of a kind; its error says what was expected."""

    def read_value(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {_KINDS[kind]}, but it is '{text[:120]}'") from None

    return read_value
