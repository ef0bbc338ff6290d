"""The argument parser of every subcommand: its errors are one line, and say what was perhaps meant."""

from __future__ import annotations

import argparse
import pkgutil
from pathlib import Path
from typing import NoReturn

from clmap_lsp.errors import UsageError, one_line


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing usage and leaving."""
        text = _with_suggestion(self, message)
        raise UsageError(text if text.endswith("?") else f"{text}; see {self.prog} --help")


def command_names() -> list[str]:
    """Return the names of the modules of this folder; not all of them are subcommands."""
    return sorted(it.name for it in pkgutil.iter_modules([str(Path(__file__).parent)]))


def _with_suggestion(parser: argparse.ArgumentParser, message: str) -> str:
    """Say what an unknown option or subcommand was perhaps meant to be."""
    import difflib

    text = one_line(message)
    if text.startswith("unrecognized arguments: "):
        word = text.split(": ", 1)[1].split()[0]
        known = [option for action in parser._actions for option in action.option_strings]
        near = difflib.get_close_matches(word.partition("=")[0], _options_below(parser, known), 1, 0.7)
        return f"unknown option {word}" + (f"; did you mean {near[0]}?" if near else "")
    if "invalid choice: " in text and "COMMAND" in text:
        word = text.split("invalid choice: ", 1)[1].split(" (")[0].strip("'")
        near = difflib.get_close_matches(word, command_names(), n=1)
        return f'unknown command "{word}"' + (f'; did you mean "{near[0]}"?' if near else "")
    return text


def _options_below(parser: argparse.ArgumentParser, known: list[str]) -> list[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                known += [option for it in sub._actions for option in it.option_strings]
    return known
