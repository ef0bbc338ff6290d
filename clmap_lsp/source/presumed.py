"""The macros whose value is a place or a count: `__LINE__`, `__FILE__` and `__COUNTER__`.

Source: ISO/IEC 9899:1999, 6.10.4 and 6.10.8; `__COUNTER__` is GNU's.
"""

from __future__ import annotations

from clmap_lsp.source.lexer import Token
from clmap_lsp.source.macros import Macro
from clmap_lsp.source.span import SourceFile


class PresumedPlaces:
    """What `__LINE__`, `__FILE__` and `__COUNTER__` are. Nothing here leads back to the macros."""

    def __init__(self, files: dict[str, SourceFile]) -> None:
        """Take the files by path; more may be added to them."""
        self.files = files
        self.line_shift: dict[str, int] = {}
        self.names: dict[str, str] = {}
        """By path, as `#line` gives them."""
        self.counted = 0

    @property
    def vary(self) -> bool:
        """True if a place may not be what it was when a macro's use is expanded once more."""
        return self.counted > 0 or bool(self.line_shift)

    def macros(self) -> dict[str, Macro]:
        """Return the macros by name."""
        functions = {"__LINE__": self._line, "__FILE__": self._file, "__COUNTER__": self._count}
        return {name: Macro(name, [], dynamic=function) for name, function in functions.items()}

    def _line(self, token: Token) -> str:
        path, start = (token.use.path, token.use.start) if token.use else (token.path, token.start)
        file = self.files.get(path)
        return str(file.position(start).row + self.line_shift.get(path, 0)) if file else "1"

    def _file(self, token: Token) -> str:
        path = token.use.path if token.use else token.path
        escaped = path.replace("\\", "\\\\").replace('"', '\\"')
        return self.names.get(path) or f'"{escaped}"'

    def _count(self, token: Token) -> str:
        self.counted += 1
        return str(self.counted - 1)
