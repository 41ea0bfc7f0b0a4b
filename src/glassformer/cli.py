"""The command line: `glassformer VERB ...`. Verbs load what they need, so that help comes at once.

Options with a dot set one leaf of the configuration: `--train.steps 5000`, `--task.p 0.4`.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any, NoReturn

from glassformer.cli_options import Parser, make_parser
from glassformer.edge import GOOD, INTERRUPTED, STOPPED_RUN, print_output, run_guarded
from glassformer.errors import UserError, unknown


def program() -> NoReturn:
    """What a shell starts: run one command, then end the process with its status."""
    in_background = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # a shell's `&`: Ctrl-C is for others
    stop = end_at_once if resumes(sys.argv[1:]) else interrupt
    signal.signal(signal.SIGTERM, stop)
    if not in_background:
        signal.signal(signal.SIGINT, stop)
    if isinstance(sys.stdout, TextIOWrapper):  # none where the shell has closed it
        sys.stdout.reconfigure(errors="backslashreplace")  # what the locale has no letter for, as on stderr
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is written and said; nothing is left to stop
    sys.exit(status)


def interrupt(*_: object) -> NoReturn:
    """SIGTERM, from `kill` or a scheduler, ends a command as Ctrl-C does."""
    raise KeyboardInterrupt


def end_at_once(*_: object) -> NoReturn:
    """Ctrl-C in a run: the folder is whole at any moment, so the process may end where it stands.

    An exception would come out anywhere: in JAX's own callbacks, which swallow it, between a lock and its
    release, or in an interpreter that is taken down while a compiled loop still runs, where C++ aborts.
    """
    cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""  # a progress bar hides it
    os.write(sys.stderr.fileno(), f"{cursor}glassformer: {STOPPED_RUN}\n".encode())
    os._exit(INTERRUPTED)


def resumes(arguments: Sequence[str]) -> bool:
    """Whether the command leaves what the same command goes on from.

    >>> resumes(["run", "lucky7"]), resumes(["draw", "run"])
    (True, False)
    """
    return first_word(arguments) in ("run", "train", "spectra", "sweep")


def first_word(arguments: Sequence[str]) -> str | None:
    return next((argument for argument in arguments if not argument.startswith("-")), None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return run_guarded(lambda: dispatch(arguments), arguments, resumes(arguments))


def dispatch(arguments: list[str]) -> int:
    parser, verbs = make_parser()
    plain, options = split_dotted(refuse_signs(arguments))
    word = first_word(plain)
    if word is not None and word not in verbs:
        raise unknown("command", word, verbs, "glassformer --help")
    known, rest = parser.parse_known_args(plain)
    if rest:
        raise unknown_option(rest[0].partition("=")[0], known.verb, verbs.get(known.verb, parser))
    if known.verb is None:
        parser.print_help()
        return GOOD
    if options and known.verb not in ("run", "train", "sweep"):
        raise unknown_option(f"--{next(iter(options))}", known.verb, verbs[known.verb])
    refuse_empty(known, verbs[known.verb])
    from glassformer.commands import verbs as actions
    from glassformer.runs.atomic import plain as plain_data

    answer: tuple[dict[str, Any], str, int] = getattr(actions, f"{known.verb}_verb")(known, options)
    content, words, status = answer
    print_output(json.dumps(plain_data(content)) if known.json else words)
    return status


def refuse_empty(known: argparse.Namespace, parser: Parser) -> None:
    """An empty word, as an unset variable of a shell gives, means nothing anywhere."""
    for action in parser._actions:
        value = getattr(known, action.dest, None)
        if value == "" or (isinstance(value, list) and "" in value):
            name = action.option_strings[0] if action.option_strings else action.metavar
            raise UserError(f"{name} is empty ({parser.prog} --help)")


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


if __name__ == "__main__":
    program()
