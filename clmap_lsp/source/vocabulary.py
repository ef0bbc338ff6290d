"""The words of OpenCL C: types, qualifiers, keywords, and names that every program may use.

Source: OpenCL C Specification 3.0, 6.3 (types), 6.1.9 (keywords), 6.15 (built-in functions and constants).
"""

from __future__ import annotations

import re

_SCALARS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
IMAGE_TYPES = (
    "image1d_t",
    "image1d_array_t",
    "image1d_buffer_t",
    "image2d_t",
    "image2d_array_t",
    "image2d_depth_t",
    "image2d_array_depth_t",
    "image2d_msaa_t",
    "image2d_array_msaa_t",
    "image2d_msaa_depth_t",
    "image2d_array_msaa_depth_t",
    "image3d_t",
)
_OPAQUE = (
    "sampler_t",
    "event_t",
    "queue_t",
    "ndrange_t",
    "clk_event_t",
    "reserve_id_t",
    "cl_mem_fence_flags",
)

ESCAPES = {
    "n": 10,
    "t": 9,
    "r": 13,
    "0": 0,
    "a": 7,
    "b": 8,
    "f": 12,
    "v": 11,
    "\\": 92,
    "'": 39,
    '"': 34,
    "?": 63,
}
"""Code of the character that stands for each simple escape sequence."""

PRIMITIVE_TYPES = frozenset(
    (
        *("bool", "char", "int", "float", "double", "void", "signed", "unsigned", "long", "short"),
        *("size_t", "ptrdiff_t", "intptr_t", "uintptr_t"),
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
"""Types that the C grammar knows by name: `(T)x` parses as a cast without help."""

_VECTORS = tuple(f"{it}{lanes}" for it in (*_SCALARS, "bool", "quad") for lanes in (2, 3, 4, 8, 16))
_ATOMICS = tuple(
    f"atomic_{it}"
    for it in (
        *("int", "uint", "long", "ulong", "float", "double", "half", "flag", "bool"),
        *("size_t", "ptrdiff_t", "intptr_t", "uintptr_t"),
    )
)
NAMED_TYPES = frozenset(
    (*_SCALARS, *_VECTORS, *IMAGE_TYPES, *_OPAQUE, *_ATOMICS, "memory_order", "memory_scope")
)
"""Types that OpenCL C knows and the C grammar does not, and those that both do."""

ADDRESS_SPACES = frozenset(
    f"{prefix}{word}" for prefix in ("", "__") for word in ("global", "local", "constant", "private")
) | {"__generic"}
ACCESS_QUALIFIERS = frozenset(
    f"{prefix}{word}" for prefix in ("", "__") for word in ("read_only", "write_only", "read_write")
)
KERNEL_WORDS = frozenset({"kernel", "__kernel"})
_C_QUALIFIERS = frozenset(
    {
        *("const", "volatile", "restrict", "inline", "static", "extern", "register", "constexpr"),
        *("__const", "__const__", "__volatile", "__volatile__", "__restrict", "__restrict__"),
        *("__inline", "__inline__", "__forceinline", "__extension__", "_Noreturn", "__uniform__"),
    }
)
QUALIFIERS = ADDRESS_SPACES | ACCESS_QUALIFIERS | KERNEL_WORDS | _C_QUALIFIERS

STATEMENT_KEYWORDS = frozenset(
    ("if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "return", "goto")
)
ASSEMBLY_WORDS = frozenset({"asm", "__asm__", "__asm"})
OTHER_KEYWORDS = frozenset(
    {
        *("sizeof", "typedef", "struct", "union", "enum", "alignof", "_Alignof", "__alignof__", "offsetof"),
        "_Static_assert",
        *ASSEMBLY_WORDS,
    }
)
KEYWORDS = STATEMENT_KEYWORDS | OTHER_KEYWORDS | QUALIFIERS | PRIMITIVE_TYPES

ATTRIBUTE_WORDS = frozenset({"__attribute__", "__attribute", "__declspec"})

PREDEFINED_NAMES = frozenset(
    {
        *("true", "false", "NULL", "INFINITY", "NAN", "HUGE_VAL", "HUGE_VALF", "MAXFLOAT", "CHAR_BIT"),
        *(f"{it}_{end}" for it in ("CHAR", "SCHAR", "SHRT", "INT", "LONG") for end in ("MAX", "MIN")),
        *(f"{it}_MAX" for it in ("UCHAR", "USHRT", "UINT", "ULONG")),
        *("FP_ILOGB0", "FP_ILOGBNAN", "FP_FAST_FMA", "FP_FAST_FMAF", "FP_FAST_FMA_HALF", "ATOMIC_FLAG_INIT"),
        *("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__builtin_astype", "ATOMIC_VAR_INIT"),
    }
)
_PREDEFINED_NAME = re.compile(
    r"(?:CLK_|M_|FLT_|DBL_|HALF_|memory_order_|memory_scope_|__builtin_|cl_khr_)\w+\Z"
)
"""Families of names that the OpenCL headers define: `CLK_LOCAL_MEM_FENCE`, `M_PI_F`, `FLT_EPSILON`."""


def is_predefined(name: str) -> bool:
    """Tell whether the OpenCL headers define a name that is neither a type, a keyword nor a function."""
    return name in PREDEFINED_NAMES or _PREDEFINED_NAME.match(name) is not None
