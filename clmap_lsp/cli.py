"""The command line: find the subcommand, parse, turn errors into one line and an exit code.

Exit codes: 0 nothing found, 1 findings, 2 the tool could not do its job.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from clmap_lsp.commands.parser import build_parser, check_first, check_values
from clmap_lsp.errors import UsageError, internal_error, one_line, system_error
from clmap_lsp.escaping import terminal
from clmap_lsp.source.collector import collect_rarely

_SERVER_OPTIONS = ("--stdio", "--tcp", "--clientProcessId", "--log-level")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    collect_rarely()
    _want_one_thread_of_blas()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_missing_streams()
    _spell_what_has_no_encoding()
    try:
        _check_folder()
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
        return _fail(system_error(error))
    except MemoryError:
        return _fail("out of memory; check fewer files at once or smaller launches, or allow it more")
    except Exception as error:
        if os.environ.get("CLMAP_DEBUG"):
            raise
        return _fail(internal_error(error))


def _want_one_thread_of_blas() -> None:
    """Keep NumPy from starting a thread for each core as it is loaded, with memory for each.

    They are for products of matrices, which nothing here asks for, and cost two empty Pythons on two cores.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _check_folder() -> None:
    """Raise UsageError if the current folder was deleted: paths would fail one by one."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder was deleted; change to one that exists") from None


def _open_missing_streams() -> None:
    """Put the null device in the place of streams that were closed (`>&-`), for which Python has None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if sys.stdin is None:
        # Reading from it fails, as it would without it: an empty text would have no findings.
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r")


def _spell_what_has_no_encoding() -> None:
    """Let names of files that are no text be printed as `\\udcff`, where they would end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


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
    parser, modules = build_parser(arguments)
    check_first(parser, arguments)
    args = parser.parse_args(_without_driver_flags(arguments))
    if args.command is None:
        raise UsageError(f"nothing to do; see {parser.prog} --help")
    check_values(parser, args)
    return int(modules[args.command].run(args))


def _wants_server(arguments: list[str]) -> bool:
    """Tell whether these arguments mean the language server."""
    return not arguments or arguments[0].partition("=")[0] in _SERVER_OPTIONS


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
    sys.stderr.write(f"clmap-lsp: {terminal(one_line(message))}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
