"""`clmap-lsp completion SHELL`: a script that completes subcommands, options and their values."""

from __future__ import annotations

import argparse
from typing import Any

from clmap_lsp.errors import UsageError

_EXAMPLES = """\
examples:
  clmap-lsp completion bash > ~/.local/share/bash-completion/completions/clmap-lsp
  clmap-lsp completion zsh > "${fpath[1]}/_clmap-lsp"
  clmap-lsp completion fish > ~/.config/fish/completions/clmap-lsp.fish
"""
_FILES = ("PATH", "FILE", "FILE.sim", "FILE.html", "OLD.json", "NEW.json")
_FOLDERS = ("DIR",)


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "completion",
        help="print a completion script for a shell",
        description="Print a script that completes subcommands, options and their values in a shell.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh", "powershell"))


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from clmap_lsp.commands.parser import build_parser, subcommands

    try:
        import shtab
    except ModuleNotFoundError:
        raise UsageError("completion needs shtab: pip install 'clmap-lsp[completion]'") from None
    if args.shell not in shtab.SUPPORTED_SHELLS:
        raise UsageError(f"this shtab does not know {args.shell}; pip install -U 'clmap-lsp[completion]'")
    parser = build_parser()[0]
    for command in subcommands(parser).values():
        for action in command._actions:
            _say_words(action)
            if args.shell != "bash":
                _say_files(action, shtab.FILE, shtab.DIRECTORY)
    script = shtab.complete(parser, args.shell)
    if args.shell == "bash":
        # Where we know no word, its own completion of files: shtab's takes names with blanks apart.
        script = script.replace("complete -o bashdefault -F", "complete -o bashdefault -o default -F")
    print(script)
    return 0


def _say_words(action: argparse.Action) -> None:
    """Let an argument take the words that we know of its kind, so that they are offered."""
    from clmap_lsp.devices import list_models
    from clmap_lsp.rules.registry import all_rules

    if action.metavar == "MODEL":
        action.choices = [it.id for it in list_models()]
    elif action.metavar in ("CODE", "RULES"):
        action.choices = [it.meta.code for it in all_rules()]


def _say_files(action: argparse.Action, files: object, folders: object) -> None:
    """Tell shtab which arguments are names of files."""
    if action.metavar in _FOLDERS:
        action.complete = folders  # type: ignore[attr-defined]
    elif action.metavar in _FILES:
        action.complete = files  # type: ignore[attr-defined]
