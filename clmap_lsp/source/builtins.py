"""The pure built-in functions of OpenCL C: their names, argument conversions and result types.

`PURE` maps a name to the rule that types it. After lowering, the arguments of a `Builtin` have the types
that the rule settled on: for gentype functions all of them the result's type, scalars widened to vectors.

Functions that return a second result through a pointer are split: the value is a `Builtin` of the name as
written, and what the pointer gets is a `Builtin` of the second name in `SECOND_RESULTS`.

Source: OpenCL C Specification 3.0, sections 6.15.2 to 6.15.6 and 6.15.13 (numbering of the unified page).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.conversions import common_type, convert
from clmap_lsp.source.ir import Builtin, Expression, WorkItemQuery
from clmap_lsp.source.span import Span
from clmap_lsp.source.terms import dot
from clmap_lsp.source.typenames import NAMED_TYPES, signed_of, unsigned_of, with_lanes
from clmap_lsp.source.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    SIZE_T,
    UINT,
    ULONG,
    USHORT,
    OpaqueType,
    PointerType,
    ScalarType,
    Type,
    UnknownType,
    VectorType,
    element_of,
    lanes_of,
)

Rule = Callable[[str, list[Expression], Span], Expression]


def _unified(arguments: list[Expression]) -> Type:
    """Return the one type that all arguments of a gentype function take; equal ones are not promoted."""
    first = arguments[0].type
    for argument in arguments[1:]:
        if argument.type != first:
            first = common_type(first, argument.type)
    return first


def _floating(arguments: list[Expression]) -> Type:
    """Return the float type of a math function; integers are taken as float."""
    target = _unified(arguments)
    if isinstance(element_of(target), UnknownType):
        return target
    if isinstance(target, VectorType) and target.element.is_float:
        return target
    if isinstance(target, ScalarType) and target.is_float:
        return target
    return with_lanes(FLOAT, lanes_of(target))


def _call(name: str, arguments: list[Expression], target: Type, result: Type, span: Span) -> Expression:
    return Builtin(name, tuple(convert(it, target) for it in arguments), result, span)


def _math(name: str, arguments: list[Expression], span: Span) -> Expression:
    target = _floating(arguments)
    return _call(name, arguments, target, target, span)


def _gentype(name: str, arguments: list[Expression], span: Span) -> Expression:
    target = _unified(arguments)
    return _call(name, arguments, target, target, span)


def _unsigned(name: str, arguments: list[Expression], span: Span) -> Expression:
    target = _unified(arguments)
    return _call(name, arguments, target, unsigned_of(target), span)


def _dot(name: str, arguments: list[Expression], span: Span) -> Expression:
    return dot(arguments, span) or _reduction(name, arguments, span)


def _reduction(name: str, arguments: list[Expression], span: Span) -> Expression:
    target = _floating(arguments)
    return _call(name, arguments, target, element_of(target), span)


def _relational(name: str, arguments: list[Expression], span: Span) -> Expression:
    target = _floating(arguments)
    result = signed_of(target) if isinstance(target, VectorType) else INT
    return _call(name, arguments, target, result, span)


def _with_int(name: str, arguments: list[Expression], span: Span) -> Expression:
    """Type `ldexp`, `pown`, `rootn`: the second argument is int or a vector of int."""
    target = _floating(arguments[:1])
    count = with_lanes(INT, lanes_of(target))
    converted = (convert(arguments[0], target), *(convert(it, count) for it in arguments[1:]))
    return Builtin(name, converted, target, span)


def _ilogb(name: str, arguments: list[Expression], span: Span) -> Expression:
    target = _floating(arguments)
    return _call(name, arguments, target, with_lanes(INT, lanes_of(target)), span)


def _nan(name: str, arguments: list[Expression], span: Span) -> Expression:
    floats = {32: FLOAT, 64: DOUBLE, 16: HALF}
    element = element_of(arguments[0].type)
    bits = element.bits if isinstance(element, ScalarType) else 32
    result = with_lanes(floats.get(bits, FLOAT), lanes_of(arguments[0].type))
    return Builtin(name, tuple(arguments), result, span)


def _truth(name: str, arguments: list[Expression], span: Span) -> Expression:
    return Builtin(name, tuple(arguments), INT, span)


def _select(name: str, arguments: list[Expression], span: Span) -> Expression:
    """Type `select(a, b, c)`: `c` stays as it is, an integer of the same width."""
    target = _unified(arguments[:2])
    converted = (convert(arguments[0], target), convert(arguments[1], target), arguments[2])
    return Builtin(name, converted, target, span)


def _upsample(name: str, arguments: list[Expression], span: Span) -> Expression:
    element = element_of(arguments[0].type)
    wider = {8: (SHORT, USHORT), 16: (INT, UINT), 32: (LONG, ULONG)}
    if not isinstance(element, ScalarType) or element.bits not in wider:
        return Builtin(name, tuple(arguments), INT, span)
    signed, unsigned = wider[element.bits]
    result = with_lanes(signed if element.is_signed else unsigned, lanes_of(arguments[0].type))
    return Builtin(name, tuple(arguments), result, span)


def _shuffle(name: str, arguments: list[Expression], span: Span) -> Expression:
    element = element_of(arguments[0].type)
    lanes = lanes_of(arguments[-1].type)
    result = with_lanes(element, lanes) if isinstance(element, ScalarType) else arguments[0].type
    return Builtin(name, tuple(arguments), result, span)


def _int24(name: str, arguments: list[Expression], span: Span) -> Expression:
    """Type `mul24`, `mad24`: uint if an argument is (or all are ulong: ambiguous to compilers), else int."""
    elements = [element_of(it.type) for it in arguments]
    element = UINT if UINT in elements or set(elements) == {ULONG} else INT
    target = with_lanes(element, lanes_of(_unified(arguments)))
    return _call(name, arguments, target, target, span)


def _fixed(result: Type) -> Rule:
    def rule(name: str, arguments: list[Expression], span: Span) -> Expression:
        return Builtin(name, tuple(arguments), result, span)

    return rule


def _image_dim(name: str, arguments: list[Expression], span: Span) -> Expression:
    image = arguments[0].type
    lanes = 4 if isinstance(image, OpaqueType) and "3d" in image.name else 2
    return Builtin(name, tuple(arguments), VectorType(INT, lanes), span)


_UNARY_MATH = (
    "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 "
    "expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi "
    "tgamma trunc degrees radians sign normalize fast_normalize native_cos native_exp native_exp2 "
    "native_exp10 native_log native_log2 native_log10 native_recip native_rsqrt native_sin native_sqrt "
    "native_tan half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt "
    "half_sin half_sqrt half_tan"
)
_MORE_MATH = (
    "atan2 atan2pi copysign fdim fma fmax fmin fmod hypot mad maxmag minmag nextafter pow powr remainder "
    "native_divide native_powr half_divide half_powr mix smoothstep step cross"
)
_GENTYPE = "min max clamp add_sat hadd rhadd clz ctz mad_hi mad_sat mul_hi rotate sub_sat popcount bitselect"
_RELATIONAL = (
    "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isfinite isinf isnan "
    "isnormal isordered isunordered signbit"
)
_IMAGE_INTEGERS = (
    "get_image_width get_image_height get_image_depth get_image_channel_data_type get_image_channel_order "
    "get_image_num_mip_levels get_image_num_samples"
)


def _table() -> dict[str, Rule]:
    table: dict[str, Rule] = {}
    for names, rule in (
        (_UNARY_MATH, _math),
        (_MORE_MATH, _math),
        (_GENTYPE, _gentype),
        (_RELATIONAL, _relational),
        ("abs abs_diff", _unsigned),
        ("dot", _dot),
        ("distance length fast_distance fast_length", _reduction),
        ("ldexp pown rootn", _with_int),
        ("mul24 mad24", _int24),
        ("shuffle shuffle2", _shuffle),
        ("any all", _truth),
        (_IMAGE_INTEGERS, _fixed(INT)),
    ):
        table.update(dict.fromkeys(names.split(), rule))
    table["ilogb"] = _ilogb
    table["nan"] = _nan
    table["select"] = _select
    table["upsample"] = _upsample
    table["get_image_dim"] = _image_dim
    table["get_image_array_size"] = _fixed(SIZE_T)
    table["get_fence"] = _fixed(UINT)
    return table


PURE = _table()
"""Typing rules of the pure functions by name."""

_ONE_ARGUMENT = (
    "length fast_length clz ctz popcount any all abs ilogb nan isfinite isinf isnan isnormal signbit"
)
_THREE_ARGUMENTS = "fma mad clamp mad_hi mad_sat mad24 bitselect select mix smoothstep shuffle2"

ARITY = {
    **dict.fromkeys(_UNARY_MATH.split(), 1),
    **dict.fromkeys(_THREE_ARGUMENTS.split(), 3),
    **dict.fromkeys(_ONE_ARGUMENT.split(), 1),
}
"""Numbers of arguments that are not two."""

SECOND_RESULTS = {
    "fract": "floor",
    "frexp": "frexp_exponent",
    "modf": "trunc",
    "sincos": "cos",
    "lgamma_r": "lgamma_sign",
    "remquo": "remquo_quotient",
}
"""Functions with a pointer as last argument, and the function whose result is stored there."""


QUERIES = {it.value: it for it in WorkItemQuery}
"""The work-item functions by name."""

_UINT_QUERIES = frozenset(
    {
        WorkItemQuery.WORK_DIM,
        WorkItemQuery.SUB_GROUP_SIZE,
        WorkItemQuery.MAX_SUB_GROUP_SIZE,
        WorkItemQuery.NUM_SUB_GROUPS,
        WorkItemQuery.ENQUEUED_NUM_SUB_GROUPS,
        WorkItemQuery.SUB_GROUP_ID,
        WorkItemQuery.SUB_GROUP_LOCAL_ID,
    }
)
WITHOUT_DIMENSION = _UINT_QUERIES | {WorkItemQuery.GLOBAL_LINEAR_ID, WorkItemQuery.LOCAL_LINEAR_ID}
"""The work-item functions that take no argument."""


def query_type(query: WorkItemQuery) -> ScalarType:
    """Return the result type of a work-item function."""
    return UINT if query in _UINT_QUERIES else SIZE_T


def arity(name: str) -> int:
    """Return the number of arguments that a pure function takes."""
    if name in ARITY:
        return ARITY[name]
    return 1 if name.startswith("get_") else 2


def pure_call(name: str, arguments: list[Expression], span: Span) -> Expression | None:
    """Return the call of a pure function, `None` if the arguments do not fit it."""
    rule = PURE.get(name)
    if rule is None or len(arguments) != arity(name):
        return None
    if any(isinstance(it.type, PointerType) for it in arguments) and name != "get_fence":
        return None
    return rule(name, arguments, span)


def second_result(name: str, arguments: list[Expression], span: Span) -> tuple[Expression, Expression]:
    """Return (value, what the pointer gets) of a function of `SECOND_RESULTS`, without the pointer."""
    target = _floating(arguments)
    converted = tuple(convert(it, target) for it in arguments)
    value_name = {"sincos": "sin", "lgamma_r": "lgamma", "remquo": "remainder"}.get(name, name)
    other = SECOND_RESULTS[name]
    is_count = other in ("frexp_exponent", "lgamma_sign", "remquo_quotient")
    other_type = with_lanes(INT, lanes_of(target)) if is_count else target
    return Builtin(value_name, converted, target, span), Builtin(other, converted, other_type, span)


@dataclass(frozen=True, slots=True)
class Conversion:
    """`convert_T_sat_rte` or `as_T`."""

    type: Type
    is_bits: bool = False
    saturate: bool = False
    rounding: str | None = None


_CONVERSION = re.compile(r"(convert|as)_([a-z]+\d*)(_sat)?(?:_(rte|rtz|rtp|rtn))?$")


@lru_cache(maxsize=1024)
def parse_conversion(name: str) -> Conversion | None:
    """Return what a conversion function does, `None` for any other name."""
    if not name.startswith(("convert_", "as_")):
        return None
    match = _CONVERSION.match(name)
    if match is None or match[2] not in NAMED_TYPES:
        return None
    type_ = NAMED_TYPES[match[2]]
    if not isinstance(type_, ScalarType | VectorType):
        return None
    return Conversion(type_, match[1] == "as", match[3] is not None, match[4])
