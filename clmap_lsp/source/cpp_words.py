"""Where a text in C++ for OpenCL says what OpenCL C cannot.

Only part of the language is read. Where a text goes beyond that, nobody knows what a compiler would refuse.
Source: The C++ for OpenCL 1.0 and 2021 Programming Language Documentation, Khronos Group, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.source.ir import Problem, Severity
from clmap_lsp.source.lexer import Token, is_name
from clmap_lsp.source.normalise import span_of_token
from clmap_lsp.source.vocabulary import NAMED_TYPES, PRIMITIVE_TYPES

_WORDS = frozenset(
    {
        "::", "addrspace_cast", "alignas", "and", "and_eq", "auto", "bitand", "bitor", "class", "compl",
        "concept", "const_cast", "constexpr", "decltype", "delete", "explicit", "friend", "mutable",
        "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "protected",
        "public", "reinterpret_cast", "static_assert", "static_cast", "template", "this", "throw", "try",
        "typename", "using", "virtual", "xor", "xor_eq",
    }
)  # fmt: skip
_TYPES = PRIMITIVE_TYPES | NAMED_TYPES
_RECORDS = frozenset({"struct", "union"})


def beyond_c(tokens: Sequence[Token], texts: Sequence[str]) -> Problem | None:
    """Return the first place of a text that is C++ and no OpenCL C as a problem; `None`: there is none."""
    records: set[str] = set()
    around: list[str] = []  # What the brackets belong to: the word before a `(`, `struct` of a `{`.
    padded = ["", "", *texts, "", ""]
    for at, token in enumerate(tokens):
        earlier, before, text, behind, later = padded[at : at + 5]
        innermost = around[-1] if around else ""
        if text in _WORDS or _is_cpp(earlier, before, text, behind, later, records, innermost):
            message = (
                f"C++ for OpenCL is read in part, and not all that is like `{text}` here: of this file only "
                "what is OpenCL C is judged, and nothing is said of errors"
            )
            return Problem("cpp-words", Severity.INFORMATION, message, span_of_token(token))
        if text in _RECORDS:
            records.add(behind)
        elif text == "(":
            around.append(before)
        elif text == "{":
            around.append("struct" if before in _RECORDS or earlier in _RECORDS else "{")
        elif text in (")", "}") and around:
            around.pop()
    return None


def _is_cpp(
    earlier: str, before: str, text: str, behind: str, later: str, records: set[str], innermost: str
) -> bool:
    """Tell whether a token between two others stands as it can in C++ alone."""
    match text:
        case "&" | "&&":  # A reference.
            return before in _TYPES or before in records
        case "{":  # `int n{1}`, `int{1}`, a function of a structure, `extern "C" {`.
            is_value = before in _TYPES or (is_name(before) and earlier in _TYPES)
            is_function = innermost == "struct" and before in (")", "const")
            return is_value or is_function or (earlier == "extern" and before[:1] == '"')
        case "[":  # A lambda, or an attribute.
            return behind in ("[", "&", "=") or (behind == "]" and later == "(" and not is_name(before))
        case ":":  # `for (int x : values)`; a `?` would come before in an expression alone.
            return innermost == "for" and is_name(before) and (earlier in _TYPES or earlier in records)
        case ";":  # `if (int n = f(); n > 0)`
            return innermost in ("if", "switch")
        case "=":  # A member with a value, or a default argument.
            return innermost == "struct"
    return text[:1].isdigit() and "'" in later + behind + text
