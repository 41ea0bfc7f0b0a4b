"""The command line: `glassformer VERB ...`. Verbs load what they need, so that help is quick.

Options with a dot set one leaf of the configuration: `--train.steps 5000`, `--task.p 0.4`.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from io import TextIOWrapper
from itertools import pairwise
from typing import NoReturn

from glassformer.cli.options import read_options, read_summary
from glassformer.cli.parser import Parser, make_parser
from glassformer.cli.verbs import RESUMABLE, VERBS, Verb
from glassformer.commands.values import refuse_unused
from glassformer.core.answer import Request
from glassformer.core.edge import GOOD, INTERRUPTED, STOPPED_RUN, guard_action, print_output
from glassformer.core.errors import UserError, make_unknown_error


def program() -> NoReturn:
    """What a shell starts: run one command, then end the process with its status."""
    in_background = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # a shell's `&`: Ctrl-C is for others
    stop = _end_at_once if _can_resume(sys.argv[1:]) else _interrupt
    signal.signal(signal.SIGTERM, stop)
    if not in_background:
        signal.signal(signal.SIGINT, stop)
    if isinstance(sys.stdout, TextIOWrapper):  # none where the shell has closed it
        sys.stdout.reconfigure(errors="backslashreplace")  # what the locale has no letter for, as on stderr
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is written and said; nothing is left to stop
    sys.exit(status)


def _interrupt(*_: object) -> NoReturn:
    """SIGTERM, from `kill` or a scheduler, ends a command as Ctrl-C does."""
    raise KeyboardInterrupt


def _end_at_once(*_: object) -> NoReturn:
    """Ctrl-C in a run: the folder is whole at any moment, so the process may end where it stands.

    An exception would come out anywhere: in JAX's own callbacks, which swallow it, between a lock and its
    release, or in an interpreter that is taken down while a compiled loop still runs, where C++ aborts.
    """
    cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # a progress bar hides it
    os.write(sys.stderr.fileno(), f"{cursor}glassformer: {STOPPED_RUN}\n".encode())
    os._exit(INTERRUPTED)


def _can_resume(arguments: Sequence[str]) -> bool:
    """Whether the command leaves what the same command resumes from.

    >>> _can_resume(["run", "lucky7"]), _can_resume(["draw", "run"])
    (True, False)
    """
    return _find_first_word(arguments) in RESUMABLE


def _find_first_word(arguments: Sequence[str]) -> str | None:
    return next((argument for argument in arguments if not argument.startswith("-")), None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return guard_action(lambda: _run_command(arguments), arguments, _can_resume(arguments))


def _run_command(arguments: list[str]) -> int:
    parser, parsers = make_parser()
    words, settings = split_dotted(_refuse_signs(arguments))
    name = _find_first_word(words)
    if name is not None and name not in VERBS:
        raise make_unknown_error("command", name, VERBS, "glassformer --help")
    known, rest = parser.parse_known_args(words)
    if rest:
        raise _make_option_error(rest[0].partition("=")[0], known.verb, parsers.get(known.verb, parser))
    if known.verb is None:
        parser.print_help()
        return GOOD
    verb = VERBS[known.verb]
    if settings and not verb.takes_settings:
        raise _make_option_error(f"--{next(iter(settings))}", known.verb, parsers[known.verb])
    _refuse_empty(known, parsers[known.verb])
    return _call_verb(_choose_variant(verb, known), known, settings)


def _choose_variant(verb: Verb, known: argparse.Namespace) -> Verb:
    """What a flag calls instead of the verb; options that it does not take are refused."""
    for flag, variant in verb.variants.items():
        if getattr(known, flag):
            taken = {option.name for option in read_options(variant.function)}
            others = [option for option in read_options(verb.function) if option.name not in taken]
            given = {one.flag.removeprefix("--"): getattr(known, one.name) for one in others}
            refuse_unused(given, f"one model; with --{flag}: {read_summary(variant.function)}")
            return variant
    return verb


def _call_verb(verb: Verb, known: argparse.Namespace, settings: dict[str, str]) -> int:
    """Call the function, print its answer, return the status."""
    began = time.perf_counter()
    options = {one.name: getattr(known, one.name) for one in read_options(verb.options_of or verb.function)}
    if verb.takes_settings:
        options["options"] = settings
    if verb.may_be_quiet:
        options["show"] = not (known.quiet or known.json)
    result = verb.function(**options)
    answer = verb.answer(result, Request(options, time.perf_counter() - began))
    from glassformer.core.atomic import replace_nonfinite

    print_output(json.dumps(replace_nonfinite(answer.content)) if known.json else answer.words)
    return answer.status


def _refuse_empty(known: argparse.Namespace, parser: Parser) -> None:
    """An empty word, as an unset variable of a shell gives, means nothing anywhere."""
    for action in parser._actions:
        value = getattr(known, action.dest, None)
        if value == "" or (isinstance(value, list) and "" in value):
            name = action.option_strings[0] if action.option_strings else action.metavar
            raise UserError(f"{name} is empty ({parser.prog} --help)")


def _refuse_signs(arguments: list[str]) -> list[str]:
    """The same words, if none after `add` is a signed number, which would be taken for an option."""
    words = arguments[1:] if arguments[:1] == ["add"] else []
    for before, word in pairwise(["", *words]):
        is_number = word.startswith("-") and word.lstrip("-")[:1].isdigit()
        if is_number and not before.startswith("--"):
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


def _make_option_error(name: str, verb: str | None, parser: Parser) -> UserError:
    command = f"glassformer {verb}" if verb else "glassformer"
    if not name.startswith("-"):
        return UserError(f"'{name}' is one word too many for {command} ({command} --help)")
    flags = [flag for action in parser._actions for flag in action.option_strings]
    if name in flags:
        return UserError(f"{name} comes after the command: {command} ... {name}")
    return make_unknown_error("option", name, flags, f"{command} --help")


if __name__ == "__main__":
    program()
