"""Completion outside of OpenCL C: `// clmap:` comments, keys and values of `clmap.toml`, include paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from clmap_lsp.config.document import json_schema as schema
from clmap_lsp.devices import list_models
from clmap_lsp.index.complete import Candidate, Completion, Sort, matching, prefix_start
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import Kind
from clmap_lsp.rules.registry import all_rules
from clmap_lsp.server.embedding import INCLUDED_SUFFIXES

_COMMENT = re.compile(r"(?://|/\*)[ \t]*clmap:([^\r\n]*)\Z")
_TABLE = re.compile(r"^[ \t]*\[([^\]\n]+)\]", re.MULTILINE)
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]*)\Z')
_CONTENTS = (
    ("zeros", "zeros(${1:n})"),
    ("iota", "iota(${1:n})"),
    ("random", "random(${1:n})"),
    ("permutation", "permutation(${1:n})"),
    ("formula", "formula(${1:n},${2:i * 2})"),
    ("local", "local(${1:n})"),
)
MAX_FILES = 400


def comment_keys(index: Index, offset: int) -> Completion | None:
    """Return what a `// clmap:` comment may say next; `None` outside of one."""
    text = index.text
    match = _COMMENT.search(text[text.rfind("\n", 0, offset) + 1 : offset])
    if match is None:
        return None
    start = prefix_start(text, offset)
    said = match[1]
    if re.search(r"=\s*\w*\Z", said):
        return Completion(start, offset, tuple(Candidate(a, Sort.KEY, "contents", b) for a, b in _CONTENTS))
    if re.match(r"\s*ignore\b", said):
        return Completion(start, offset, tuple(_rules()))
    keys = [
        Candidate("global", Sort.KEY, "global size", "global=${1:256,256}"),
        Candidate("local", Sort.KEY, "work-group size", "local=${1:16,16}"),
        Candidate("offset", Sort.KEY, "global offset", "offset=${1:0,0}"),
        Candidate("kernel", Sort.KEY, "the kernel that this is about", "kernel=$1"),
        Candidate("ignore", Sort.KEY, "silence rules on this line", "ignore $1"),
    ]
    following = [it for _, it in index.symbols() if it.kind is Kind.KERNEL and it.is_definition]
    for kernel in following:
        span = index.full_span(kernel)
        if span is not None and span.path == index.path and span.end > offset:
            keys += [
                Candidate(it.name, Sort.KEY, str(it.type), f"{it.name}=$1", it)
                for it in kernel.parameters
                if it.name
            ]
            break
    return Completion(start, offset, tuple(keys))


def _rules() -> Iterable[Candidate]:
    for rule in all_rules():
        yield Candidate(rule.meta.code, Sort.KEY, rule.meta.name)
        yield Candidate(rule.meta.name, Sort.KEY, rule.meta.code)


def configuration_keys(text: str, offset: int) -> Completion:
    """Return the keys or values that `clmap.toml` may have at an offset."""
    start = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    line = text[text.rfind("\n", 0, start) + 1 : start]
    tables = _TABLE.findall(text[: start - len(line)])
    properties = _properties(tables[-1] if tables else "")
    if line.strip().startswith("["):
        names = [it for it, found in schema()["properties"].items() if found.get("type") == "object"]
        return Completion(start, offset, tuple(Candidate(it, Sort.KEY, "table") for it in names))
    key, equals, _ = line.partition("=")
    if equals:
        values = _values(key.strip(), properties.get(key.strip(), {}))
        quoted = line.count('"') % 2 == 1
        made = (Candidate(it, Sort.KEY, snippet=it if quoted else f'"{it}"') for it in values)
        return Completion(start, offset, tuple(made))
    made = (
        Candidate(name, Sort.KEY, text=it.get("description", ""), snippet=f"{name} = $1")
        for name, it in properties.items()
    )
    return Completion(start, offset, tuple(made))


def _properties(table: str) -> Mapping[str, Any]:
    """Return what a table may hold, from the schema."""
    found: Mapping[str, Any] = schema()
    for part in (it.strip().strip('"') for it in table.split(".")) if table else ():
        properties = found.get("properties", {})
        inner = properties.get(part, found.get("additionalProperties", {}))
        found = inner if isinstance(inner, Mapping) else {}
    properties = found.get("properties", {})
    return properties if isinstance(properties, Mapping) else {}


def _values(key: str, shape: Mapping[str, Any]) -> list[str]:
    if key == "device":
        return [it.id for it in list_models()]
    if key in ("select", "ignore"):
        return [name for it in all_rules() for name in (it.meta.code, it.meta.name)]
    return [str(it) for it in shape.get("enum", shape.get("items", {}).get("enum", ()))]


def include_candidates(index: Index, offset: int, folders: Iterable[str]) -> Completion | None:
    """Return the files that an `#include` may name; `None` where none is being typed."""
    text = index.text
    match = _INCLUDE.match(text[text.rfind("\n", 0, offset) + 1 : offset])
    if match is None:
        return None
    typed = match[2]
    folder, _, _ = typed.rpartition("/")
    start = offset - len(typed) + (len(folder) + 1 if folder else 0)
    places = [str(Path(index.path).parent)] if match[1] == '"' else []
    found: dict[str, Candidate] = {}
    for place in (*places, *folders):
        for it in _listed(Path(place) / folder):
            name = f"{it.name}/" if it.is_dir() else it.name
            found.setdefault(name, Candidate(name, Sort.FILE, str(it.parent)))
    return Completion(start, offset, tuple(matching(found.values(), text[start:offset])))


def _listed(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())[:MAX_FILES]
    except OSError:
        return []
    return [
        it
        for it in entries
        if not it.name.startswith(".") and (it.is_dir() or it.suffix in INCLUDED_SUFFIXES)
    ]
