"""The constants that OpenCL C's headers define, with their values.

Source: OpenCL C Specification 3.0, 6.15.2 to 6.15.5 (limits and mathematical constants), 6.15.8 (fences),
6.15.15 (images), and clang's `opencl-c-base.h` for the numbers of enumerated constants.
"""

from __future__ import annotations

import math
from functools import cache

from clmap_lsp.dataclass import record
from clmap_lsp.index.types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, Qualified


@record(frozen=True, slots=True)
class PredefinedConstant:
    """A name with a type, its value where it is one number, and what it says."""

    name: str
    type: Qualified
    value: int | float | None
    description: str


_LIMITS: dict[str, tuple[Qualified, int]] = {
    "CHAR_BIT": (INT, 8),
    "SCHAR_MAX": (INT, 127),
    "SCHAR_MIN": (INT, -128),
    "CHAR_MAX": (INT, 127),
    "CHAR_MIN": (INT, -128),
    "UCHAR_MAX": (INT, 255),
    "SHRT_MAX": (INT, 32767),
    "SHRT_MIN": (INT, -32768),
    "USHRT_MAX": (INT, 65535),
    "INT_MAX": (INT, 2**31 - 1),
    "INT_MIN": (INT, -(2**31)),
    "UINT_MAX": (UINT, 2**32 - 1),
    "LONG_MAX": (LONG, 2**63 - 1),
    "LONG_MIN": (LONG, -(2**63)),
    "ULONG_MAX": (ULONG, 2**64 - 1),
    "FP_ILOGB0": (INT, -(2**31)),
    "FP_ILOGBNAN": (INT, 2**31 - 1),
}
_FENCES = {
    "CLK_LOCAL_MEM_FENCE": (1, "Local memory is seen by the whole work-group."),
    "CLK_GLOBAL_MEM_FENCE": (2, "Global memory is seen by the whole work-group."),
    "CLK_IMAGE_MEM_FENCE": (4, "Images are seen by the whole work-group."),
}
_SAMPLERS = {
    "CLK_ADDRESS_NONE": (0, "Coordinates are never outside."),
    "CLK_ADDRESS_CLAMP_TO_EDGE": (2, "Outside, the pixel at the edge."),
    "CLK_ADDRESS_CLAMP": (4, "Outside, the border colour."),
    "CLK_ADDRESS_REPEAT": (6, "Outside, the image again."),
    "CLK_ADDRESS_MIRRORED_REPEAT": (8, "Outside, the image mirrored."),
    "CLK_NORMALIZED_COORDS_FALSE": (0, "Coordinates are pixels."),
    "CLK_NORMALIZED_COORDS_TRUE": (1, "Coordinates run from 0 to 1."),
    "CLK_FILTER_NEAREST": (0x10, "The nearest pixel."),
    "CLK_FILTER_LINEAR": (0x20, "A blend of the pixels around."),
}
_CHANNELS = (
    *("SNORM_INT8", "SNORM_INT16", "UNORM_INT8", "UNORM_INT16", "UNORM_SHORT_565", "UNORM_SHORT_555"),
    *("UNORM_INT_101010", "SIGNED_INT8", "SIGNED_INT16", "SIGNED_INT32", "UNSIGNED_INT8", "UNSIGNED_INT16"),
    *("UNSIGNED_INT32", "HALF_FLOAT", "FLOAT", "UNORM_INT24"),
)
_ORDERS = (
    *("R", "A", "RG", "RA", "RGB", "RGBA", "BGRA", "ARGB", "INTENSITY", "LUMINANCE", "Rx", "RGx", "RGBx"),
    *("DEPTH", "DEPTH_STENCIL", "sRGB", "sRGBx", "sRGBA", "sBGRA", "ABGR"),
)
_MEMORY = {
    "memory_order_relaxed": (0, "No order with other memory."),
    "memory_order_acquire": (2, "What follows stays behind it."),
    "memory_order_release": (3, "What precedes stays before it."),
    "memory_order_acq_rel": (4, "Acquire and release."),
    "memory_order_seq_cst": (5, "One order for all work-items."),
    "memory_scope_work_item": (0, "Seen by this work-item (images)."),
    "memory_scope_work_group": (1, "Seen by the work-group."),
    "memory_scope_device": (2, "Seen by the device."),
    "memory_scope_all_svm_devices": (3, "Seen by host and all devices."),
    "memory_scope_all_devices": (3, "Seen by host and all devices."),
    "memory_scope_sub_group": (4, "Seen by the sub-group."),
}
_MATHS = {
    "E": math.e,
    "LOG2E": math.log2(math.e),
    "LOG10E": math.log10(math.e),
    "LN2": math.log(2),
    "LN10": math.log(10),
    "PI": math.pi,
    "PI_2": math.pi / 2,
    "PI_4": math.pi / 4,
    "1_PI": 1 / math.pi,
    "2_PI": 2 / math.pi,
    "2_SQRTPI": 2 / math.sqrt(math.pi),
    "SQRT2": math.sqrt(2),
    "SQRT1_2": math.sqrt(0.5),
}
_FORMATS: dict[str, tuple[Qualified, tuple[int | float, ...]]] = {
    "FLT": (FLOAT, (6, 24, 38, 128, -37, -125, 2, (2 - 2.0**-23) * 2.0**127, 2.0**-126, 2.0**-23)),
    "DBL": (DOUBLE, (15, 53, 308, 1024, -307, -1021, 2, 1.7976931348623157e308, 2.0**-1022, 2.0**-52)),
    "HALF": (HALF, (3, 11, 4, 16, -4, -13, 2, 65504.0, 2.0**-14, 2.0**-10)),
}
_FORMAT_NAMES = (
    *("DIG", "MANT_DIG", "MAX_10_EXP", "MAX_EXP", "MIN_10_EXP", "MIN_EXP", "RADIX"),
    *("MAX", "MIN", "EPSILON"),
)
_QUEUES = {
    "CL_COMPLETE": 0,
    "CL_RUNNING": 1,
    "CL_SUBMITTED": 2,
    "CL_QUEUED": 3,
    "CLK_SUCCESS": 0,
    "CLK_ENQUEUE_FAILURE": -101,
    "CLK_INVALID_QUEUE": -102,
    "CLK_INVALID_NDRANGE": -160,
    "CLK_INVALID_EVENT_WAIT_LIST": -57,
    "CLK_DEVICE_QUEUE_FULL": -161,
    "CLK_INVALID_ARG_SIZE": -51,
    "CLK_EVENT_ALLOCATION_FAILURE": -100,
    "CLK_OUT_OF_RESOURCES": -5,
    "CLK_NULL_QUEUE": 0,
    "CLK_ENQUEUE_FLAGS_NO_WAIT": 0,
    "CLK_ENQUEUE_FLAGS_WAIT_KERNEL": 1,
    "CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP": 2,
    "CLK_PROFILING_COMMAND_EXEC_TIME": 1,
}


@cache
def constants() -> dict[str, PredefinedConstant]:
    """Return the constants by name."""
    found: dict[str, PredefinedConstant] = {}

    def put(name: str, type_: Qualified, value: int | float | None, description: str = "") -> None:
        found[name] = PredefinedConstant(name, type_, value, description)

    for name, (type_, limit) in _LIMITS.items():
        put(name, type_, limit)
    for table in (_FENCES, _SAMPLERS, _MEMORY):
        for name, (number, said) in table.items():
            put(name, UINT if table is _FENCES else INT, number, said)
    for start, names in ((0x10D0, _CHANNELS), (0x10B0, _ORDERS)):
        for at, name in enumerate(names):
            put(f"CLK_{name}", INT, start + at)
    for name, value in _MATHS.items():
        for suffix, type_ in (("", DOUBLE), ("_F", FLOAT), ("_H", HALF)):
            put(f"M_{name}{suffix}", type_, value)
    for prefix, (type_, values) in _FORMATS.items():
        for name, fact in zip(_FORMAT_NAMES, values, strict=True):
            put(f"{prefix}_{name}", type_ if name in ("MAX", "MIN", "EPSILON") else INT, fact)
    for name, number in _QUEUES.items():
        put(name, INT, number)
    put("MAXFLOAT", FLOAT, _FORMATS["FLT"][1][7])
    put("HUGE_VALF", FLOAT, math.inf, "Infinity.")
    put("HUGE_VAL", DOUBLE, math.inf, "Infinity in double precision.")
    put("INFINITY", FLOAT, math.inf)
    put("NAN", FLOAT, math.nan)
    put("true", BOOL_INT, 1)
    put("false", BOOL_INT, 0)
    return found


BOOL_INT = INT
"""`true` and `false` are ints in OpenCL C."""
