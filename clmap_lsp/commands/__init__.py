"""Subcommands: one module each, found by its name.

A module `clmap_lsp/commands/NAME.py` is the subcommand `NAME` if it has `register(subparsers)`, which adds
its parser, and `run(args) -> int`, which returns the exit code. Heavy imports belong inside functions: only
the module of the subcommand that is asked for is imported.
"""
