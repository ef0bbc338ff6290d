"""What completion offers in every file: words, built-ins, snippets, pragmas, attributes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache

from clmap_lsp.dataclass import record
from clmap_lsp.index import builtins
from clmap_lsp.index.constants import constants
from clmap_lsp.index.cursor import KEYWORDS
from clmap_lsp.index.model import Symbol
from clmap_lsp.index.types import OF_2_0, TYPE_NAMES, Qualified, spelled
from clmap_lsp.source.predefined import predefined_text
from clmap_lsp.source.types import VECTOR_LANES


class Sort(Enum):
    """What a candidate is."""

    VARIABLE = "variable"
    PARAMETER = "parameter"
    FUNCTION = "function"
    KERNEL = "kernel"
    BUILTIN = "built-in function"
    MEMBER = "member"
    TYPE = "type"
    MACRO = "macro"
    CONSTANT = "constant"
    KEYWORD = "keyword"
    SNIPPET = "snippet"
    FILE = "file"
    KEY = "key"


@record(frozen=True, slots=True)
class Candidate:
    """One thing that can be typed. `snippet` has `$1` where the cursor goes, if it is more than the label."""

    label: str
    sort: Sort
    detail: str = ""
    snippet: str | None = None
    symbol: Symbol | None = None
    type: Qualified | None = None
    text: str = ""
    """What it is about, where it is no symbol and not built in."""


@cache
def predefined(standard: str) -> tuple[Candidate, ...]:
    """Return the macros that compilers define."""
    lines = predefined_text(standard).splitlines()
    pairs = sorted((it.partition(" ") for it in lines), key=lambda it: it[0] not in _OFTEN_ASKED)
    plain = (it for it in pairs if "(" not in it[0])  # No condition asks about a macro that takes arguments.
    return tuple(Candidate(name, Sort.MACRO, value) for name, _, value in plain)


_OFTEN_ASKED = frozenset({"cl_khr_fp64", "cl_khr_fp16", "__OPENCL_VERSION__", "__OPENCL_C_VERSION__"})
"""Predefined macros that conditions ask about most."""


@cache
def _builtin_candidates() -> tuple[Candidate, ...]:
    return tuple(_builtin_candidate(it) for it in builtins.names())


def _builtin_candidate(name: str) -> Candidate:
    found = builtins.find(name)
    assert found is not None
    first = found.overloads[0]
    names = [f"${{{at}:{it.name}}}" for at, it in enumerate(first.parameters, 1)]
    return Candidate(name, Sort.BUILTIN, first.shown, f"{name}({', '.join(names)})")


@cache
def _type_candidates() -> tuple[Candidate, ...]:
    return tuple(Candidate(it, Sort.TYPE, "OpenCL C 2.0" if it in OF_2_0 else "") for it in TYPE_NAMES)


@cache
def _constant_candidates() -> tuple[Candidate, ...]:
    found = constants().values()
    null = Candidate("NULL", Sort.CONSTANT, "the null pointer")
    return (null, *(Candidate(it.name, Sort.CONSTANT, spelled(it.type), type=it.type) for it in found))


@cache
def _conversions(stem: str) -> tuple[Candidate, ...]:
    """Return `convert_T` and its variants, or `as_T`, for every type."""
    scalars = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
    types = [*scalars, *(f"{it}{lanes}" for it in scalars for lanes in VECTOR_LANES)]
    roundings = ("", "_rte", "_rtz", "_rtp", "_rtn")
    endings = [f"{it}{end}" for it in ("", "_sat") for end in roundings] if stem == "convert_" else [""]
    return tuple(
        Candidate(
            f"{stem}{it}{end}",
            Sort.BUILTIN,
            f"{it} {stem}{it}{end}(x)",
            f"{stem}{it}{end}(${{1:x}})",
            type=TYPE_NAMES[it],
        )
        for end in endings
        for it in types
        if "_sat" not in end or not it.startswith(("half", "float", "double"))
    )


@cache
def _keyword_candidates() -> tuple[Candidate, ...]:
    words = (
        it for it in KEYWORDS if not it.startswith("_") or (it.startswith("__") and not it.endswith("__"))
    )
    attribute = Candidate("__attribute__", Sort.KEYWORD, snippet="__attribute__(($1))")
    return (attribute, *(Candidate(it, Sort.KEYWORD) for it in sorted(words) if it != "__attribute"))


@cache
def _words_of(*, is_2_0: bool) -> tuple[Candidate, ...]:
    """Return what a version of OpenCL C has without the large families."""

    def has(name: str) -> bool:
        found = builtins.find(name)
        return found is not None and (found.since <= 1.2 or is_2_0 or bool(found.extension))

    return (
        *SNIPPETS,
        *(it for it in _builtin_candidates() if has(it.label)),
        *(it for it in _type_candidates() if is_2_0 or it.label not in OF_2_0),
        *_constant_candidates(),
        *_keyword_candidates(),
    )


def words(prefix: str, version: int) -> Iterator[Candidate]:
    """Yield what OpenCL C itself has; the large families only where their first letters are typed."""
    yield from _words_of(is_2_0=version >= 200)
    lower = prefix.lower()
    if lower and "convert_".startswith(lower[:8]):
        yield from _conversions("convert_")
    if lower and "as_".startswith(lower[:3]):
        yield from _conversions("as_")


SNIPPETS = (
    Candidate(
        "kernel function",
        Sort.SNIPPET,
        "a kernel with one buffer",
        "__kernel void ${1:name}(__global ${2:float} *${3:data}, const ${4:uint} ${5:n})\n{\n"
        "    const size_t ${6:i} = get_global_id(0);\n    if (${6:i} >= ${5:n})\n        return;\n    $0\n}",
    ),
    Candidate(
        "for loop",
        Sort.SNIPPET,
        "count up",
        "for (int ${1:i} = 0; ${1:i} < ${2:n}; ${1:i}++) {\n    $0\n}",
    ),
    Candidate("barrier local", Sort.SNIPPET, "wait for the work-group", "barrier(CLK_LOCAL_MEM_FENCE);$0"),
    Candidate(
        "local tile",
        Sort.SNIPPET,
        "an array in local memory",
        "__local ${1:float} ${2:tile}[${3:16}][${4:16 + 1}];$0",
    ),
)
DIRECTIVES = (
    *(
        "define",
        "include",
        "ifdef",
        "ifndef",
        "if",
        "elif",
        "else",
        "endif",
        "undef",
        "pragma",
        "error",
        "line",
    ),
)
EXTENSIONS = (
    *("cl_khr_fp64", "cl_khr_fp16", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"),
    *("cl_khr_global_int32_base_atomics", "cl_khr_local_int32_base_atomics", "cl_khr_byte_addressable_store"),
    *("cl_khr_3d_image_writes", "cl_khr_subgroups", "cl_khr_mipmap_image", "cl_khr_gl_msaa_sharing"),
    *(
        "cl_khr_subgroup_shuffle",
        "cl_khr_subgroup_ballot",
        "cl_khr_integer_dot_product",
        "cl_intel_subgroups",
    ),
    *("cl_amd_media_ops", "cl_amd_printf", "all"),
)


def pragmas(line: str) -> list[Candidate]:
    """Return what may follow `#pragma` and the words behind it."""
    words = line.split()
    if words[:2] == ["OPENCL", "EXTENSION"]:
        if ":" in line:
            return [Candidate(it, Sort.KEYWORD) for it in ("enable", "disable")]
        return [Candidate(it, Sort.KEY, "extension", f"{it} : enable") for it in EXTENSIONS]
    if words[:1] == ["OPENCL"]:
        return [
            Candidate("EXTENSION", Sort.KEYWORD),
            Candidate("FP_CONTRACT", Sort.KEYWORD, snippet="FP_CONTRACT ${1|ON,OFF,DEFAULT|}"),
        ]
    return [
        Candidate("OPENCL", Sort.KEYWORD, snippet="OPENCL EXTENSION ${1:cl_khr_fp64} : enable"),
        Candidate("unroll", Sort.KEYWORD),
        Candidate("once", Sort.KEYWORD),
    ]


ATTRIBUTES = (
    Candidate(
        "reqd_work_group_size", Sort.KEY, "attribute", "reqd_work_group_size(${1:16}, ${2:16}, ${3:1})"
    ),
    Candidate(
        "work_group_size_hint", Sort.KEY, "attribute", "work_group_size_hint(${1:16}, ${2:16}, ${3:1})"
    ),
    Candidate("vec_type_hint", Sort.KEY, "attribute", "vec_type_hint(${1:float4})"),
    Candidate("intel_reqd_sub_group_size", Sort.KEY, "attribute", "intel_reqd_sub_group_size(${1:16})"),
    Candidate("aligned", Sort.KEY, "attribute", "aligned(${1:16})"),
    Candidate("packed", Sort.KEY, "attribute"),
    Candidate("always_inline", Sort.KEY, "attribute"),
    Candidate("opencl_unroll_hint", Sort.KEY, "attribute", "opencl_unroll_hint(${1:4})"),
    Candidate("overloadable", Sort.KEY, "attribute"),
    Candidate("endian", Sort.KEY, "attribute", "endian(${1|host,device|})"),
)
