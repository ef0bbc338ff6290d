"""Completion and signature help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.uses import kernel_asked_for
from clmap_lsp.index.complete import Candidate, Completion, Sort, complete, document
from clmap_lsp.index.model import Kind
from clmap_lsp.index.signatures import signatures_at
from clmap_lsp.server.app import feature
from clmap_lsp.server.configuring import ConfigurationPlace, comment_keys, configuration_keys
from clmap_lsp.server.embedding import is_beside_kernels
from clmap_lsp.server.indexing import Indexed
from clmap_lsp.server.settings import is_configuration

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document

_KINDS = {
    Sort.VARIABLE: lsp.CompletionItemKind.Variable,
    Sort.PARAMETER: lsp.CompletionItemKind.Variable,
    Sort.FUNCTION: lsp.CompletionItemKind.Function,
    Sort.KERNEL: lsp.CompletionItemKind.Event,
    Sort.BUILTIN: lsp.CompletionItemKind.Function,
    Sort.MEMBER: lsp.CompletionItemKind.Field,
    Sort.TYPE: lsp.CompletionItemKind.Class,
    Sort.MACRO: lsp.CompletionItemKind.Constant,
    Sort.CONSTANT: lsp.CompletionItemKind.EnumMember,
    Sort.KEYWORD: lsp.CompletionItemKind.Keyword,
    Sort.SNIPPET: lsp.CompletionItemKind.Snippet,
    Sort.FILE: lsp.CompletionItemKind.File,
    Sort.KEY: lsp.CompletionItemKind.Property,
}
_OPTIONS = lsp.CompletionOptions(trigger_characters=[".", ">", "#", '"', "<", ":"], resolve_provider=True)


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    client = _Client()

    def decide(capabilities: lsp.ClientCapabilities) -> None:
        nonlocal client
        text = capabilities.text_document
        item = text.completion.completion_item if text and text.completion else None
        client = _Client(bool(item and item.snippet_support), bool(item and item.insert_replace_support))

    server.on_initialize.append(decide)

    @feature(server, lsp.TEXT_DOCUMENT_COMPLETION, _OPTIONS)
    async def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        uri = params.text_document.uri
        opened = server.documents.get(uri)
        if opened is not None and is_configuration(opened.path):
            place = ConfigurationPlace.of(opened.text, opened.offset(params.position))
            kernels = await _kernels(server) if place.is_of_launches else {}
            return _items(opened, configuration_keys(place, kernels), client)

        if opened is not None and is_beside_kernels(opened, opened.offset(params.position)):
            return await _of_host(server, opened, params.position, client)

        def completed(indexed: Indexed) -> lsp.CompletionList:
            offset = indexed.offset(params.position)
            found = comment_keys(indexed.index, offset) or _includes(server, indexed, offset)
            if found is None and not _is_wanted(indexed, offset, params.context):
                return lsp.CompletionList(False, [])
            return _items(indexed.document, found or complete(indexed.index, offset), client)

        return await server.indexes.answer(uri, completed) or lsp.CompletionList(False, [])

    @feature(server, lsp.COMPLETION_ITEM_RESOLVE)
    async def resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        data = item.data if isinstance(item.data, dict) else {}
        indexed = await server.indexes.of(str(data.get("uri", "")))
        if indexed is not None and "sort" in data:
            text = document(indexed.index, item.label, Sort(data["sort"]))
            if text is not None:
                item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return item

    @feature(
        server,
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
        lsp.SignatureHelpOptions(trigger_characters=["(", ","], retrigger_characters=[")"]),
    )
    async def signature_help(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        indexed = await server.indexes.of(params.text_document.uri)
        if indexed is None:
            return None
        found = signatures_at(indexed.index, indexed.offset(params.position))
        if found is None:
            return None
        shown = [
            lsp.SignatureInformation(
                it.text,
                documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, it.description)
                if it.description
                else None,
                parameters=[lsp.ParameterInformation(span) for span in it.parameters],
            )
            for it in found.signatures
        ]
        return lsp.SignatureHelp(shown, found.active_signature, found.active_parameter)


async def _of_host(
    server: ClmapServer, document: Document, position: lsp.Position, client: _Client
) -> lsp.CompletionList:
    """Return the kernels where host code names one; all else there is the host language's server's."""
    offset = document.offset(position)
    place = kernel_asked_for(document.text, offset)
    if place is None:
        return lsp.CompletionList(False, [])
    kernels = await _kernels(server)
    own = await server.indexes.of(document.uri)
    names = [] if own is None else [it.name for _, it in own.index.symbols() if it.kind is Kind.KERNEL]
    found = tuple(Candidate(it, Sort.KERNEL, "kernel") for it in dict.fromkeys((*names, *kernels)))
    start, end = place
    return _items(document, Completion(start, offset, found, word_end=end), client)


async def _kernels(server: ClmapServer) -> dict[str, tuple[str, ...]]:
    """Return the kernels of the workspace with the names of their parameters."""
    return {
        it.name: tuple(parameter.name for parameter in it.parameters if parameter.name)
        for indexed in await server.indexes.workspace()
        for _, it in indexed.index.symbols()
        if it.kind is Kind.KERNEL and it.is_definition
    }


def _is_wanted(indexed: Indexed, offset: int, context: lsp.CompletionContext | None) -> bool:
    """Tell whether the character that asked means completion: `>` only in `->`, `:` only in a comment."""
    text = indexed.index.text
    character = context.trigger_character if context is not None else None
    if character == ">":
        return text[max(0, offset - 2) : offset] == "->"
    if character == ".":
        return not text[max(0, offset - 2) : offset - 1].isdecimal()
    return character not in ('"', "<", ":")


@dataclass(frozen=True, slots=True)
class _Client:
    """What the editor says that it can do with what is offered."""

    takes_snippets: bool = False
    chooses: bool = False
    """It has ways to keep the rest of a word, and to replace it (LSP 3.16)."""


@dataclass(frozen=True, slots=True)
class _Written:
    """Where what is chosen is written in a document: over the word before the place, and over its rest."""

    document: Document
    found: Completion
    rest: str
    insert: lsp.Range
    replace: lsp.Range

    @classmethod
    def of(cls, document: Document, found: Completion) -> _Written:
        """Return where the candidates for a place are written."""
        end = max(found.end, found.word_end or 0)
        rest = document.text[found.end : end]
        insert, replace = document.range(found.start, found.end), document.range(found.start, end)
        return cls(document, found, rest, insert, replace)

    def edit(self, label: str, text: str, client: _Client) -> lsp.TextEdit | lsp.InsertReplaceEdit:
        """Return what writes a candidate.

        Where the editor cannot choose, the rest of a word is replaced if the candidate ends in it: so
        `get_gl|obal_id` becomes `get_global_id`, and what is typed before another word leaves that alone.
        """
        if not self.rest:
            return lsp.TextEdit(self.insert, text)
        if client.chooses:
            return lsp.InsertReplaceEdit(text, self.insert, self.replace)
        is_same = self.found.start < self.found.end and label.endswith(self.rest)
        return lsp.TextEdit(self.replace if is_same else self.insert, text)


def _items(document: Document, found: Completion, client: _Client) -> lsp.CompletionList:
    written = _Written.of(document, found)
    is_called = _CALLED.match(document.text, found.end) is not None
    items = [
        _item(written, it, at, None if is_called or not client.takes_snippets else it.snippet, client)
        for at, it in enumerate(found.candidates)
        if client.takes_snippets or it.sort is not Sort.SNIPPET
    ]
    if found.arrow_for is not None:
        dot = document.range(found.arrow_for, found.arrow_for + 1)
        for item in items:
            item.additional_text_edits = [lsp.TextEdit(dot, "->")]
    return lsp.CompletionList(found.is_cut, items)


_CALLED = re.compile(r"\w*[ \t]*\(")
"""Arguments stand there already: a snippet would bring them a second time."""


def _item(
    written: _Written, it: Candidate, at: int, snippet: str | None, client: _Client
) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        it.label,
        kind=_KINDS[it.sort],
        detail=it.detail or None,
        documentation=it.text or None,
        sort_text=f"{at:04}",
        filter_text=it.label,
        insert_text_format=lsp.InsertTextFormat.Snippet if snippet else lsp.InsertTextFormat.PlainText,
        text_edit=written.edit(it.label, snippet or it.label, client),
        data={"uri": written.document.uri, "sort": it.sort.value},
    )


def _includes(server: ClmapServer, indexed: Indexed, offset: int) -> Completion | None:
    """Return the files that the `#include` being typed may name."""
    from clmap_lsp.server.configuring import include_candidates

    opened = server.documents.get(indexed.document.uri)
    if opened is None:
        return None
    return include_candidates(indexed.index, offset, server.settings_for(opened).build.include_dirs)
