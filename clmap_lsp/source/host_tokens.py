"""Comments, characters and strings of C and C++ as patterns, for what looks through host files.

What is not closed runs to its end, so that the time is linear in any text. All take `re.DOTALL`.
"""

from __future__ import annotations

from typing import Final

SKIPPED: Final = r"//[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\\n]|\\.)*+(?:'|(?=\n)|\\?\Z)"
"""Comments and characters."""
STRING_BODY: Final = r'(?:[^"\\\n]|\\(?:\r\n|.))*+'
STRING_END: Final = r'(?:"|(?=\n)|\\?\Z)'
RAW_STRING: Final = (
    r'(?<!\w)(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\((?P<raw>.*?)(?:\)(?P=delimiter)"|\Z)'
)
