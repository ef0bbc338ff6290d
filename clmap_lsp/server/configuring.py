"""Completion outside of OpenCL C: `// clmap:` comments, keys and values of `clmap.toml`, include paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clmap_lsp.config.document import json_schema as schema
from clmap_lsp.dataclass import record
from clmap_lsp.devices import list_models
from clmap_lsp.index.complete import Candidate, Completion, Sort, matching, prefix_start, word_end
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import Kind
from clmap_lsp.rules.registry import all_rules
from clmap_lsp.server.embedding import INCLUDED_SUFFIXES

_COMMENT = re.compile(r"(?://|/\*)[ \t]*clmap:([^\r\n]*)\Z")
_TABLE = re.compile(r"^[ \t]*\[([^\]\n]+)\]", re.MULTILINE)
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]*)\Z')
_REST_OF_PATH = re.compile(r"""[^">/\s]*""")
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
    end = word_end(text, offset)
    said = match[1]
    if re.search(r"=\s*\w*\Z", said):
        contents = tuple(Candidate(a, Sort.KEY, "contents", b) for a, b in _CONTENTS)
        return Completion(start, offset, contents, word_end=end)
    if re.match(r"\s*ignore\b", said):
        return Completion(start, offset, tuple(_rules()), word_end=end)
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
    return Completion(start, offset, tuple(keys), word_end=end)


def _rules() -> Iterable[Candidate]:
    for rule in all_rules():
        yield Candidate(rule.meta.code, Sort.KEY, rule.meta.name)
        yield Candidate(rule.meta.name, Sort.KEY, rule.meta.code)


@record(frozen=True, slots=True)
class ConfigurationPlace:
    """A place in `clmap.toml`: its table, what stands before it in its line, and where its word starts."""

    table: tuple[str, ...]
    line: str
    start: int
    offset: int
    end: int
    """Where that word ends."""

    @classmethod
    def of(cls, text: str, offset: int) -> ConfigurationPlace:
        """Return the place at an offset."""
        start = end = offset
        while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_-"):
            start -= 1
        while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
            end += 1
        line = text[text.rfind("\n", 0, start) + 1 : start]
        tables = _TABLE.findall(text[: start - len(line)])
        return cls(_parts(tables[-1]) if tables else (), line, start, offset, end)

    @property
    def is_comment(self) -> bool:
        """Behind a `#` that stands in no string."""
        return any(self.line.count('"', 0, it.start()) % 2 == 0 for it in re.finditer("#", self.line))

    @property
    def is_of_launches(self) -> bool:
        """What may stand here follows from the workspace's kernels."""
        return self.line.strip().startswith("[launch.") or self.table[:1] == ("launch",)

    @property
    def argument(self) -> str | None:
        """What stands before the place in the arguments of a launch; `None` where none are given."""
        if self.table[:1] != ("launch",):
            return None
        if len(self.table) == 3 and self.table[2] == "args":
            return self.line
        match = _ARGUMENTS.match(self.line)
        return None if match is None else match[1]


_ARGUMENTS = re.compile(r"[ \t]*args[ \t]*=[ \t]*\{(?:[^{}]*,)?([^,{}]*)\Z")


def _parts(table: str) -> tuple[str, ...]:
    return tuple(it.strip().strip('"') for it in table.split("."))


def configuration_keys(place: ConfigurationPlace, kernels: Mapping[str, Sequence[str]]) -> Completion:
    """Return the keys or values that `clmap.toml` may have at a place.

    Args:
        kernels: the parameters of the workspace's kernels, where `is_of_launches` asks for them.
    """
    found = tuple(_of_configuration(place, kernels))
    return Completion(place.start, place.offset, found, word_end=place.end)


def _of_configuration(place: ConfigurationPlace, kernels: Mapping[str, Sequence[str]]) -> Iterable[Candidate]:
    line = place.line
    if place.is_comment:
        return ()
    if line.strip().startswith("["):
        if line.strip().startswith("[launch."):
            return (Candidate(it, Sort.KERNEL, "kernel") for it in kernels)
        names = [it for it, found in schema()["properties"].items() if found.get("type") == "object"]
        return (Candidate(it, Sort.KEY, "table") for it in names)
    if (argument := place.argument) is not None:
        return _of_arguments(argument, kernels.get(place.table[1], ()) if len(place.table) > 1 else ())
    properties = _properties(place.table)
    key, equals, _ = line.partition("=")
    quoted = line.count('"') % 2 == 1
    if equals:
        values = _values(key.strip(), properties.get(key.strip(), {}))
        return (Candidate(it, Sort.KEY, snippet=it if quoted else f'"{it}"') for it in values)
    return (
        Candidate(name, Sort.KEY, text=it.get("description", ""), snippet=f"{name} = $1")
        for name, it in properties.items()
    )


def _of_arguments(line: str, names: Sequence[str]) -> Iterable[Candidate]:
    """Return the parameters of a kernel, or what a buffer may hold."""
    if "=" not in line:
        return (Candidate(it, Sort.KEY, "argument", f"{it} = $1") for it in names)
    quoted = line.count('"') % 2 == 1
    return (Candidate(a, Sort.KEY, "contents", b if quoted else f'"{b}"') for a, b in _CONTENTS)


def _properties(table: Sequence[str]) -> Mapping[str, Any]:
    """Return what a table may hold, from the schema."""
    found: Mapping[str, Any] = schema()
    for part in table:
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
            if it == Path(index.path):
                continue  # A file that includes itself has no end.
            name = f"{it.name}/" if it.is_dir() else it.name
            found.setdefault(name, Candidate(name, Sort.FILE, str(it.parent)))
    rest = _REST_OF_PATH.match(text, offset)
    assert rest is not None  # It may be empty.
    fitting = tuple(matching(found.values(), text[start:offset]))
    return Completion(start, offset, fitting, word_end=rest.end())


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
