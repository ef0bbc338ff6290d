"""Macros that OpenCL C compilers predefine, and the pseudo-file that build options are typed in.

Source: OpenCL C Specification 3.0, 6.12.10 (preprocessor directives and macros); OpenCL C Specification 1.2
and 2.0, 6.10. Extension macros: OpenCL Extension Specification, 1.1, and those that clang's OpenCL headers
define for every target.
"""

from __future__ import annotations

from functools import lru_cache

from clmap_lsp.source.macros import Macro, define
from clmap_lsp.source.options import BuildOptions, names_cpp
from clmap_lsp.source.pieces import lex_fragment
from clmap_lsp.source.span import SourceFile

OPTIONS_PATH = "<build options>"
"""The path of the text that `-D` options are read from: one `NAME VALUE` line an option."""
PREDEFINED_PATH = "<predefined>"

_VERSIONS = {
    "CL1.0": 100,
    "CL1.1": 110,
    "CL1.2": 120,
    "CL2.0": 200,
    "CL3.0": 300,
    "CLC++": 200,
    "CLC++1.0": 200,
    "CLC++2021": 300,
}
_EXTENSIONS = (
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_3d_image_writes",
    "cl_khr_subgroups",
    "__opencl_c_int64",
)
_FEATURES_3_0 = (
    "__opencl_c_images",
    "__opencl_c_3d_image_writes",
    "__opencl_c_read_write_images",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_atomic_scope_all_devices",
)


def version_of(standard: str) -> int:
    """Return 100 times the version that `-cl-std` names; an unknown one counts as 1.2."""
    return _VERSIONS.get(standard, 120)


@lru_cache(maxsize=16)
def predefined_text(standard: str) -> str:
    """Return the predefined macros of a standard as `NAME VALUE` lines."""
    version = version_of(standard)
    is_cpp = names_cpp(standard)
    lines = [
        f"__OPENCL_VERSION__ {max(version, 120)}",
        f"__OPENCL_C_VERSION__ {version}",
        "CL_VERSION_1_0 100",
        "CL_VERSION_1_1 110",
        "CL_VERSION_1_2 120",
        "CL_VERSION_2_0 200",
        "CL_VERSION_2_1 210",
        "CL_VERSION_2_2 220",
        "CL_VERSION_3_0 300",
        "__ENDIAN_LITTLE__ 1",
        "__IMAGE_SUPPORT__ 1",
        "__kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1)))"
        " __attribute__((vec_type_hint(typen)))",
        "__STDC__ 1",
        "__STDC_VERSION__ 199901L",
        "__CHAR_BIT__ 8",
        "__OPTIMIZE__ 1",
        *(f"{name} 1" for name in _EXTENSIONS),
    ]
    if version >= 300:
        lines += [f"{name} 1" for name in _FEATURES_3_0]
    if is_cpp:
        lines += [f"__OPENCL_CPP_VERSION__ {202100 if version == 300 else 100}", "__cplusplus 201703L"]
    return "".join(f"{line}\n" for line in lines)


def option_text(options: BuildOptions) -> str:
    """Return the `-D` options, and the device's macros, as `NAME VALUE` lines."""
    return "".join(
        f"{name} {' '.join(value.split())}\n" for name, value in (*options.predefined, *options.defines)
    )


def initial_macros(options: BuildOptions) -> tuple[dict[str, Macro], tuple[SourceFile, ...], list[str]]:
    """Return the macros before the first line, the pseudo-files they stand in, and what is wrong with them.

    The macros are fresh objects: expansion keeps state in them.
    """
    macros: dict[str, Macro] = {}
    problems: list[str] = []
    files: list[SourceFile] = []
    texts = ((PREDEFINED_PATH, predefined_text(options.language)), (OPTIONS_PATH, option_text(options)))
    for path, text in texts:
        if text:
            files.append(SourceFile.of(path, text))
        for macro in _definitions(path, text):
            if isinstance(macro, str):
                problems.append(macro)
            else:
                fresh = macros[macro.name] = macro.fresh()
                # `-D T=T` only says that T is defined: its uses keep their places.
                fresh.is_disabled = [it.text for it in macro.body] == [macro.name]
    for name in options.undefines:
        macros.pop(name, None)
    return macros, tuple(files), problems


@lru_cache(maxsize=64)
def _definitions(path: str, text: str) -> list[Macro | str]:
    found: list[Macro | str] = []
    at = 0
    for line in text.splitlines(keepends=True):
        tokens = lex_fragment(path, line)
        found.append(define([it._replace(start=it.start + at, end=it.end + at) for it in tokens]))
        at += len(line)
    return found
