"""Built-ins on bits and packed bytes, as the operations that they stand for: no engine has to know them.

Sources: OpenCL C Specification 3.0, 6.15.3 (with cl_khr_extended_bit_ops, cl_khr_integer_dot_product);
cl_amd_media_ops and cl_amd_media_ops2, whose texts define each function by C code.
"""

from __future__ import annotations

from collections.abc import Callable

from clmap_lsp.source.calls import EFFECTS
from clmap_lsp.source.conversions import convert
from clmap_lsp.source.ir import Expression
from clmap_lsp.source.lowering import Lowering
from clmap_lsp.source.span import Span
from clmap_lsp.source.terms import Term, dot, element, products, total
from clmap_lsp.source.typenames import signed_of, unsigned_of, with_lanes
from clmap_lsp.source.types import (
    CHAR,
    FLOAT,
    INT,
    UINT,
    ULONG,
    USHORT,
    ScalarType,
    Type,
    VectorType,
    element_of,
    lanes_of,
)

# --------------------------------------------------------------------------------------------------- bits


def _ones(count: Term) -> Term:
    """Return `count` ones from the lowest bit on, for 0 to all bits of the type."""
    width = element(count.value).bits
    return count.if_zero(0, count.like(-1) >> (count.like(width) - count))


def _bit_reverse(bits: int, base: Term) -> Term:
    step = bits // 2
    while step:
        mask = sum(1 << n for n in range(bits) if not n & step)
        base = base >> step & mask | (base & mask) << step
        step //= 2
    return base


def _bitfield_insert(bits: int, base: Term, insert: Term, offset: Term, count: Term) -> Term:
    mask = _ones(count) << offset
    return base & (mask ^ -1) | insert << offset & mask


def _bitfield_extract(bits: int, base: Term, offset: Term, count: Term) -> Term:
    return base >> offset & _ones(count)


def _bitfield_extract_signed(bits: int, base: Term, offset: Term, count: Term) -> Term:
    top = count.if_zero(0, count.like(1) << (count - 1))
    return (_bitfield_extract(bits, base, offset, count) ^ top) - top


_BITS: dict[str, tuple[int, Callable[..., Term], Callable[[Type], Type] | None]] = {
    "bit_reverse": (1, _bit_reverse, None),
    "bitfield_insert": (2, _bitfield_insert, None),
    "bitfield_extract_signed": (1, _bitfield_extract_signed, signed_of),
    "bitfield_extract_unsigned": (1, _bitfield_extract, unsigned_of),
}
"""How many arguments have the function's type (a bit field's offset and count follow), and its result."""


def _on_bits(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    typed, function, result = _BITS[name]
    type_ = arguments[0].type if arguments else None
    element = element_of(type_) if type_ is not None else None
    if len(arguments) != typed + (0 if name == "bit_reverse" else 2):
        return None
    if type_ is None or not isinstance(element, ScalarType) or not element.is_integer:
        return None
    # C computes with narrow scalars as with int; shifts are to bring in zeros.
    work = UINT if element.bits < 32 and isinstance(type_, ScalarType) else unsigned_of(type_)
    narrow = unsigned_of(type_)
    terms = [Term(convert(convert(it, narrow), work), span) for it in arguments[:typed]]
    terms += [Term(convert(it, work), span) for it in arguments[typed:]]
    found = function(element.bits, *(Term(low.pin(it.value), span) for it in terms))
    return found.to(type_ if result is None else result(type_)).value


# --------------------------------------------------------------------------------------------- dot products


def _packed_dot(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    accumulates = name.startswith("dot_acc_sat")
    if len(arguments) != 2 + accumulates:
        return None
    found: Expression | None
    if name == "dot_acc_sat":
        found = dot([low.pin(it) for it in arguments[:2]], span)
    else:
        signs, result = name.split("_")[-2], UINT if name.endswith("uint") else INT
        rows = []
        for value, sign in zip(arguments, signs, strict=False):
            word = Term(low.pin(convert(value, UINT)), span)
            lanes = [word.byte(n) for n in range(4)]
            rows.append([it.to(CHAR) for it in lanes] if sign == "s" else lanes)
        found = products(rows[0], rows[1], result).value
    if found is None or not accumulates:
        return found
    return Term(found, span).call("add_sat", Term(arguments[2], span)).value


_PACKED = ("ss_int", "su_int", "us_int", "uu_uint")
for _signs in _PACKED:
    EFFECTS[f"dot_4x8packed_{_signs}"] = EFFECTS[f"dot_acc_sat_4x8packed_{_signs}"] = _packed_dot
EFFECTS["dot_acc_sat"] = _packed_dot
EFFECTS.update(dict.fromkeys(_BITS, _on_bits))


# ------------------------------------------------------------------------------------------ AMD's media_ops


def _align(step: int, mask: int) -> Callable[..., Term]:
    def function(high: Term, low: Term, count: Term) -> Term:
        wide = with_lanes(ULONG, lanes_of(high.value.type))
        both = high.to(wide) << 32 | low.to(wide)
        return (both >> ((count & mask) * step).to(wide)).to(high.value.type)

    return function


def _lerp(a: Term, b: Term, rounds: Term) -> Term:
    return total([(a.byte(n) + b.byte(n) + (rounds >> 8 * n & 1) >> 1) << 8 * n for n in range(4)])


def _sad(a: Term, b: Term, c: Term) -> Term:
    return total([*(a.byte(n).call("abs_diff", b.byte(n)) for n in range(4)), c])


def _sad_high(a: Term, b: Term, c: Term) -> Term:
    return (_sad(a, b, a.like(0)) << 16) + c


def _masked_sad(a: Term, b: Term, c: Term) -> Term:
    parts = [b.byte(n).if_zero(0, a.byte(n).call("abs_diff", b.byte(n))) for n in range(4)]
    return total([*parts, c])


def _sad_of_halves(a: Term, b: Term, c: Term) -> Term:
    halves = [(a & 0xFFFF).call("abs_diff", b & 0xFFFF), (a >> 16).call("abs_diff", b >> 16)]
    return total([*halves, c])


def _sad_of_words(a: Term, b: Term, c: Term) -> Term:
    return a.call("abs_diff", b) + c


def _sad4(a: Term, b: Term, c: Term) -> Term:
    return total([*(_sad(a.lane(n), b.lane(n), c.like(0)) for n in range(4)), c])


def _four(one: Callable[..., Term]) -> Callable[..., Term]:
    """Four sums over bytes that move on by one, each added to 16 bits."""

    def function(a: Term, b: Term, c: Term) -> Term:
        narrow = b.value.type
        halves = with_lanes(USHORT, lanes_of(narrow))
        parts = []
        for n in range(4):
            added = (c >> 16 * n & 0xFFFF).to(narrow)
            parts.append(one((a >> 8 * n).to(narrow), b, added).to(halves).to(c.value.type) << 16 * n)
        return total(parts)

    return function


def _field(base: Term, offset: Term, width: Term) -> Term:
    """`amd_bfe`: the type of `base` says whether the field has a sign."""
    first, count = (it.to(base.value.type) & 31 for it in (offset, width))
    # Of a field that reaches over the top all bits above the offset are taken.
    up, down = base.like(32) - first - count, base.like(32) - count
    inside = (base << up) >> down
    sign = ((first + count) >> 5) & 1
    return count.if_zero(0, sign.if_zero(inside, base >> first))


def _field_mask(width: Term, offset: Term) -> Term:
    return ((width.like(1) << (width & 31)) - 1) << (offset & 31)


def _pack(a: Term) -> Term:
    return total([(a.lane(n).to(UINT) & 255) << 8 * n for n in range(4)])


def _unpack(number: int) -> Callable[..., Term]:
    return lambda a: a.byte(number).to(with_lanes(FLOAT, lanes_of(a.value.type)))


def _of_three(name: str) -> Callable[..., Term]:
    return lambda a, b, c: a.call(name, b.call(name, c))


def _median(a: Term, b: Term, c: Term) -> Term:
    return a.call("min", b).call("max", a.call("max", b).call("min", c))


_MEDIA: dict[str, tuple[str, Callable[..., Term]]] = {
    "amd_bitalign": ("uuu", _align(1, 31)),
    "amd_bytealign": ("uuu", _align(8, 3)),
    "amd_lerp": ("uuu", _lerp),
    "amd_sad": ("uuu", _sad),
    "amd_sadhi": ("uuu", _sad_high),
    "amd_msad": ("uuu", _masked_sad),
    "amd_sadw": ("uuu", _sad_of_halves),
    "amd_sadd": ("uuu", _sad_of_words),
    "amd_sad4": ("444", _sad4),
    "amd_qsad": ("lul", _four(_sad)),
    "amd_mqsad": ("lul", _four(_masked_sad)),
    "amd_bfe": ("nuu", _field),
    "amd_bfm": ("uu", _field_mask),
    "amd_pack": ("f", _pack),
    **{f"amd_unpack{n}": ("u", _unpack(n)) for n in range(4)},
    "amd_min3": ("nnn", _of_three("min")),
    "amd_max3": ("nnn", _of_three("max")),
    "amd_median3": ("nnn", _median),
}
"""Types of arguments: uint and ulong with the first one's lanes, uint4 (two, with a uint), n as the first."""


def _media(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    kinds, function = _MEDIA[name]
    if len(arguments) != len(kinds) or not all(
        isinstance(it.type, ScalarType | VectorType) for it in arguments
    ):
        return None
    lanes = lanes_of(arguments[0].type)
    targets: dict[str, Type] = {
        "u": with_lanes(UINT, lanes),
        "l": with_lanes(ULONG, lanes),
        "f": VectorType(FLOAT, 4),
        "n": arguments[0].type,
    }
    types = [targets[it] for it in kinds] if kinds != "444" else [VectorType(UINT, 4)] * 2 + [UINT]
    return function(
        *(Term(low.pin(convert(it, to)), span) for it, to in zip(arguments, types, strict=True))
    ).value


EFFECTS.update(dict.fromkeys(_MEDIA, _media))
