"""The command line: find the subcommand, parse, turn errors into one line and an exit code.

Exit codes: 0 nothing found, 1 findings, 2 the tool could not do its job.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from clmap_lsp.commands.parser import Parser, command_names
from clmap_lsp.errors import UsageError, internal_error, one_line
from clmap_lsp.source.collector import collect_rarely
from clmap_lsp.version import __version__

_SERVER_OPTIONS = ("--stdio", "--tcp", "--clientProcessId", "--log-level")

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    collect_rarely()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except UsageError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # The reader has gone (`| head`): there is nobody to tell. Keep the interpreter from flushing into it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return _fail("interrupted")
    except OSError as error:
        return _fail(f"{error.filename or 'input or output'}: {(error.strerror or str(error)).lower()}")
    except Exception as error:
        if os.environ.get("CLMAP_DEBUG"):
            raise
        return _fail(internal_error(error))


def _run(arguments: list[str]) -> int:
    if _wants_server(arguments):
        from clmap_lsp.commands import serve

        return serve.start(arguments)
    if "--check" in arguments:
        # Only the first: `--check` is the old-fashioned spelling of the subcommand.
        arguments.remove("--check")
        arguments.insert(0, "check")
        if "--selftest" in arguments:
            arguments.remove("--selftest")
            arguments[0] = "selftest"
    parser, modules = _parser(arguments)
    args = parser.parse_args(_without_driver_flags(arguments))
    if args.command is None:
        raise UsageError(f"nothing to do; see {parser.prog} --help")
    return int(modules[args.command].run(args))


def _wants_server(arguments: list[str]) -> bool:
    """Tell whether these arguments mean the language server."""
    return not arguments or arguments[0].partition("=")[0] in _SERVER_OPTIONS


def _parser(arguments: list[str]) -> tuple[Parser, dict[str, ModuleType]]:
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
    names = command_names()
    wanted = [it for it in arguments[:1] if it in names] or names
    modules = {}
    for name in wanted:
        module = importlib.import_module(f"clmap_lsp.commands.{name}")
        if hasattr(module, "register"):
            module.register(subparsers)
            modules[name] = module
    return parser, modules


def _without_driver_flags(arguments: list[str]) -> list[str]:
    """Drop what `clBuildProgram` takes and analysis does not need, keeping the macro that one defines."""
    dropped = {
        *("-cl-single-precision-constant", "-cl-denorms-are-zero", "-cl-fp32-correctly-rounded-divide-sqrt"),
        *("-cl-opt-disable", "-cl-strict-aliasing", "-cl-mad-enable", "-cl-no-signed-zeros"),
        *("-cl-unsafe-math-optimizations", "-cl-finite-math-only", "-cl-uniform-work-group-size"),
        *("-cl-no-subgroup-ifp", "-cl-kernel-arg-info", "-w", "-Werror"),
    }
    defined = {"-cl-fast-relaxed-math": "-D__FAST_RELAXED_MATH__=1"}
    return [defined.get(it, it) for it in arguments if it not in dropped]


def _fail(message: str) -> int:
    sys.stderr.write(f"clmap-lsp: {one_line(message)}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
