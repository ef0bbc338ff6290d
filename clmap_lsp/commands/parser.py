"""The argument parser of every subcommand: its errors are one line, and say what was perhaps meant."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from clmap_lsp.errors import UsageError, one_line
from clmap_lsp.suggestions import did_you_mean, nearest
from clmap_lsp.version import __version__

_DESCRIPTION = """\
How the work-items of OpenCL C kernels walk memory, what it costs, and the fix.

With no arguments, or --stdio: the language server on standard input and output.
"""
_EXAMPLES = """\
examples:
  clmap-lsp --check kernels/                     findings of every .cl file below a folder
  clmap-lsp analyze mm.cl --kernel mm --global 256,256 --local 16,16 --arg N=256 --format json
  clmap-lsp explain CM101                        what a rule is about

exit codes: 0 nothing found, 1 findings, 2 the tool could not do its job
"""

_NOT_A_NUMBER = re.compile(r"argument (?P<option>\S+): invalid (?P<kind>int|float) value: (?P<value>.*)")
_NO_VALUE = re.compile(r"argument (?P<option>\S+): expected one argument")
_CHOICE = re.compile(r"invalid choice: '(?P<word>[^']*)' \(choose from (?P<known>.*)\)")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing usage and leaving."""
        text = _with_suggestion(self, message)
        raise UsageError(text if text.endswith("?") else f"{text}; see {_help_of(self)}")


def check_first(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Raise UsageError if an option stands before the command that nothing takes there.

    argparse would take it for an option of a command that it then does not know.
    """
    word = arguments[0].partition("=")[0] if arguments else ""
    if word.startswith("-") and word not in _options(parser):
        own = nearest(word, _options(parser))
        parser.error(
            f"unknown option {word}" + (f"; did you mean {own}?" if own else _option_for(word, parser))
        )


def check_values(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Raise UsageError if an option or path is empty: in scripts it is a variable that nobody set.

    Taken as if it were not there, `--kernel "$KERNEL"` would find nothing and let a build pass.
    """
    for action in subcommands(parser)[args.command]._actions:
        if action.nargs == argparse.REMAINDER or action.const == "":
            continue  # What another program is given, or an option that may stand without a value.
        value = getattr(args, action.dest, None)
        if value == "" or (isinstance(value, list) and "" in value):
            name = action.option_strings[0] if action.option_strings else action.metavar or action.dest
            raise UsageError(f"{name} is empty; give it a value or leave it out")


def build_parser(arguments: Sequence[str] = ()) -> tuple[Parser, dict[str, ModuleType]]:
    """Return the parser with the subcommand that is asked for, or with all of them for help and errors."""
    parser = Parser(
        prog="clmap-lsp",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"clmap-lsp {__version__}")
    parser.add_argument("--stdio", action="store_true", help="run the language server")
    parser.add_argument("--check", action="store_true", help="the same as the subcommand check")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    names = [] if arguments[:1] == ["--version"] else command_names()
    wanted = [it for it in arguments[:1] if it in names] or names
    modules = {}
    for name in wanted:
        module = importlib.import_module(f"clmap_lsp.commands.{name}")
        if hasattr(module, "register"):
            module.register(subparsers)
            modules[name] = module
    return parser, modules


def command_names() -> list[str]:
    """Return the names of the modules of this folder; not all of them are subcommands."""
    return sorted(it.name for it in pkgutil.iter_modules([str(Path(__file__).parent)]))


def _option_for(word: str, parser: argparse.ArgumentParser) -> str:
    """Return where an option may be used that is not known where it stands, or which one is perhaps meant."""
    own = _options(parser)
    here = {it for command in subcommands(parser).values() for it in _options(command)}
    by_command = {name: _options(it) for name, it in subcommands(build_parser()[0]).items()}
    if word in own:
        return f" behind a command; it is used alone: clmap-lsp {word}"
    having = [name for name, options in by_command.items() if word in options]
    if having:
        listed = ", ".join(having[:4]) + (" and others" if len(having) > 4 else "")
        return f" here; {listed} {'has' if len(having) == 1 else 'have'} it"
    near = nearest(word, sorted(here))
    return f"; did you mean {near}?" if near else ""


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]


def _with_suggestion(parser: argparse.ArgumentParser, message: str) -> str:
    """Say what an unknown option or subcommand was perhaps meant to be."""
    text = one_line(message)
    if text.startswith("unrecognized arguments: "):
        word = text.split(": ", 1)[1].split()[0]
        if not word.startswith("-"):
            return f"unexpected argument {word}"
        return f"unknown option {word}{_option_for(word.partition('=')[0], parser)}"
    if "invalid choice: " in text and "COMMAND" in text:
        word = text.split("invalid choice: ", 1)[1].split(" (")[0].strip("'")
        return f'unknown command "{word}"{_command_for(word, subcommands(parser))}'
    if number := _NOT_A_NUMBER.fullmatch(text):
        kind = "a whole number" if number["kind"] == "int" else "a number"
        return f"{number['option']} {number['value'].strip(chr(39))}: give {kind}"
    if missing := _NO_VALUE.fullmatch(text):
        return f"{missing['option']} needs a value"
    choice = _CHOICE.search(text)
    if choice is not None:
        return text + did_you_mean(choice["word"], re.findall(r"[\w-]+", choice["known"]))
    return text


def _help_of(parser: argparse.ArgumentParser) -> str:
    """Return the command that prints the help: that of the subcommand where it is known."""
    known = list(subcommands(parser).values())
    return f"{(known[0] if len(known) == 1 else parser).prog} --help"


def _command_for(word: str, known: Iterable[str]) -> str:
    """Say which command was perhaps meant; a file or folder without one is to be checked."""
    if Path(word).exists():
        return f"; did you mean clmap-lsp check {shlex.quote(word)}?"
    return did_you_mean(word, known)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the subcommands that a parser has, by name."""
    return {
        name: subcommand
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, subcommand in action.choices.items()
    }
