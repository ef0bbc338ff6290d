"""Whether a rewritten text compiles: what `index/` says of it, which is held against clang.

The reader that analysis uses takes more than compilers do: two variables of one name, or a scalar of greater
rank than a vector's elements. A rewrite must bring no error that the file did not have.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from clmap_lsp.index.reading import read_index
from clmap_lsp.source.ir import Severity

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.index.index import Index
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program


def new_error(subject: Subject, text: str) -> str | None:
    """Return the first error that a compiler finds in a text and not in the subject's; `None` if none."""
    before = _index(subject.program, subject.options)
    after = _read(subject.program, subject.options, text, before)
    known = Counter(_errors(before))
    for message in _errors(after):
        if not known[message]:
            return message
        known[message] -= 1
    return None


@lru_cache(maxsize=4)
def _index(program: Program, options: BuildOptions) -> Index:
    return _read(program, options, program.main_file.text, None)


def _read(program: Program, options: BuildOptions, text: str, previous: Index | None) -> Index:
    files = program.files
    return read_index(
        text,
        program.path,
        options,
        read_file=lambda path: files[path].text if path in files else None,
        previous=previous,
    )


def _errors(index: Index) -> list[str]:
    return [it.issue.message for it in index.issues if it.issue.severity is Severity.ERROR]
