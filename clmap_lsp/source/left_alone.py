"""Whether a kernel can hang on macros that nobody defines, told without reading the file once more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from clmap_lsp.lazy import lazy_pattern

if TYPE_CHECKING:
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program

_DIRECTIVE = lazy_pattern(r"(?:#|%:|\?\?=)(?:/\*(?s:.*?)\*/|\\\r?\n|[^\n])*+")
"""With all that stands on a line behind such a sign, whatever stands before."""
_WORD = lazy_pattern(r"[A-Za-z_]\w*+")


def rests_on_none(program: Program, kernel: str, names: Iterable[str]) -> bool:
    """Tell whether neither a kernel's functions nor what they name speak of undefined names.

    As long as no directive does (`words_of_directives`), the kernel then says the same whatever those are
    defined as. False where it cannot be told.
    """
    cache = program.cache
    built = None if cache is None else cache.kernels.get(kernel)
    if cache is None or built is None:
        return False
    known = [cache.keys.rests_on(it.function.name) for it in built.parts]
    return all(it is not None and it.isdisjoint(names) for it in known)


def words_of_directives(program: Program, options: BuildOptions) -> frozenset[str]:
    """Return the words in all directives, active or not, and in what the build options define."""
    texts = [it for file in program.files.values() for it in _DIRECTIVE.findall(file.text)]
    texts += (text for _, text in options.defines)
    return frozenset(word for it in texts for word in _WORD.findall(it))
