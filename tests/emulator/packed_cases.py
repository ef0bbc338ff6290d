"""Built-in functions on bits and packed bytes, with exact references in Python's integers.

Sources: OpenCL C Specification 3.0, 6.15.3; cl_khr_extended_bit_ops, cl_khr_integer_dot_product,
cl_amd_media_ops and cl_amd_media_ops2. No call depends on what a specification leaves open: fields lie
inside their word.
"""

from __future__ import annotations

from collections.abc import Callable

from builtin_cases import IntegerCase, hold, wrap

_OFFSET, _COUNT = "(uint)(z & (sizeof(x) * 4 - 1))", "(uint)((z >> 5) & (sizeof(x) * 4 - 1))"
_WORDS = "(uint)x, (uint)y, (uint)z"


def _low(value: int, bits: int = 32) -> int:
    return value & ((1 << bits) - 1)


def _field(z: int, b: int) -> tuple[int, int]:
    return z & (b // 2 - 1), (z >> 5) & (b // 2 - 1)


def _reverse(x: int, b: int) -> int:
    return int(f"{_low(x, b):0{b}b}"[::-1], 2)


def _insert(x: int, y: int, z: int, b: int) -> int:
    offset, count = _field(z, b)
    digits, inserted = f"{_low(x, b):0{b}b}"[::-1], f"{_low(y, b):0{b}b}"[::-1]
    return int((digits[:offset] + inserted[:count] + digits[offset + count :])[::-1], 2)


def _extract(x: int, offset: int, count: int, b: int) -> str:
    return f"{_low(x, b):0{b}b}"[::-1][offset : offset + count][::-1]


def _extract_signed(x: int, z: int, b: int) -> int:
    found = _extract(x, *_field(z, b), b)
    return int(found, 2) - (1 << len(found) if found[0] == "1" else 0) if found else 0


def _bytes(word: int, signed: bool = False, count: int = 4) -> list[int]:
    return [
        int.from_bytes(bytes([it]), "little", signed=signed)
        for it in _low(word, 8 * count).to_bytes(count, "little")
    ]


def _dot(x: int, y: int, signs: str) -> int:
    return sum(a * b for a, b in zip(_bytes(x, signs[0] == "s"), _bytes(y, signs[1] == "s"), strict=True))


def _sad(x: int, y: int) -> int:
    return sum(abs(a - b) for a, b in zip(_bytes(x), _bytes(y), strict=True))


def _masked_sad(x: int, y: int) -> int:
    return sum(abs(a - b) for a, b in zip(_bytes(x), _bytes(y), strict=True) if b)


def _halves(word: int) -> tuple[int, int]:
    return word & 0xFFFF, _low(word) >> 16


def _lerp(x: int, y: int, z: int) -> int:
    return int.from_bytes(
        bytes(a + b + (c & 1) >> 1 for a, b, c in zip(_bytes(x), _bytes(y), _bytes(z), strict=True)), "little"
    )


def _four(one: Callable[[int, int], int], x: int, y: int, z: int) -> int:
    sums = [(one(_low(_low(x, 64) >> 8 * n), y) + (z >> 16 * n & 0xFFFF)) & 0xFFFF for n in range(4)]
    return sum(it << 16 * n for n, it in enumerate(sums))


def _amd_field(x: int, y: int, z: int, signed: bool) -> int:
    offset, width = y & 31, z & 31
    value = wrap(x, 32, signed)
    if width == 0:
        return 0
    return value >> offset if offset + width >= 32 else wrap(value >> offset, width, signed)


def _bits() -> list[IntegerCase]:
    whole = "0u, (uint)(sizeof(x) * 8)"
    fields = f"{_OFFSET}, {_COUNT}"
    return [
        IntegerCase("bit_reverse", "bit_reverse(x)", lambda x, y, z, b, s: wrap(_reverse(x, b), b, s)),
        IntegerCase(
            "bitfield_insert",
            f"bitfield_insert(x, y, {fields})",
            lambda x, y, z, b, s: wrap(_insert(x, y, z, b), b, s),
        ),
        IntegerCase("bitfield_insert, all bits", f"bitfield_insert(x, y, {whole})", lambda x, y, z, b, s: y),
        IntegerCase(
            "bitfield_extract_unsigned",
            f"(T)bitfield_extract_unsigned(x, {fields})",
            lambda x, y, z, b, s: int(_extract(x, *_field(z, b), b) or "0", 2),
        ),
        IntegerCase(
            "bitfield_extract_unsigned, all bits",
            f"(T)bitfield_extract_unsigned(x, {whole})",
            lambda x, y, z, b, s: x,
        ),
        IntegerCase(
            "bitfield_extract_unsigned, of constants",
            "(T)bitfield_extract_unsigned(x, 1u, 4u)",
            lambda x, y, z, b, s: int(_extract(x, 1, 4, b), 2),
        ),
        IntegerCase(
            "bitfield_insert, of constants",
            "bitfield_insert(x, (T)5, 2u, 3u)",
            lambda x, y, z, b, s: wrap(x & ~28 | 20, b, s),
        ),
        IntegerCase(
            "bitfield_extract_signed",
            f"(T)bitfield_extract_signed(x, {fields})",
            lambda x, y, z, b, s: wrap(_extract_signed(x, z, b), b, s),
        ),
        IntegerCase(
            "bitfield_extract_signed of vectors",
            f"(T)bitfield_extract_signed((T4)(x, y, x, y), {fields}).y",
            lambda x, y, z, b, s: wrap(_extract_signed(y, z, b), b, s),
        ),
    ]


def _dots() -> list[IntegerCase]:
    cases = [
        IntegerCase(
            "dot of signed and unsigned bytes",
            "(T)dot(as_char4(x), as_uchar4(y))",
            lambda x, y, z, b, s: wrap(_dot(x, y, "su"), b, s),
            (32,),
        ),
        IntegerCase(
            "dot_acc_sat",
            "(T)dot_acc_sat(as_char4(x), as_char4(y), (int)z)",
            lambda x, y, z, b, s: wrap(hold(_dot(x, y, "ss") + wrap(z, 32, True), 32, True), b, s),
            (32,),
        ),
    ]
    for signs in ("ss", "su", "us", "uu"):
        result = "uint" if signs == "uu" else "int"
        name, is_signed = f"4x8packed_{signs}_{result}", signs != "uu"
        cases += [
            IntegerCase(
                f"dot_{name}",
                f"(T)dot_{name}((uint)x, (uint)y)",
                lambda x, y, z, b, s, signs=signs: wrap(_dot(x, y, signs), b, s),
                (32,),
            ),
            IntegerCase(
                f"dot_acc_sat_{name}",
                f"(T)dot_acc_sat_{name}((uint)x, (uint)y, ({result})z)",
                lambda x, y, z, b, s, signs=signs, is_signed=is_signed: wrap(
                    hold(_dot(x, y, signs) + wrap(z, 32, is_signed), 32, is_signed), b, s
                ),
                (32,),
            ),
        ]
    return cases


_MEDIA: tuple[tuple[str, str, Callable[[int, int, int], int]], ...] = (
    ("amd_bitalign", _WORDS, lambda x, y, z: (_low(x) << 32 | _low(y)) >> (z & 31)),
    ("amd_bytealign", _WORDS, lambda x, y, z: (_low(x) << 32 | _low(y)) >> 8 * (z & 3)),
    ("amd_lerp", _WORDS, _lerp),
    ("amd_sad", _WORDS, lambda x, y, z: _sad(x, y) + z),
    ("amd_sadhi", _WORDS, lambda x, y, z: (_sad(x, y) << 16) + z),
    ("amd_msad", _WORDS, lambda x, y, z: _masked_sad(x, y) + z),
    ("amd_sadd", _WORDS, lambda x, y, z: abs(_low(x) - _low(y)) + z),
    (
        "amd_sadw",
        _WORDS,
        lambda x, y, z: sum(abs(a - b) for a, b in zip(_halves(x), _halves(y), strict=True)) + z,
    ),
    ("amd_sad4", "(uint4)(x, y, z, 7), (uint4)(y, z, 5, x), (uint)z", lambda x, y, z: (
        _sad(x, y) + _sad(y, z) + _sad(z, 5) + _sad(7, x) + z
    )),
    ("amd_bfm", "(uint)x, (uint)y", lambda x, y, z: ((1 << (x & 31)) - 1) << (y & 31)),
    ("amd_pack", "(float4)(x & 255, y & 255, z & 255, 200.9f)", lambda x, y, z: (
        int.from_bytes(bytes([x & 255, y & 255, z & 255, 200]), "little")
    )),
    *((f"amd_unpack{n}", "(uint)x", lambda x, y, z, n=n: _bytes(x)[n]) for n in range(4)),
)  # fmt: skip


def _media() -> list[IntegerCase]:
    cases = [
        IntegerCase(
            name,
            f"(T){name}({arguments})",
            lambda x, y, z, b, s, reference=reference: wrap(reference(x, y, z), b, s),
            (32,),
        )
        for name, arguments, reference in _MEDIA
    ]
    for name, one in (("amd_qsad", _sad), ("amd_mqsad", _masked_sad)):
        cases.append(
            IntegerCase(
                name,
                f"(T){name}((ulong)x, (uint)y, (ulong)z)",
                lambda x, y, z, b, s, one=one: wrap(_four(one, x, y, z), b, s),
                (64,),
            )
        )
    return [
        *cases,
        IntegerCase(
            "amd_bfe",
            "amd_bfe(x, (uint)y, (uint)z)",
            lambda x, y, z, b, s: _amd_field(x, y, z, s),
            (32,),
        ),
        IntegerCase("amd_min3", "amd_min3(x, y, z)", lambda x, y, z, b, s: min(x, y, z), (32,)),
        IntegerCase("amd_max3", "amd_max3(x, y, z)", lambda x, y, z, b, s: max(x, y, z), (32,)),
        IntegerCase("amd_median3", "amd_median3(x, y, z)", lambda x, y, z, b, s: sorted((x, y, z))[1], (32,)),
    ]


PACKED = (*_bits(), *_dots(), *_media())
