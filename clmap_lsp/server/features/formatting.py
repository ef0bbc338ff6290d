"""Formatting of documents, ranges and lines as they are typed, by clang-format where it is installed."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcContentModified, JsonRpcException, JsonRpcInternalError

from clmap_lsp.programs import find_program
from clmap_lsp.server.app import feature
from clmap_lsp.server.embedding import is_opencl
from clmap_lsp.server.line_breaks import with_heads_of
from clmap_lsp.server.white_space import Change, changes

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document

TIME_LIMIT_S = 10.0
logger = logging.getLogger(__name__)


def program() -> str | None:
    """Return the path of clang-format: that of the extra `format` beside Python, else the one on the path."""
    beside = find_program("clang-format", (str(Path(sys.executable).parent),))
    return beside or find_program("clang-format")


def register(server: ClmapServer) -> None:
    """Register the handlers, if there is a clang-format: else another formatter should be asked."""

    def decide(_: lsp.ClientCapabilities) -> None:
        found = program()
        if found is not None:
            _register(server, found)

    server.on_initialize.append(decide)


def _register(server: ClmapServer, clang_format: str) -> None:
    async def edits(
        uri: str, options: lsp.FormattingOptions, lines: tuple[int, int] | None
    ) -> list[lsp.TextEdit]:
        document = server.documents.get(uri)
        if document is None or not is_opencl(document):
            return []
        if lines is not None:
            last = len(document.file.line_starts)
            lines = min(lines[0], last), min(lines[1], last)
            if lines[1] < lines[0]:
                return []  # A range that ends before it starts.
        found = await formatted(clang_format, document, options, lines)
        if server.documents.get(uri) is not document:
            raise JsonRpcContentModified("the text has changed")
        return [lsp.TextEdit(document.range(it.start, it.end), it.text) for it in found]

    @feature(server, lsp.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return await edits(params.text_document.uri, params.options, None)

    @feature(server, lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def range_formatting(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
        chosen = params.range
        # A selection of whole lines ends where the next one starts.
        is_whole = chosen.end.character == 0 and chosen.end.line > chosen.start.line
        lines = (chosen.start.line + 1, chosen.end.line + (0 if is_whole else 1))
        return await edits(params.text_document.uri, params.options, lines)

    options = lsp.DocumentOnTypeFormattingOptions("}", more_trigger_character=[";"])

    @feature(server, lsp.TEXT_DOCUMENT_ON_TYPE_FORMATTING, options)
    async def on_type(params: lsp.DocumentOnTypeFormattingParams) -> list[lsp.TextEdit]:
        line = params.position.line + 1
        try:
            return await edits(params.text_document.uri, params.options, (line, line))
        except JsonRpcException as it:  # Nobody asked, and an editor would show it at each `;`.
            logger.info("not formatted while typing: %s", it)
            return []


_BRACE_OWN_LINE = re.compile(r"\)[ \t]*\r?\n([ \t]*)\{")
_BRACE_SAME_LINE = re.compile(r"^([ \t]*)\S[^\r\n]*\)[ \t]*\{[ \t]*\r?$", re.MULTILINE)
"""The indentation of a brace's line is kept; functions have none."""


def _style(document: Document, options: lsp.FormattingOptions) -> str:
    """Return the style to ask for: that of a `.clang-format`, else what the editor and the text say.

    Without a file that says otherwise lines stay where they are broken, and braces where most of them are.
    """
    folders = Path(document.path).parents
    if any((it / name).is_file() for it in folders for name in (".clang-format", "_clang-format")):
        return "file"
    text = document.text
    width, uses_tabs = _indentation(text, options)
    width, tab = min(width, _WIDEST), min(options.tab_size, _WIDEST)
    return json.dumps(
        {
            "BasedOnStyle": "LLVM",
            "IndentWidth": width,
            "TabWidth": tab,
            "UseTab": "ForIndentation" if uses_tabs else "Never",
            "ColumnLimit": 0,
            "BreakBeforeBraces": _braces(text),
            "SortIncludes": "Never",
            "AllowShortBlocksOnASingleLine": "Always",
            "AllowShortFunctionsOnASingleLine": "All",
            "AllowShortIfStatementsOnASingleLine": "AllIfsAndElse",
            "AllowShortLoopsOnASingleLine": True,
        }
    )


def _braces(text: str) -> str:
    """Return the style of where braces stand: most of functions, and most of what is in them."""
    own, same = _BRACE_OWN_LINE.findall(text), _BRACE_SAME_LINE.findall(text)
    is_own = len(own) > len(same)
    of_functions = own.count("") > same.count("") or (own.count("") == same.count("") and is_own)
    n_inside, n_behind = len(own) - own.count(""), len(same) - same.count("")
    if of_functions and n_behind > n_inside:
        return "Linux"  # Those of functions on lines of their own, the others not.
    return "Allman" if is_own or (of_functions and not n_behind) else "Attach"


def _indentation(text: str, options: lsp.FormattingOptions) -> tuple[int, bool]:
    """Return the width of a level, and whether it is a tab: what the editor says, where it was told anything.

    Tabs of eight are what Neovim sends that nobody told: a text of spaces then keeps its own.
    """
    is_told = options.insert_spaces or options.tab_size != _UNTOLD_TAB
    steps = Counter(len(inner) - len(outer) for outer, inner in _BLOCK.findall(text))
    widths = [width for width, _ in steps.most_common() if 0 < width <= _UNTOLD_TAB]
    if is_told or not widths or _TABBED.search(text):
        return options.tab_size, not options.insert_spaces
    return widths[0], False


_WIDEST = 64
"""Columns of a level that an editor may ask for: a line of a deep block has a hundred times as many."""
_UNTOLD_TAB = 8
_TABBED = re.compile(r"^ *\t+[ \t]*\S", re.MULTILINE)
_BLOCK = re.compile(r"^([ \t]*)(?:\S[^\r\n]*)?\{[ \t]*\r?\n([ \t]+)(?=\S)", re.MULTILINE)
"""A line that opens a block, and the first line of the block."""


_KEEPING = {
    "BasedOnStyle": "InheritParentConfig",
    "SortIncludes": "Never",
    "BreakStringLiterals": False,
    "InsertBraces": False,
    "RemoveBracesLLVM": False,
    "RemoveSemicolon": False,
    "RemoveParentheses": "Leave",
    "QualifierAlignment": "Leave",
    "IntegerLiteralSeparator": {"Binary": 0, "Decimal": 0, "Hex": 0},
}
"""The style of a file without what changes more than white space. Older programs do not know all of it."""


async def formatted(
    clang_format: str, document: Document, options: lsp.FormattingOptions, lines: tuple[int, int] | None
) -> list[Change]:
    """Return how clang-format would have a document.

    Raises: JsonRpcInternalError where it fails, or would change more than white space and comments.
    """
    style, name = _style(document, options), Path(document.path)
    ask = partial(_asked, clang_format, document.text)
    arguments = [f"--style={style}"] + ([] if lines is None else [f"--lines={lines[0]}:{lines[1]}"])
    try:
        text = await ask(name, arguments)
    except JsonRpcInternalError as it:
        if "support" not in it.message:
            raise
        # To it `.cl` is C++; a file of styles may be for C alone.
        name = name.with_suffix(".c")
        text = await ask(name, arguments)
    if style != "file":
        text = with_heads_of(document.text, text)
    found = changes(document.text, text)
    if found is None and style == "file":
        keeping = [f"--style={json.dumps(_KEEPING)}", "--Wno-error=unknown", *arguments[1:]]
        with suppress(JsonRpcInternalError):  # Older programs know neither.
            found = changes(document.text, await ask(name, keeping))
    if found is None:
        raise JsonRpcInternalError("clang-format would change more than white space; nothing was changed")
    return found


async def _asked(clang_format: str, text: str, name: Path, arguments: Sequence[str]) -> str:
    """Return a text as clang-format writes it."""
    process = await asyncio.create_subprocess_exec(
        clang_format,
        f"--assume-filename={name}",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, complaints = await asyncio.wait_for(
            process.communicate(text.encode("utf-8", "surrogatepass")), TIME_LIMIT_S
        )
    except TimeoutError:
        raise JsonRpcInternalError(f"clang-format took more than {TIME_LIMIT_S:g} s") from None
    finally:
        if process.returncode is None:  # It took too long, or nobody waits for it any more.
            process.kill()
    if process.returncode:
        said = complaints.decode("utf-8", "replace").strip().splitlines()
        raise JsonRpcInternalError(f"clang-format: {said[0] if said else f'exit code {process.returncode}'}")
    return output.decode("utf-8", "surrogatepass")
